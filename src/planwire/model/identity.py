"""Which step of a new list is which of the plan so far."""

from planwire.model.names import new_id
from planwire.model.plan import Plan
from planwire.model.steps import PlanState, track

__all__ = ["step_ids"]


def step_ids(plan: Plan, before: PlanState | None, suffix: str = "") -> tuple[str, ...]:
    """An id for each step of a plan, known or new."""
    known = set() if before is None else {each for owners in before.memory.owners.values() for each in owners}
    found = [step.id for step in track(plan, before).steps]
    return tuple(each if each in known or not suffix else new_id("s", int(each[1:]), suffix) for each in found)
