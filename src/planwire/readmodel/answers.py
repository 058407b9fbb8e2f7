"""The answers to offer for a plan that needs a person: each with the act that gives it.

A question has the agent's own options, in its order. If the agent goes on with something that a person rejected too
late, a person decides how it goes on. A plan that asks nothing, or is answered elsewhere, has no answers.
"""

from collections.abc import Iterable

from msgspec import Struct

from planwire.model.text import in_quotes
from planwire.readmodel.card import PlanCard
from planwire.steering.acts import ACTS
from planwire.steering.delivery import heard_with_answer
from planwire.steering.reviews import EDIT_LABEL, VERDICT_LABELS
from planwire.steering.wanted import Wanted

_YES, _NO, _ = VERDICT_LABELS


class Reply(Struct, frozen=True):
    """One answer to offer. `takes_words`: a person's words can go with it. `is_main`: a face may stress it.
    `takes_edit`: the plan's text goes with it, as the person edited it. `is_yes`: it may let the agent go on with the
    plan."""

    label: str
    wanted: Wanted
    takes_words: bool = True
    is_main: bool = False
    takes_edit: bool = False
    is_yes: bool = False


def answers(card: PlanCard) -> tuple[Reply, ...]:
    """The answers that people can give here."""
    if card.question is None:
        return _decisions(card) if card.disputed else ()
    if not card.question.is_open:
        return ()
    question = card.question.id or None
    if not card.question.is_review:
        edit = Reply(EDIT_LABEL, Wanted("review", verdict=_YES, question=question), takes_edit=True, is_yes=True)
        options = tuple(
            Reply(
                each.name,
                Wanted("review", option=each.id, question=question),
                is_main=each.is_plain and each.verdict == _YES,
                is_yes=each.verdict != _NO,
            )
            for each in card.question.options
        )
        return (*options, edit) if card.question.takes_edit else options
    return tuple(
        Reply(VERDICT_LABELS[each], Wanted("review", verdict=each, question=question), is_main=is_yes, is_yes=is_yes)
        for each, is_yes in ((_YES, True), (_NO, False))
    )


def _decisions(card: PlanCard) -> tuple[Reply, ...]:
    """What a person can do about an agent that goes on after a late rejection."""
    stop = (Reply(ACTS["stop"].label, Wanted("stop"), takes_words=False),) if "stop" in card.acts else ()
    label, now = ("Tell it now", True) if "tell" in card.acts else (VERDICT_LABELS[_NO], None)
    refuse = Reply(label, Wanted("review", verdict=_NO, now=now))
    return (*stop, refuse, Reply("Keep as it is", Wanted("review", verdict=_YES), takes_words=False, is_yes=True))


def words_go(card: PlanCard) -> str:
    """When the agent hears the words that go with an answer."""
    if card.question is not None and not card.question.is_review:
        return heard_with_answer(card.heard, card.reach)
    return "" if card.disputed and "tell" in card.acts else card.heard


def dispute_words(card: PlanCard) -> str:
    """The dispute about a plan, in a sentence; "" if there is none."""
    late, held = card.disputed, card.verdict
    if late is None:
        return ""
    goes_on = f"{in_quotes(held.answer or held.words)}, as {card.giver(held)} answered" if held else "the plan"
    who = card.giver(late)
    too_late = f"{who[:1].upper()}{who[1:]} answered {in_quotes(late.answer or late.words)}, too late."
    return f"The agent goes on with {goes_on}. {too_late}"


def asked_words(card: PlanCard) -> str:
    """What a plan needs from a person, in a few words for a notification; "" if it needs nothing."""
    if card.disputed:
        return f"{card.title}: decide how the agent goes on"
    return f"{card.title}: the agent waits for an answer" if card.question else ""


def asked_moments(cards: Iterable[PlanCard]) -> str:
    """The times when plans began to need a person, as one text. A new time is news; a missing one is not."""
    needs = (each.disputed or each.question for each in cards)
    return " ".join(str(each.at) for each in needs if each)
