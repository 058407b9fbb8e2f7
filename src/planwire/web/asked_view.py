"""What a plan needs from people: the agent's question with what is new, and the buttons that answer it.

A button holds the whole act that it sends; the script adds the words typed beside it. A question that only the agent's
client can answer has no buttons: the page says where to answer.
"""

import json
from typing import Final

import msgspec

from planwire.readmodel.answers import answers, dispute_words, words_go
from planwire.readmodel.audience import audience
from planwire.readmodel.card import PendingCard, PlanCard, QuestionCard
from planwire.readmodel.compare import SAME, compare_cards
from planwire.readmodel.plain_text import counted
from planwire.readmodel.unseen import beginning, left_out, line_keys, lines_of, unseen_words
from planwire.steering.acts import ACTS
from planwire.steering.wanted import Wanted
from planwire.web.addresses import encode_id, plan_address
from planwire.web.difference import brief_difference, difference_view
from planwire.web.html import EMPTY, Html, el, joined, joined_keys, moment
from planwire.web.page_tree import Part, leaf
from planwire.web.prose import prose
from planwire.web.status_look import wording
from planwire.web.steps_view import tag_view

#: Equal rows around each change of a plan that waits for a verdict, on its page.
AROUND: Final = 2
LONGEST_WORDS: Final = 4_000
_UNDO_KEY: Final = el("kbd", ACTS["withdraw"].gestures[0].keys[0])


def asked_part(part_id: str, card: PlanCard, before: PlanCard | None) -> Part | None:
    """The question, or the dispute, as a part of its plan; None if there is none. `before` is the plan that people
    knew."""
    if not card.needs_you:
        return None
    own = f"{part_id}-asked"
    name = el("h3", _who_asks(card), id=f"{own}-name")
    new = None if card.is_file or card.question is None else _what_is_new(card, before, AROUND)
    return leaf(own, "section", name, _state_of_answer(card), new, class_="question", aria_labelledby=f"{own}-name")


def question_view(session: str, card: PlanCard, before: PlanCard | None) -> tuple[Html, int]:
    """The question in an inbox: short, with what is new, or the beginning of a plan that people have not seen; and how
    many lines of the plan are not among that."""
    name = el("p", el("b", _who_asks(card)), ": ", el("bdi", card.title), class_="asks")
    if card.question is None or before is None:
        begun = beginning(card)
        new, hidden = _beginning(begun.card, f"{encode_id(session)}-{encode_id(card.id)}-new"), begun.left_out
    else:
        compared = compare_cards(before, card)
        new = _what_changed(card, before, brief_difference(compared))
        pairs = compared.lines or compared.rows
        hidden = left_out(card, {each.key for each in pairs if each.kind != SAME})
    words = counted(len(hidden), "more line")
    whole = el("a", words, href=plan_address(session, card.id))
    more = el("p", whole, class_="left-out", data_lines=joined_keys(hidden)) if hidden else EMPTY
    return el("div", name, _state_of_answer(card), new, more, class_="question"), len(hidden)


def answer_part(part_id: str, session: str, card: PlanCard) -> Part | None:
    """The answers, as a part of a plan that stays in sight as long as the plan does; None if there are none."""
    own = f"{part_id}-answer"
    form = answer_form(own, session, card, el("p", _who_asks(card), class_="answer-name"))
    return Part(own, form) if form else None


def pending_part(part_id: str, card: PlanCard) -> Part | None:
    """A verdict on a plan that no agent asks about, as long as its author can undo it; None if there is none."""
    undo = el("button", "Undo", _UNDO_KEY, type="button", data_act="withdraw")
    if card.pending is None or answers(card):
        return None
    return leaf(f"{part_id}-pending", "div", _pending(card.pending, undo), class_="answers")


def _pending(pending: PendingCard, undo: Html) -> Html:
    """A pending verdict with the seconds that are left, which the script counts down, and the button to undo it. People
    who did not give it see only that it is pending: all of them get the same page."""
    seconds = f"{pending.delay / 1_000:g} s"
    left = el("span", seconds, class_="seconds", data_until=pending.until, data_delay=pending.delay)
    mine = el("span", f"Sending {pending.name} in ", left, class_="mine")
    theirs = el("span", f"{pending.words} · pending", class_="theirs")
    return el("span", mine, theirs, undo, class_="undoable", data_pending=pending.by, dir="auto")


def answer_form(own: str, session: str, card: PlanCard, name: Html = EMPTY, hidden: int = 0, where: str = "") -> Html:
    """The answers as a form with the id `own`; empty if there are none. `hidden` lines of the plan are not on the page:
    an approval says so, and the script counts those that the person has not seen. `where`, if the page has plans of
    several sessions, says which one it is of."""
    offered = answers(card)
    if not offered:
        return EMPTY
    buttons = [
        el(
            "button",
            el(
                "span",
                each.label,
                el("span", unseen_words(card, hidden), class_="count-unseen") if each.is_yes else None,
            ),
            type="button",
            data_send=json.dumps(msgspec.to_builtins(each.wanted)),  # ASCII: an id keeps every character
            data_bare=not each.takes_words,
            data_edits=each.takes_edit,
            class_="primary" if each.is_main else None,
            dir="auto",
        )
        for each in offered
    ]
    if card.pending:
        undo = json.dumps(msgspec.to_builtins(Wanted("withdraw")))
        button = el("button", "Undo", _UNDO_KEY, type="button", data_send=undo, data_bare=True)
        buttons.append(_pending(card.pending, button))
    label = "Words for the agent (optional)"
    words = el("textarea", rows=1, dir="auto", maxlength=LONGEST_WORDS, aria_label=label, placeholder=label)
    heard = words_go(card)
    return el(
        "form",
        name,
        words,
        el("div", *buttons, el("span", class_="pending-words"), class_="answers"),
        el("p", heard, class_="hint") if heard else None,
        id=own,
        class_="answer-form",
        aria_label=f"{_who_asks(card)}: {card.title}{where}",
        data_answer=plan_address(session, card.id),
        data_seen=card.revision,
        data_question=card.question.id if card.question else None,
    )


def _who_asks(card: PlanCard) -> str:
    if card.question is None:
        return "A decision is needed"
    return "An answer is on its way" if card.question.sent else card.question.words


def _state_of_answer(card: PlanCard) -> Html:
    question = card.question
    if question is None:
        return el("p", dispute_words(card), _waiting())
    asked = el("span", " Asked ", moment(question.at), ".", class_="origin")
    if question.sent:
        return el("p", f"{question.sent[:1].upper()}{question.sent[1:]}.", asked)
    if question.is_open:
        return el("p", "It will continue once it has an answer.", _waiting(), asked)
    where = f"It can only be answered in {card.client_name}{':' if question.options else '.'}"
    return el("div", el("p", where, asked), _offered(question))


def _waiting() -> Html:
    """A note that others decide, for people who may not. All roles get the same page: the style sheet says who sees
    it."""
    words = audience().waiting
    return el("span", f" {words}", class_="for-others") if words else EMPTY


def _offered(question: QuestionCard) -> Html:
    offered = [el("li", each.name, dir="auto") for each in question.options]
    return el("ul", *offered, class_="offered") if offered else EMPTY


def _what_is_new(card: PlanCard, before: PlanCard | None, around: int) -> Html:
    if before is None:
        words = "This is the first version." if card.is_first else "The version before was dismissed."
        return el("p", words, class_="nothing")
    return _what_changed(card, before, difference_view(before, card, around))


def _what_changed(card: PlanCard, before: PlanCard, changes: Html) -> Html:
    since = "the last review" if before.version == card.version else f"version {before.version}"
    name = el("summary", f"What changed since {since}")
    return el("details", name, changes, open=True)


def _beginning(card: PlanCard, part_id: str) -> Html:
    """The first steps of a plan, or the first lines of its text, or why it can't be read."""
    if card.problem:
        return el("p", card.problem, class_="problem", data_unread=True)
    if card.text:
        return el("div", prose(card, part_id), class_="beginning")
    if card.fields:
        return el("pre", card.fields, class_="beginning", data_lines=joined_keys(line_keys(lines_of(card))))
    keys = line_keys(lines_of(card))
    steps = [
        el("li", el("bdi", wording(row.text)), *(joined(" ", tag_view(tag)) for tag in row.tags), data_lines=key)
        for row, key in zip(card.rows, keys, strict=True)
    ]
    return el("ol", *steps, class_="beginning") if steps else EMPTY
