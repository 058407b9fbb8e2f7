"""The plans that a writer has read: it may replace those, and is shown any other one first.

Two agents on one session each make a plan, and the second would wipe out the first without a word. So `set_plan` asks
here. Reading is an answer that shows the plan, or having it in the context; a newer version by another writer is to be
read again. A session that is opened again has read what its predecessor was told, or what its own chat shows. A tool's
answer that brought a comment showed no plan: another server on the session, which has the same name, has read none.
"""

from collections.abc import Iterable

from planwire.chat.messages import Ordinary
from planwire.chat.stream import ChatStream
from planwire.model.plan import PlanId
from planwire.model.records import AGENT, TOOL, PlanRecord, SessionState

__all__ = ["KnownPlans"]


class KnownPlans:
    """The versions of plans that one session object has shown to its model."""

    def __init__(self, by: str, state: SessionState, chat: ChatStream) -> None:
        self._bases: dict[PlanId, int] = {}
        keeps_chat = any(isinstance(each, Ordinary) for each in chat.messages)
        told = _told_with_plans(state) if by == AGENT else 0
        for plan_id, record in state.living().items():
            if keeps_chat or told >= record.base:
                self._bases[plan_id] = record.base

    def shown(self, state: SessionState, plan_ids: Iterable[PlanId]) -> None:
        """The model has these plans before it, as far as they live."""
        living = state.living()
        self._bases |= {each: living[each].base for each in plan_ids if each in living}

    def renumbered(self, before: SessionState, after: SessionState) -> None:
        """The events got other numbers. A plan that was read, and that nobody changed meanwhile, is read."""
        for plan_id, now in after.living().items():
            known = before.plans.get(plan_id)
            if known is not None and self.has_read(known) and known.state.plan == now.state.plan:
                self._bases[plan_id] = now.base

    def has_read(self, record: PlanRecord) -> bool:
        return self._bases.get(record.state.plan.id) == record.base


def _told_with_plans(state: SessionState) -> int:
    """The last event up to which the agent was told of plans: with its chat, as a whole, or with a prompt."""
    tellings = (each.told for record in state.plans.values() for each in record.remarks if each.told)
    return max((min(state.told, state.placed), *(each.seq for each in tellings if each.way != TOOL)))
