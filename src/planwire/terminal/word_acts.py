"""Acts with words, in the terminal: comments, reviews, the choice of steps, and remarks withdrawn or reopened.

Comments on steps and passages can be collected, to send them together with one review.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from planwire.errors import PlanError
from planwire.readmodel.card import PlanCard, StepRow
from planwire.readmodel.plain_text import counted, in_quotes, one_line
from planwire.readmodel.questions import AnswerOption
from planwire.readmodel.unseen import unseen_words
from planwire.steering.acts import ACTS
from planwire.steering.reviews import EDIT_LABEL, VERDICT_LABELS, to_run
from planwire.steering.target import check_length
from planwire.steering.wanted import Comment, Wanted
from planwire.terminal.commander import NOW, Commander, TextQuestion
from planwire.terminal.dialogs import ChoiceDialog, DialogAnswer, DialogChoice
from planwire.terminal.lines import Line
from planwire.terminal.plan_questions import EDIT_KEY
from planwire.terminal.pointed import Pointed
from planwire.terminal.rows import DRAFT, PLAN
from planwire.terminal.text_dialog import Typed

if TYPE_CHECKING:
    from planwire.terminal.session_screen import SessionScreen

#: Characters of a comment or a plan's title that a question about it repeats.
QUOTED: Final = 300
#: Collected comments that a question spells out.
SPELLED_OUT: Final = 6
_OPTIONAL: Final = "Comment (optional)"
_COLLECT: Final = "collect"
_EDIT: Final = "edit"
_APPROVED, _CHANGES, *_ = VERDICT_LABELS


class WordActs:
    """A person's acts with words on the screen of a session."""

    def __init__(self, screen: "SessionScreen", commander: Commander) -> None:
        self._screen = screen
        self._commander = commander

    def _drafts(self, card: PlanCard) -> tuple[Comment, ...]:
        return self._screen.app.reviews.of(self._screen.session, card.id)

    # -- words

    def comment(self, on: Pointed, wanted: Wanted) -> None:
        card, passage = on.card, None if on.whole or on.step else on.passage
        count = len(self._drafts(card))
        title = f"Comment on {named(card)}"
        about = []
        if on.step or passage:
            title = "Comment on this step" if on.step else "Comment on this passage"
            about.append(quoted(on.step) if on.step else _muted(in_quotes(one_line(passage.text if passage else ""))))
        if count:
            about.append(_muted(f"{_comments(count)} in your review of this plan so far"))
        answers = [send("Comment"), DialogAnswer(_COLLECT, "Add to review", key="Ctrl+R")]
        if count or card.waits_here:
            answers = [
                DialogAnswer(_COLLECT, "Add to review", "primary"),
                DialogAnswer("send", "Send now", key="Ctrl+S"),
            ]
        answers += _now(card)

        def collect(typed: Typed) -> bool:
            return self._collect(card, Comment(typed.text.strip(), wanted.target, passage), kept=typed.switched)

        question = TextQuestion(title, answers, about, keeps=True, others={_COLLECT: collect})
        self._commander.ask(card, replace(wanted, passage=passage), question)

    def _collect(self, card: PlanCard, comment: Comment, *, kept: bool) -> bool:
        """Keep a comment for the review of its plan. A review is kept in force as a whole."""
        try:
            if not comment.text:
                raise PlanError("The comment is empty.")
            check_length(comment.text + (comment.passage.text if comment.passage else ""))
        except PlanError as refusal:
            self._commander.refuse(refusal)
            return False
        self._screen.app.reviews.add(self._screen.session, card.id, comment, kept=kept)
        self._screen.panel.update_lines()
        count = len(self._drafts(card))
        self._commander.say(f"{_comments(count)} in your review, not sent yet: press v to send it.")
        return True

    def review(self, on: Pointed, wanted: Wanted) -> None:
        card, drafts = on.card, self._drafts(on.card)
        about = [_muted(words) for words in _asked(card)]
        about += [_muted(f"✎ {one_line(each.text, QUOTED)}") for each in drafts[:SPELLED_OUT]]
        about += [_muted(f"and {len(drafts) - SPELLED_OUT} more")] if len(drafts) > SPELLED_OUT else []
        count = f", with {_comments(len(drafts))}" if drafts else ""
        left = self._screen.panel.sheet.unseen(card)
        unseen = unseen_words(card, left)
        words = f"{counted(left, 'line')} of the plan never in sight: Esc, then PgDn, goes through them"
        about += [_muted(one_line(card.problem) if card.problem else words)] if unseen else []
        asked = card.question if card.question is not None and card.question.is_open else None
        options = {str(number): each for number, each in enumerate(asked.options if asked else (), start=1)}

        def chosen(said: str) -> None:
            if asked is not None and said == _EDIT:
                needed = replace(wanted, verdict=_APPROVED, question=asked.id, comments=drafts or None)
                title, answers = f"{EDIT_LABEL}: {named(card)}{count}", [send(f"{VERDICT_LABELS[_APPROVED]}{unseen}")]
                self._commander.ask(card, needed, TextQuestion(title, answers, about, card.text, argument="edited"))
                return
            if asked is not None and said in options:
                needed = replace(wanted, option=options[said].id, question=asked.id)
                option = options[said]
                title, label = in_quotes(one_line(option.name)), f"Send{unseen if option.verdict != _CHANGES else ''}"
            else:
                needed = replace(wanted, verdict=said)
                title = label = VERDICT_LABELS[said]
                label += unseen if said == _APPROVED else ""
            kept = self._screen.app.reviews.is_kept(self._screen.session, card.id)
            answers = [send(label), *_now(card)]
            title = f"{title}: {named(card)}{count}"
            question = TextQuestion(title, answers, about, placeholder=_OPTIONAL, keeps=True, kept=kept)
            self._commander.ask(card, replace(needed, comments=drafts or None), question)

        choices = [
            DialogChoice(verdict, label, label[0].lower(), unseen if verdict == _APPROVED else "")
            for verdict, label in VERDICT_LABELS.items()
        ]
        if options:
            edit = [DialogChoice(_EDIT, EDIT_LABEL, EDIT_KEY, unseen)] if asked and asked.takes_edit else []
            choices = [*(_answer(number, each, unseen) for number, each in options.items()), *edit, choices[-1]]
        self._choose(f"Review {named(card)}{count}", choices, about, chosen)

    def select(self, on: Pointed, wanted: Wanted) -> None:
        marks = self._screen.panel.marks_of(on.card.id) or {on.needed_step().id}
        chosen = to_run(on.card.record, marks) if on.card.record else ()
        steps = [row for row in on.card.rows if row.id in chosen]
        title = f"Tell the agent to run {len(steps)} step{'s' * (len(steps) > 1)}"
        if len(steps) < sum(row.is_open for row in on.card.rows):
            title += f", and no other{'s' * (len(steps) > 1)} for now"
        about = [quoted(row, "▸ ") for row in steps]
        question = TextQuestion(title, [send("Run")], about, placeholder=_OPTIONAL)
        self._commander.ask(on.card, replace(wanted, steps=chosen), question)

    def tell(self, on: Pointed, wanted: Wanted) -> None:
        shown = self._screen.app.sessions.get(self._screen.session)
        unheard = shown.unheard if shown else 0
        words = f"With {counted(unheard, 'remark')} that the agent has not heard."
        about = [_muted(words)] if unheard else []
        placeholder = "More words (optional)" if unheard else "What to tell it"
        question = TextQuestion("Tell the agent now", [send(ACTS["tell"].label)], about, placeholder=placeholder)
        self._commander.ask(on.card, wanted, question)

    # -- remarks

    def withdraw(self, on: Pointed, wanted: Wanted) -> None:
        if on.card.pending is not None and on.remark is None:
            self._commander.do(on.card.id, wanted)
            return
        drafts = on.drafts(self._drafts(on.card))
        found = {f"{DRAFT} {at}": f"Not sent yet: {one_line(each.text)}" for at, each in enumerate(drafts)}
        found |= on.open_remarks()
        if not found:
            raise PlanError("there is no open remark here")

        def withdraw(chosen: str) -> None:
            kind, _, number = chosen.partition(" ")
            if kind == DRAFT:
                self._screen.app.reviews.remove(self._screen.session, on.card.id, (drafts[int(number)],))
                self._screen.panel.update_lines()
                self._commander.say("Removed from your review.")
            else:
                self._commander.do(on.card.id, replace(wanted, target=chosen))

        self._one_of(on, "Withdraw which one?", found, withdraw)

    def reopen(self, on: Pointed, wanted: Wanted) -> None:
        card = on.card
        ended = bool(card.ended) and (not on.is_precise or (on.fold is not None and on.fold[2] == PLAN))
        found = {PLAN: f"The plan: {one_line(card.title)}"} if ended else {}
        if not (ended and on.fold is not None):
            found |= on.closed_remarks()
        if not found:
            raise PlanError("there is no closed remark here")

        def reopen(chosen: str) -> None:
            self._commander.do(card.id, replace(wanted, target=None if chosen == PLAN else chosen))

        self._one_of(on, "Reopen which one?", found, reopen)

    def _one_of(self, on: Pointed, title: str, found: dict[str, str], then: Callable[[str], None]) -> None:
        """Take the only one that a person can mean, or ask which."""
        if len(found) == 1 and (on.is_precise or on.fold is not None):
            then(next(iter(found)))
        else:
            self._choose(title, [DialogChoice(key, one_line(text)) for key, text in found.items()], [], then)

    def _choose(
        self, title: str, choices: Sequence[DialogChoice], about: Sequence[Line], then: Callable[[str], object]
    ) -> None:
        choose(self._screen, title, choices, about, then)


def choose(
    screen: "SessionScreen",
    title: str,
    choices: Sequence[DialogChoice],
    about: Sequence[Line],
    then: Callable[[str], object],
) -> None:
    """Have a person choose one of several things, and go on with it."""

    def chosen(value: str | None) -> None:
        if value is not None:
            then(value)

    screen.app.push_screen(ChoiceDialog(title, choices, about), chosen)


def send(label: str) -> DialogAnswer:
    """The answer that sends an act."""
    return DialogAnswer("send", label, "primary")


def named(card: PlanCard) -> str:
    """A plan in a question about it."""
    return in_quotes(one_line(card.title)[:QUOTED])


def quoted(row: StepRow, before: str = "") -> Line:
    """A step in a question about it."""
    return _muted(f"{before}{one_line(row.text)}")


def _now(card: PlanCard) -> list[DialogAnswer]:
    """The answer that has the agent hear the words now, if it can."""
    return [DialogAnswer(NOW, "Send and tell now", key="Ctrl+N")] if "tell" in card.acts else []


def _asked(card: PlanCard) -> Iterator[str]:
    """What a person should know about the agent's question before they answer."""
    if card.disputed is not None:
        yield "The agent goes on with what was approved before: what you say now counts."
    if card.question is not None and card.question.sent:
        yield one_line(card.question.sent)
    elif card.question is not None and not card.waits_here:
        where = one_line(card.client_name)
        yield f"The agent is waiting for an answer in {where}. It will see a review with the next prompt."


def _answer(number: str, option: AnswerOption, unseen: str) -> DialogChoice:
    """One of the agent's answers, by its number, and the verdict if that alone means this answer. One that may let the
    agent go on says how much of the plan was `unseen`."""
    key = number if len(number) == 1 else ""
    details = f"   {VERDICT_LABELS[option.verdict]}" if option.is_plain else ""
    return DialogChoice(number, one_line(option.name), key, details + (unseen if option.verdict != _CHANGES else ""))


def _muted(words: str) -> Line:
    return Line(((words, "muted"),))


def _comments(count: int) -> str:
    return counted(count, "comment")
