"""What people do to a plan, each tied to the revision that they saw.

These make the events, or refuse: a plan that moved on is never overwritten, and what can't be done to it is not written
down. Whether a change is made or is a wish depends on who owns the plan, and is decided in `fold`.
"""

from collections.abc import Iterable, Sequence

from planwire.errors import PlanError, UnknownStep
from planwire.model.changes import apply_changes
from planwire.model.events import (
    APPROVED,
    COMMENTED,
    AddStep,
    Comment,
    PlanChanged,
    PlanReviewed,
    RewordStep,
    StepChange,
    WishWithdrawn,
)
from planwire.model.fold import PlanRecord, SessionState, check_revision
from planwire.model.plan import PlanId

__all__ = ["change", "comment", "review", "select", "withdraw"]


def change(
    state: SessionState, plan_id: PlanId, revision: int | None, changes: Sequence[StepChange], note: str | None = None
) -> PlanChanged:
    """Changes of steps, a word on the plan, or both. A revision of None means whatever it is now."""
    record = _seen(state, plan_id, revision)
    if not changes and not (note or "").strip():
        raise PlanError("nothing is changed: tick, reword, add, move or remove a step, or say something")
    for each in changes:
        if isinstance(each, AddStep | RewordStep) and not each.content.strip():
            raise PlanError("a step says something: give it a text")
    apply_changes(record.state, changes)
    return PlanChanged(plan_id, note or None, tuple(changes))


def review(
    state: SessionState,
    plan_id: PlanId,
    revision: int | None,
    verdict: str,
    comments: Iterable[Comment] = (),
    selected: Iterable[str] | None = None,
) -> PlanReviewed:
    """A word on the plan as it is, with comments on it or its steps; `selected` are the steps to run, if not all."""
    record = _seen(state, plan_id, revision)
    comments, steps = tuple(comments), None if selected is None else tuple(selected)
    for each in comments:
        if not each.text.strip():
            raise PlanError("a comment says something: give it a text")
    _check_steps(record, [*(each.step for each in comments if each.step is not None), *(steps or ())])
    return PlanReviewed(plan_id, record.revision, verdict, comments, steps)


def comment(state: SessionState, plan_id: PlanId, revision: int | None, comments: Iterable[Comment]) -> PlanReviewed:
    """Comments without a verdict."""
    return review(state, plan_id, revision, COMMENTED, comments)


def select(state: SessionState, plan_id: PlanId, revision: int | None, steps: Sequence[str]) -> PlanReviewed:
    """These steps are to be run, and no others for now."""
    if not steps:
        raise PlanError("no step is selected: name those to run")
    return review(state, plan_id, revision, APPROVED, selected=dict.fromkeys(steps))


def withdraw(state: SessionState, plan_id: PlanId, wish: int) -> WishWithdrawn:
    """A wish is taken back; `wish` is the number of the event that said it."""
    record = _seen(state, plan_id, None)
    known = {each.seq for each in record.wishes}
    if wish not in known:
        those = ", ".join(map(str, sorted(known))) or "none"
        raise PlanError(f"there is no wish of event {wish} that is still open; the open ones are of events: {those}")
    return WishWithdrawn(plan_id, wish)


def _seen(state: SessionState, plan_id: PlanId, revision: int | None) -> PlanRecord:
    record = state.live().get(plan_id)
    if record is None:
        name = "there is no plan" if plan_id is None else f"there is no plan {plan_id!r}"
        raise PlanError(f"{name} any more: nothing was changed")
    check_revision(state, plan_id, revision)
    return record


def _check_steps(record: PlanRecord, steps: Iterable[str]) -> None:
    known = [step.id for step in record.state.steps]
    for step in steps:
        if step not in known:
            raise UnknownStep(f"the plan has no step {step!r}; its steps are: {', '.join(known) or 'none'}")
