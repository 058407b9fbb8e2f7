"""Hidden messages that an author brings along: a plan from another stream becomes a plan of the session.

A change that can't be made to the plan here, and what is no change (a wish, a review), stays a message: it is shown as
it was, and changes nothing.
"""

import msgspec

from planwire.chat.messages import EventMessage, Ordinary, PlanMessage, Stored, write_message
from planwire.chat.render import message_steps
from planwire.chat.roles import PLAN_DELTA
from planwire.errors import PlanError
from planwire.model.changes import apply_changes
from planwire.model.events import Event, MessageAdded, PlanChanged, PlanRemoved, PlanSet, StepChange
from planwire.model.fold import PlanRecord, SessionState
from planwire.model.plan import Entry, FilePlan, ItemsPlan, MarkdownPlan, Plan

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
            if change := _change(message, state.plans[plan_id]):
                return change
    fields = write_message(message)
    if not named or not isinstance(message, Ordinary | EventMessage):
        del fields["message_id"]
    return MessageAdded(fields)


def _plan(message: PlanMessage) -> Plan:
    if message.plan.get("kind") == "file":
        return FilePlan(message.plan_id, message.content)
    steps = message_steps(message)
    if steps and (message.plan.get("kind") == "items" or not message.content):
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
