"""Words on plans: comments, reviews, and the choice of steps to run. Each is an event with the revision that it is of.

Any plan takes words, also a file or a kind that planwire does not know. A comment outlives its step: on a step that is
gone it becomes a comment on the plan that quotes the step.
"""

from collections.abc import Iterable
from typing import Final

from planwire.errors import EmptyText, NothingChanges, PlanError, UnknownWord
from planwire.model.changes import place_of
from planwire.model.events import APPROVED, CHANGES_REQUESTED, COMMENTED, Comment, PlanReviewed
from planwire.model.fold import PlanRecord
from planwire.steering.commands import Decision, Target, refuse_unchangeable
from planwire.steering.wanted import Wanted
from planwire.steering.words import quoted

__all__ = ["VERDICTS", "VERDICT_LABELS", "comment", "review", "select"]

#: The verdicts that a person can give, and how each reads once it is given.
VERDICTS: Final = {APPROVED: "Approved", CHANGES_REQUESTED: "Changes requested", COMMENTED: "Comment added"}
#: What a person does with each verdict.
VERDICT_LABELS: Final = {APPROVED: "Approve", CHANGES_REQUESTED: "Request changes", COMMENTED: "Comment only"}


def comment(on: Target, wanted: Wanted) -> Decision:
    """Words on a step or on the plan, without a verdict."""
    return _say(on, COMMENTED, wanted)


def review(on: Target, wanted: Wanted) -> Decision:
    """A verdict on the plan, with words on it or on its steps."""
    if wanted.verdict not in VERDICTS:
        raise UnknownWord(f"There is no verdict {wanted.verdict!r}: choose one of {', '.join(VERDICTS)}.")
    return _say(on, wanted.verdict, wanted)


def select(on: Target, wanted: Wanted) -> Decision:
    """Have the agent run these steps, and no others for now. Finished steps are left out."""
    return _say(on, APPROVED, wanted, to_run(on.record, wanted.steps or ()))


def to_run(record: PlanRecord, steps: Iterable[str]) -> tuple[str, ...]:
    """The selected steps that are still open, in the order of the plan. Raises `PlanError` if there is none."""
    refuse_unchangeable(record)
    places = {place_of(record.state, step) for step in steps}
    if not places:
        raise PlanError("No step is selected: name the steps to run.")
    found = tuple(record.state.steps[place].id for place in sorted(places) if record.state.steps[place].is_open)
    if not found:
        selected = "selected steps are" if len(places) > 1 else "selected step is"
        raise NothingChanges(f"Nothing to run: the {selected} done or cancelled.")
    return found


def _say(on: Target, verdict: str, wanted: Wanted, steps: tuple[str, ...] | None = None) -> Decision:
    on_target = [Comment(wanted.text, wanted.target)] if wanted.text and wanted.text.strip() else []
    said = (*on_target, *(wanted.comments or ()))
    if (verdict == COMMENTED and not said) or not all(each.text.strip() for each in said):
        raise EmptyText("The comment is empty.")
    comments = tuple(_placed(on, each) for each in said)
    # An approval is of the plan as it is; the other words may come late, and are of the plan that the person saw.
    about = on.record if verdict == APPROVED else on.seen or on.record
    event = PlanReviewed(on.record.state.plan.id, about.revision, verdict, comments, steps)
    if _is_said(on.record, event, on.by):
        raise NothingChanges("Nothing changes: this was said already.")
    return Decision((event,), f"{_sentence(on, event, said)}. {_heard(on.record)}")


def _placed(on: Target, said: Comment) -> Comment:
    """A comment at its step. A step that is gone, or that only a file has, is quoted in a comment on the plan."""
    text = said.text.strip()
    if said.step is None or on.has(said.step):
        return Comment(text, said.step)
    texts = on.texts
    if said.step not in texts:
        place_of(on.file or on.record.state, said.step)
    return Comment(f"{quoted(texts[said.step])}: {text}")


def _sentence(on: Target, event: PlanReviewed, said: Iterable[Comment]) -> str:
    texts = on.texts
    if event.selected is not None:
        return f"To run: {', '.join(quoted(texts[step]) for step in event.selected)}"
    words = VERDICTS[event.verdict]
    steps = list(dict.fromkeys(each.step for each in said))
    count = f"{len(event.comments)} comment{'s' * (len(event.comments) > 1)}"
    if event.verdict != COMMENTED:
        return f"{words}, with {count}" if event.comments else words
    if len(steps) > 1:
        return f"{count} added"
    [step] = steps
    if step is None:
        return f"{words} to the plan"
    is_there = on.has(step) or on.file is not None
    return f"{words} to {quoted(texts[step])}" if is_there else f"{words} to the plan: {quoted(texts[step])} is gone"


def _heard(record: PlanRecord) -> str:
    """When the agent hears of it."""
    if record.asked is not None and not record.asked.options:
        return "The agent is waiting for it."
    return "The agent will see it with your next prompt."


def _is_said(record: PlanRecord, said: PlanReviewed, by: str) -> bool:
    """Whether a review repeats one of the same author. A verdict is news after another one, or after a new question."""
    is_comment = said.verdict == COMMENTED
    earlier = [each for each in record.reviews if (each.verdict == COMMENTED) == is_comment]
    if not is_comment:
        earlier = [] if record.asked else earlier[-1:]
    same = by, said.revision, said.verdict, said.comments, said.selected
    return any((each.by, each.revision, each.verdict, each.comments, each.selected) == same for each in earlier)
