"""A child: a sub-agent's own plan and chat in the session of the agent that it works for.

The plan is bound to a step. The child's model gets the words of that step, its own plan, and what people say about it,
and nothing else of the session.
"""

from msgspec import Struct
from msgspec.structs import replace

from planwire.chat.messages import EventMessage, Stored, write_message
from planwire.chat.narrate import parent_fields
from planwire.chat.roles import PARENT, SYSTEM_NOTICE
from planwire.errors import Refused, ToolError, UnknownStep
from planwire.model.children import is_within, parent_step
from planwire.model.events import Event, MessageAdded, PlanSet, StepRef
from planwire.model.records import SessionState
from planwire.session.live_history import LiveHistory


class ChildPlan(Struct, frozen=True):
    """The plan of a child, which is also its name as a reader, and the step that it works for."""

    plan_id: str
    parent: StepRef

    def own(self, event: Event) -> Event:
        """An event as the child writes it: its plans are for its own model, and its own plan names its parent."""
        if not isinstance(event, PlanSet):
            return event
        parent = self.parent if event.plan.id == self.plan_id else event.parent
        return replace(event, parent=parent, reader=self.plan_id)

    def check(self, state: SessionState, plan_id: str, tool: str) -> None:
        """Refuse a change to a plan that is neither the child's nor below it."""
        if not is_within(state, plan_id, self.plan_id) and plan_id in state.live():
            problem = f"{tool}: the plan {plan_id!r} is not yours to change: you work for a step of it, or beside it"
            raise ToolError("not_yours", problem, f"leave plan_id out: your plan is {self.plan_id!r}")


def child_plan(state: SessionState, own: str, step: str, plan_id: str | None) -> ChildPlan:
    """The plan of a child that works for a step of the plan `own`, or of the plan named by `plan#step`."""
    lead, _, name = step.rpartition("#")
    parent = StepRef(lead or own, name)
    if parent_step(state, parent) is None:
        record = state.live().get(parent.plan_id)
        steps = ", ".join(each.id for each in record.state.steps) if record else "there is no such plan"
        raise UnknownStep(
            f"the plan {parent.plan_id!r} has no step {name!r} that a child could work for: {steps or 'it has none'}"
        )
    child = ChildPlan(plan_id or f"{parent.plan_id}/{name}", parent)
    known = state.live().get(child.plan_id)
    if known and known.parent != parent:
        raise Refused(f"the plan {child.plan_id!r} does not work for {step}: give the child another plan_id")
    return child


def introduce_child(view: LiveHistory, child: ChildPlan) -> None:
    """Begin the child's chat with the words of the step that it works for, and repeat them when the step changes."""

    def prepare(state: SessionState) -> list[Event]:
        told = next((each for each in reversed(view.stream.messages) if is_parent_line(each)), None)
        line = parent_line(state, child)
        has_words = isinstance(told, EventMessage) and _words(line) in (None, _words(told))
        return [] if has_words else [MessageAdded(_unnamed(line), child.plan_id)]

    if prepare(view.state):
        view.write(prepare)


def is_parent_line(message: Stored) -> bool:
    """Whether a message tells a child which step it works for."""
    return isinstance(message, EventMessage) and message.source == PARENT


def parent_line(state: SessionState, child: ChildPlan) -> EventMessage:
    """The message with the words of the step that a child works for."""
    payload = {"your_plan": child.plan_id, "you_work_for": child.parent.step, **parent_fields(state, child.parent)}
    event = {"subkind": SYSTEM_NOTICE, "source": PARENT, "payload": payload}
    return EventMessage("parent", "", event)


def _words(line: EventMessage) -> object:
    """The step as the message tells it; None if it was gone."""
    payload = line.event.get("payload")
    return payload.get("parent") if isinstance(payload, dict) else None


def _unnamed(message: EventMessage) -> dict[str, object]:
    fields = write_message(message)
    del fields["message_id"]
    return fields
