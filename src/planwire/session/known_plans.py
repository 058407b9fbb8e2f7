"""The plans that a writer has read: it may replace those, and is shown any other plan first.

Without this, when two agents on one session each make a plan, the second silently wipes out the first. So `set_plan`
asks here. A plan is read by an answer that shows it, or by having it in the context; a newer version by another writer
must be read again. A reopened session has read what its predecessor was told, or what its own chat shows. A tool's
answer that brought only a comment showed no plan: another server on the session, under the same name, has read none.
"""

from collections.abc import Iterable

from planwire.chat.messages import Ordinary
from planwire.chat.stream import ChatStream
from planwire.model.plan import PlanId
from planwire.model.records import AGENT, TOOL, PlanRecord, SessionState


class KnownPlans:
    """The versions of plans that one session object has shown to its model, by the names of their messages."""

    def __init__(self, by: str, state: SessionState, chat: ChatStream) -> None:
        self._shown: dict[PlanId, str] = {}
        keeps_chat = any(isinstance(each, Ordinary) for each in chat.messages)
        told = _told_with_plans(state) if by == AGENT else 0
        for plan_id, record in state.living().items():
            if keeps_chat or told >= record.base:
                self._shown[plan_id] = record.message

    def shown(self, state: SessionState, plan_ids: Iterable[PlanId]) -> None:
        """Note that the model has seen the living ones of these plans."""
        living = state.living()
        self._shown |= {each: living[each].message for each in plan_ids if each in living}

    def has_read(self, record: PlanRecord) -> bool:
        return self._shown.get(record.state.plan.id) == record.message


def _told_with_plans(state: SessionState) -> int:
    """The last event up to which the agent was told of plans: with its chat, as a whole, or with a prompt."""
    tellings = (each.told for record in state.plans.values() for each in record.remarks if each.told)
    return max((min(state.told, state.placed), *(each.seq for each in tellings if each.way != TOOL)))
