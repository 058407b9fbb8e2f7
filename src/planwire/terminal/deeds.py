"""What a person does with a plan on the screen, as values: in words, for the revision that was shown, and as an event.

Whether it can be done is decided here as far as the screen knows it, with a sentence that says what to do instead; the
rest is for `planwire.steering.commands`, when it is written. What is done to single steps is in `step_deeds`.
"""

from collections.abc import Callable, Iterable
from typing import Final

from msgspec import Struct

from planwire.errors import PlanError
from planwire.model.events import APPROVED, CHANGES_REQUESTED, COMMENTED, Comment, Event
from planwire.model.fold import PlanRecord, SessionState
from planwire.model.plan import FilePlan, ItemsPlan, MarkdownPlan, PlanId
from planwire.model.steps import Step
from planwire.readmodel.plain_text import one_line
from planwire.steering import commands as steer
from planwire.terminal.plan_card import Card

__all__ = [
    "BACK",
    "CHANGE",
    "RUN",
    "VERDICTS",
    "WORD",
    "Deed",
    "check_changeable",
    "check_reviewable",
    "comment",
    "review",
]

#: What can be said of a plan, in the words of the buttons.
VERDICTS: Final = {APPROVED: "Approve", CHANGES_REQUESTED: "Ask for changes", COMMENTED: "Only comment"}


#: What a deed is: a change of steps (or a wish for one), a wish taken back, a word on the plan, steps to be run.
CHANGE: Final = "change"
BACK: Final = "back"
WORD: Final = "word"
RUN: Final = "run"


class Deed(Struct, frozen=True):
    """`make` gives the event for a state and a revision, or refuses. `instead_of` is a wish that this one takes the
    place of, `added` the text of a new step."""

    kind: str
    plan_id: PlanId
    words: str
    revision: int | None
    make: Callable[[SessionState, int | None], Event]
    instead_of: int | None = None
    added: str | None = None


# -- what can't be done


def check_changeable(card: Card) -> PlanRecord:
    """Refuse a change of steps that nobody but an editor can make."""
    record = check_reviewable(card)
    if card.uri is not None or isinstance(card.state.plan, FilePlan):
        raise PlanError("this plan is a file: e opens it in your editor, c says something about it")
    if not isinstance(card.state.plan, ItemsPlan | MarkdownPlan):
        kind = one_line(getattr(card.state.plan, "type", card.state.plan.kind))
        raise PlanError(f"a plan of kind {kind!r} has no steps to change: c says something about it, v reviews it")
    return record


def check_reviewable(card: Card) -> PlanRecord:
    """Refuse whatever is not in a journal, or was dismissed."""
    if card.record is None:
        raise PlanError("this plan is in no journal: nobody would hear of it")
    if card.record.removed:
        raise PlanError("this plan was dismissed: there is nothing to steer any more")
    return card.record


# -- words


def comment(card: Card, step: Step | None, text: str) -> Deed:
    """A word on a step, or on the plan. The steps of a file are not known to the journal: there it is quoted."""
    check_reviewable(card)
    if not text.strip():
        raise PlanError("a comment says something: write it, or leave with Esc")
    words = text.strip()
    if step is not None and (card.uri is not None or isinstance(card.state.plan, FilePlan)):
        return review(card, COMMENTED, f"“{one_line(step.content)}”: {words}")
    return _said(card, COMMENTED, [Comment(words, step.id if step else None)])


def review(card: Card, verdict: str, text: str, selected: Iterable[str] | None = None) -> Deed:
    """A verdict on the plan, with or without words; `selected` are the steps to run."""
    check_reviewable(card)
    if verdict == COMMENTED and not text.strip():
        raise PlanError("a comment says something: write it, or leave with Esc")
    steps = None if selected is None else tuple(selected)
    if steps is not None:
        check_changeable(card)
    return _said(card, verdict, [Comment(text.strip())] if text.strip() else [], steps)


def _said(card: Card, verdict: str, comments: list[Comment], selected: tuple[str, ...] | None = None) -> Deed:
    record = check_reviewable(card)
    texts = {step.id: one_line(step.content) for step in card.state.steps}
    words = [] if verdict == COMMENTED else [verdict.replace("_", " ")]
    words += [f"to run: {'; '.join(texts.get(step, step) for step in selected)}"] if selected else []
    words += [f"{texts.get(each.step, each.step)}: {each.text}" if each.step else each.text for each in comments]

    def make(state: SessionState, revision: int | None) -> Event:
        return steer.review(state, card.id, revision, verdict, comments, selected)

    return Deed(RUN if selected else WORD, card.id, " · ".join(words), record.revision, make)
