"""One plan before and after a change, with the difference."""

from msgspec import Struct

from planwire.model import diff
from planwire.model.diff import Diff
from planwire.model.plan import PlanId
from planwire.model.steps import PlanState


class PlanChange(Struct, frozen=True):
    """One plan before and after: `before` is None for a new plan, `after` is None for a removed one."""

    id: PlanId
    before: PlanState | None
    after: PlanState | None
    diff: Diff


def plan_change(plan_id: PlanId, before: PlanState | None, after: PlanState | None) -> PlanChange:
    """One plan before and after, with the difference."""
    if after is not None:
        return PlanChange(plan_id, before, after, diff.compare(before, after))
    gone = tuple(diff.Removed(step, at) for at, step in enumerate(before.steps if before else ()))
    return PlanChange(plan_id, before, None, Diff(removed=gone))
