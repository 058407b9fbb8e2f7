"""Children: plans that work for a step of another plan of their session.

Progress rolls up: a step shows how far the plans below it are. Nothing else of a child changes its parent, whose own
agent says when a step is done.
"""

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from planwire.model.events import StepRef
from planwire.model.plan import PlanId
from planwire.model.records import PlanRecord, SessionState
from planwire.model.steps import Progress, Step

__all__ = ["Children", "children_of", "is_finished", "is_within", "parent_step", "rolled_up"]

#: Plans may work for each other in a circle: nobody follows it further than this.
DEEPEST = 16

#: The plans that work for each step that has any, in the order in which they came.
Children: TypeAlias = Mapping[StepRef, list[PlanRecord]]


def children_of(state: SessionState) -> Children:
    """The plans of a session that work for a step which is there, by that step."""
    found: dict[StepRef, list[PlanRecord]] = {}
    for record in state.live().values():
        if record.parent and record.parent.plan_id != record.state.plan.id and parent_step(state, record.parent):
            found.setdefault(record.parent, []).append(record)
    return found


def parent_step(state: SessionState, parent: StepRef | None) -> tuple[PlanRecord, Step] | None:
    """The plan and the step that a plan works for, as long as both are there."""
    lead = state.plans.get(parent.plan_id) if parent else None
    if lead is None or lead.removed or parent is None:
        return None
    return next(((lead, step) for step in lead.state.steps if step.id == parent.step), None)


def is_finished(record: PlanRecord) -> bool:
    """Whether a plan has nothing left to do."""
    steps = record.state.steps
    return bool(steps) and not any(step.is_open for step in steps)


def is_within(state: SessionState, plan_id: PlanId, ancestor: PlanId) -> bool:
    """Whether a plan is another one, or works for a step of it, or of one that does."""
    for _ in range(DEEPEST):
        if plan_id == ancestor:
            return True
        record = state.plans.get(plan_id)
        if record is None or record.parent is None:
            return False
        plan_id = record.parent.plan_id
    return False


def rolled_up(children: Children, parent: StepRef) -> Progress | None:
    """How far the plans below a step are, all of them together; None if there are none."""
    below = [*_below(children, parent, DEEPEST)]
    return Progress.of(step for record in below for step in record.state.steps) if below else None


def _below(children: Children, parent: StepRef, deepest: int) -> Iterator[PlanRecord]:
    for record in children.get(parent, ()) if deepest else ():
        yield record
        for step in record.state.steps:
            yield from _below(children, StepRef(record.state.plan.id, step.id), deepest - 1)
