"""Children: plans that work for a step of another plan in their session.

Progress rolls up: a step shows how far along the plans below it are. A child changes nothing else in its parent; the
parent's own agent says when a step is done.
"""

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from planwire.model.events import StepRef
from planwire.model.plan import PlanId
from planwire.model.records import PlanRecord, SessionState
from planwire.model.steps import Progress, Step

#: The deepest nesting that is followed, since plans may work for each other in a circle.
DEEPEST = 16

#: The plans that work for a step, by step, in order of arrival.
Children: TypeAlias = Mapping[StepRef, list[PlanRecord]]


def children_of(state: SessionState) -> Children:
    """The plans of a session that work for an existing step, by that step."""
    found: dict[StepRef, list[PlanRecord]] = {}
    live = state.live()
    leads = {record.parent.plan_id for record in live.values() if record.parent} & live.keys()
    there = {StepRef(lead, step.id) for lead in leads for step in live[lead].state.steps}
    for record in live.values():
        if record.parent in there and record.parent.plan_id != record.state.plan.id:
            found.setdefault(record.parent, []).append(record)
    return found


def parent_step(state: SessionState, parent: StepRef | None) -> tuple[PlanRecord, Step] | None:
    """The plan and the step that a plan works for, or None once either is gone."""
    lead = state.plans.get(parent.plan_id) if parent else None
    if lead is None or lead.removed or parent is None:
        return None
    return next(((lead, step) for step in lead.state.steps if step.id == parent.step), None)


def is_finished(record: PlanRecord) -> bool:
    """Whether a plan has nothing left to do."""
    steps = record.state.steps
    return bool(steps) and not any(step.is_open for step in steps)


def folds_away(state: SessionState, record: PlanRecord) -> bool:
    """Whether a finished child plan is told only by the step it worked for: it has nothing left to do, no remark on it
    is open, and it waits for no person. A child's only plan is not folded away for that child."""
    is_own = record.reader == record.state.plan.id
    return (
        not is_own
        and is_finished(record)
        and not record.open_remarks
        and not record.needs_person
        and parent_step(state, record.parent) is not None
    )


def is_within(state: SessionState, plan_id: PlanId, ancestor: PlanId) -> bool:
    """Whether a plan is `ancestor` itself, or works for a step of it, directly or through other plans."""
    for _ in range(DEEPEST):
        if plan_id == ancestor:
            return True
        record = state.plans.get(plan_id)
        if record is None or record.parent is None:
            return False
        plan_id = record.parent.plan_id
    return False


def progress_below(children: Children, record: PlanRecord) -> dict[str, Progress]:
    """The progress of the plans below each open step of a plan. A finished step needs none: nothing is left there."""
    steps = (step.id for step in record.state.steps if step.is_open) if children else ()
    found = ((step, rolled_up(children, StepRef(record.state.plan.id, step))) for step in steps)
    return {step: progress for step, progress in found if progress is not None}


def rolled_up(children: Children, parent: StepRef) -> Progress | None:
    """The combined progress of all plans below a step; None if there are none."""
    below = [*_below(children, parent, DEEPEST)]
    return Progress.of(step for record in below for step in record.state.steps) if below else None


def _below(children: Children, parent: StepRef, deepest: int) -> Iterator[PlanRecord]:
    for record in children.get(parent, ()) if deepest else ():
        yield record
        for step in record.state.steps:
            yield from _below(children, StepRef(record.state.plan.id, step.id), deepest - 1)
