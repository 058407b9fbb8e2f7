"""Commands of people: each checks an act against the plan that the person saw, and returns the event to append.

A command raises instead of returning an event where nothing may be written: `StaleRevision` if the plan moved on since
the revision that the person saw, another `PlanError` if the plan can't do it, and `NothingChanges` if everything asked
for is already so. The last one matters most for agents: every event that touches a plan makes a revision, and a
revision that changes nothing would still turn away the agent's next write. Faces say it as an answer, not as a failure.

Nothing changes if

- each change of a step leaves the plan as it is (`effective_changes`), or repeats one that is open as a suggestion on
  an agent's plan; a note always says something new;
- the person already gave the same verdict, comments and selection on this revision, gave no other verdict since, and
  the agent did not ask again.

`fold` decides by the owner of the plan whether a change is made or becomes a suggestion.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec.structs import replace

from planwire.errors import NothingChanges, PlanError
from planwire.model.changes import effective_changes, place_of
from planwire.model.events import (
    APPROVED,
    COMMENTED,
    AddStep,
    Comment,
    PlanChanged,
    PlanReviewed,
    RewordStep,
    SetStatus,
    StepChange,
    SuggestionWithdrawn,
)
from planwire.model.fold import AGENT, PlanRecord, SessionState, check_revision
from planwire.model.plan import PlanId
from planwire.model.statuses import canonical

__all__ = ["USER", "change", "comment", "review", "select", "withdraw"]

#: The author of a person's events, where nobody gave a name.
USER: Final = "user"


def change(
    state: SessionState, plan_id: PlanId, revision: int | None, changes: Sequence[StepChange], note: str | None = None
) -> PlanChanged:
    """Change steps, add a note, or both. A revision of None accepts the plan as it is now."""
    record = _seen(state, plan_id, revision)
    note = (note or "").strip() or None
    if not changes and not note:
        raise PlanError("nothing to save: change a step or add a comment")
    for each in changes:
        if isinstance(each, AddStep | RewordStep) and not each.content.strip():
            raise PlanError("the step is empty: give it a text")
    news = _unsuggested(record, effective_changes(record.state, changes))
    if not news and not note:
        raise NothingChanges("nothing changes: the plan already says so, or it is wished for already")
    return PlanChanged(plan_id, note, news)


def review(
    state: SessionState,
    plan_id: PlanId,
    revision: int | None,
    verdict: str,
    comments: Iterable[Comment] = (),
    selected: Iterable[str] | None = None,
    by: str = USER,
) -> PlanReviewed:
    """Give a verdict on the plan as it is, with comments on it or its steps; `selected` are the steps to run."""
    record = _seen(state, plan_id, revision)
    comments, steps = tuple(comments), None if selected is None else tuple(selected)
    if steps == ():
        raise PlanError("no step is selected: name those to run")
    if (verdict == COMMENTED and not comments) or not all(each.text.strip() for each in comments):
        raise PlanError("the comment is empty: give it a text")
    for step in (*(each.step for each in comments if each.step is not None), *(steps or ())):
        place_of(record.state, step)
    said = PlanReviewed(plan_id, record.revision, verdict, comments, steps)
    if _is_said(record, said, by):
        raise NothingChanges("nothing changes: this was said already")
    return said


def comment(
    state: SessionState, plan_id: PlanId, revision: int | None, comments: Iterable[Comment], by: str = USER
) -> PlanReviewed:
    """Comment without a verdict."""
    return review(state, plan_id, revision, COMMENTED, comments, by=by)


def select(
    state: SessionState, plan_id: PlanId, revision: int | None, steps: Sequence[str], by: str = USER
) -> PlanReviewed:
    """Have the agent run these steps, and no others for now."""
    return review(state, plan_id, revision, APPROVED, selected=dict.fromkeys(steps), by=by)


def withdraw(state: SessionState, plan_id: PlanId, suggestion: int) -> SuggestionWithdrawn:
    """Take a suggestion back; `suggestion` is the number of its event."""
    record = _seen(state, plan_id, None)
    known = {each.seq for each in record.suggestions}
    if suggestion not in known:
        those = ", ".join(map(str, sorted(known))) or "none"
        raise PlanError(
            f"there is no wish of event {suggestion} that is still open; the open ones are of events: {those}"
        )
    return SuggestionWithdrawn(plan_id, suggestion)


def _seen(state: SessionState, plan_id: PlanId, revision: int | None) -> PlanRecord:
    record = state.live().get(plan_id)
    if record is None:
        name = "there is no plan" if plan_id is None else f"there is no plan {plan_id!r}"
        raise PlanError(f"{name} any more: nothing was changed")
    check_revision(state, plan_id, revision)
    return record


def _unsuggested(record: PlanRecord, changes: tuple[StepChange, ...]) -> tuple[StepChange, ...]:
    """The changes without those that an open suggestion on an agent's plan contains."""
    if record.owner != AGENT:
        return changes
    suggested = [_with_canonical_status(each) for suggestion in record.suggestions for each in suggestion.changes]
    return tuple(each for each in changes if _with_canonical_status(each) not in suggested)


def _with_canonical_status(change: StepChange) -> StepChange:
    """A change with the table's word for its status, so that spellings compare as equal."""
    return replace(change, status=canonical(change.status)) if isinstance(change, SetStatus | AddStep) else change


def _is_said(record: PlanRecord, said: PlanReviewed, by: str) -> bool:
    """Whether a review repeats one of the same author. A verdict is news after another one, or after a new question."""
    is_comment = said.verdict == COMMENTED
    earlier = [each for each in record.reviews if (each.verdict == COMMENTED) == is_comment]
    if not is_comment:
        earlier = [] if record.asked else earlier[-1:]
    same = by, said.revision, said.verdict, said.comments, said.selected
    return any((each.by, each.revision, each.verdict, each.comments, each.selected) == same for each in earlier)
