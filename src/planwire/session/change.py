"""A change of a session, as listeners get it: the states around it, its events, and the plans that differ."""

from functools import cached_property

from msgspec import Struct

from planwire.model.events import Recorded
from planwire.model.plan import PlanId
from planwire.model.plan_change import PlanChange, plan_change
from planwire.model.records import SessionState
from planwire.model.steps import PlanState


class SessionChange(Struct, frozen=True, dict=True):
    """A change of a session: `events` took it from `before` to `state`. `plans` are the plans that differ, each with
    its difference."""

    before: SessionState
    state: SessionState
    events: tuple[Recorded, ...]

    @cached_property
    def plans(self) -> tuple[PlanChange, ...]:
        before, after = _shown(self.before), _shown(self.state)
        ids = dict.fromkeys((*before, *after))
        return tuple(
            plan_change(each, before.get(each), after.get(each)) for each in ids if before.get(each) != after.get(each)
        )


def _shown(state: SessionState) -> dict[PlanId, PlanState]:
    return {plan_id: record.state for plan_id, record in state.live().items()}
