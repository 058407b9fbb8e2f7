"""Hidden messages from another stream: a plan in them becomes a plan of the session.

A change that does not fit the plan here, a suggestion and a review stay messages: the model sees them as they were, and
they change nothing.
"""

import msgspec

from planwire.chat.messages import EventMessage, Ordinary, PlanMessage, Stored, write_message
from planwire.chat.render import message_steps
from planwire.chat.roles import PLAN_DELTA
from planwire.errors import PlanError
from planwire.model.changes import apply_changes
from planwire.model.events import Event, MessageAdded, PlanChanged, PlanRemoved, PlanSet, StepChange
from planwire.model.fold import PlanRecord, SessionState
from planwire.model.kinds import kind_named
from planwire.model.plan import Entry, FilePlan, ItemsPlan, MarkdownPlan, Plan

__all__ = ["adopted"]


def adopted(message: Stored, state: SessionState, *, named: bool) -> Event:
    """The event that brings a message into the session, with the id of the message if its author `named` it."""
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
            if change := _change(message, state.plans[plan_id]):
                return change
    fields = write_message(message)
    if not named or not isinstance(message, Ordinary | EventMessage):
        del fields["message_id"]
    return MessageAdded(fields)


def _plan(message: PlanMessage) -> Plan:
    kind = kind_named(message.plan.get("kind"))
    if kind and kind.plan is FilePlan:
        return FilePlan(message.plan_id, message.content)
    steps = message_steps(message)
    if steps and ((kind and kind.has_priorities) or not message.content):
        entries = (Entry(step.content, step.priority, step.status) for step in steps)
        return ItemsPlan(message.plan_id, tuple(entries))
    return MarkdownPlan(message.plan_id, message.content)


def _change(message: EventMessage, record: PlanRecord) -> PlanChanged | None:
    if message.payload.get("wish"):
        return None
    try:
        changes = msgspec.convert(message.payload.get("changes") or [], tuple[StepChange, ...])
        apply_changes(record.state, changes)
    except (msgspec.ValidationError, PlanError):
        return None
    note = message.content or None
    return PlanChanged(message.plan_id, note, changes) if note or changes else None
