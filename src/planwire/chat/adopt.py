"""Hidden messages that an author brings along: a plan from another stream becomes a plan of the session."""

import msgspec

from planwire.chat.messages import EventMessage, Ordinary, PlanMessage, Stored, write_message
from planwire.chat.roles import PLAN_DELTA
from planwire.events import Event, MessageAdded, PlanChanged, PlanRemoved, PlanSet, StepChange
from planwire.fold import SessionState
from planwire.plan import Entry, ItemsPlan, MarkdownPlan, Plan
from planwire.steps import Step

__all__ = ["adopted"]


def adopted(message: Stored, state: SessionState, *, named: bool) -> Event:
    """The event that brings a message into the session; with its own id if it was `named` by its author."""
    match message:
        case PlanMessage():
            summary = message.plan.get("summary")
            mode = message.plan.get("mode")
            return PlanSet(
                _plan(message),
                summary if isinstance(summary, str) else None,
                mode=mode if isinstance(mode, str) else "",
            )
        case EventMessage(subkind=kind, plan_id=plan_id) if kind == PLAN_DELTA and plan_id in state.live():
            if message.payload.get("removed") is True:
                return PlanRemoved(plan_id)
            changes = _changes(message)
            if message.content or changes:
                return PlanChanged(plan_id, message.content or None, changes)
    fields = write_message(message)
    if not named or not isinstance(message, Ordinary | EventMessage):
        del fields["message_id"]
    return MessageAdded(fields)


def _plan(message: PlanMessage) -> Plan:
    if message.plan.get("kind") == "items":
        try:
            steps = msgspec.convert(message.plan.get("steps") or [], list[Step])
        except msgspec.ValidationError:
            steps = []
        if steps:
            entries = (Entry(step.content, step.priority, step.status) for step in steps)
            return ItemsPlan(message.plan_id, tuple(entries))
    return MarkdownPlan(message.plan_id, message.content)


def _changes(message: EventMessage) -> tuple[StepChange, ...]:
    try:
        return msgspec.convert(message.payload.get("changes") or [], tuple[StepChange, ...])
    except msgspec.ValidationError:
        return ()
