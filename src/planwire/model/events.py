"""What can happen to a plan: frozen values, one class an event.

A session's events are numbered 1, 2, 3 … and stored as they are. Everything else is folded from them (`fold`), so an
event says what was done and by whom, never what came of it.
"""

from typing import TypeAlias

from msgspec import Struct

from planwire.model.plan import Fields, Plan, PlanId

__all__ = [
    "ACP",
    "APPROVED",
    "CHANGES_REQUESTED",
    "COMMENTED",
    "DISMISSED",
    "TOOLS",
    "AddStep",
    "Comment",
    "ContextCompacted",
    "Event",
    "MessageAdded",
    "MoveStep",
    "PlanChanged",
    "PlanRemoved",
    "PlanReviewed",
    "PlanSet",
    "Recorded",
    "RemoveStep",
    "ReviewAsked",
    "RewordStep",
    "SessionOpened",
    "SetPriority",
    "SetStatus",
    "StepChange",
    "TurnEnded",
    "WishWithdrawn",
]

#: How a plan was set: with planwire's own tools (or by a person, or from a file), or as an agent's report over ACP.
TOOLS = "tools"
ACP = "acp"

APPROVED = "approved"
CHANGES_REQUESTED = "changes_requested"
COMMENTED = "commented"
DISMISSED = "dismissed"


class SetStatus(Struct, frozen=True, tag_field="do", tag="status"):
    """A step's status changes."""

    step: str
    status: str


class RewordStep(Struct, frozen=True, tag_field="do", tag="reword"):
    """A step's text changes."""

    step: str
    content: str


class SetPriority(Struct, frozen=True, tag_field="do", tag="priority"):
    """A step's priority changes."""

    step: str
    priority: str


class AddStep(Struct, frozen=True, tag_field="do", tag="add", omit_defaults=True):
    """A new step, behind the one named; behind all others if none is named, before all others if it is ""."""

    content: str
    after: str | None = None
    priority: str = "medium"
    status: str = "pending"


class MoveStep(Struct, frozen=True, tag_field="do", tag="move"):
    """A step goes behind another one; "" is the beginning."""

    step: str
    after: str


class RemoveStep(Struct, frozen=True, tag_field="do", tag="remove"):
    """A step goes away."""

    step: str


StepChange: TypeAlias = SetStatus | RewordStep | SetPriority | AddStep | MoveStep | RemoveStep


class SessionOpened(Struct, frozen=True, tag_field="event", tag="session_opened", omit_defaults=True):
    """A session begins, or more is known of it. `format` is the provider format of its chat messages."""

    agent: str | None = None
    client: str | None = None
    cwd: str | None = None
    title: str | None = None
    format: str | None = None


class PlanSet(Struct, frozen=True, tag_field="event", tag="plan_set", omit_defaults=True):
    """A whole plan: it is new, or replaces the one with its id. `summary` is the why."""

    plan: Plan
    summary: str | None = None
    via: str = TOOLS
    mode: str = ""


class PlanChanged(Struct, frozen=True, tag_field="event", tag="plan_changed", omit_defaults=True):
    """A change to a plan instead of the plan again: a note, changes of steps, or both. `summary` is only in old rows:
    nothing writes it any more."""

    plan_id: PlanId
    note: str | None = None
    changes: tuple[StepChange, ...] = ()
    summary: str | None = None


class PlanRemoved(Struct, frozen=True, tag_field="event", tag="plan_removed"):
    """A plan is dismissed. Its history stays."""

    plan_id: PlanId


class Comment(Struct, frozen=True, omit_defaults=True):
    """What a reviewer says of a step, or of the plan if no step is named."""

    text: str
    step: str | None = None


class ReviewAsked(Struct, frozen=True, tag_field="event", tag="review_asked", omit_defaults=True):
    """The agent waits for a person's word on a plan. `options` are the answers that it offers, if it asks through its
    client: then one of them is given there."""

    plan_id: PlanId
    options: tuple[str, ...] = ()


class PlanReviewed(Struct, frozen=True, tag_field="event", tag="plan_reviewed", omit_defaults=True):
    """A person's word on a plan as it was at a revision. `selected` are the steps to run; None is all of them. `answer`
    is the option that was chosen, if the agent had offered some."""

    plan_id: PlanId
    revision: int
    verdict: str
    comments: tuple[Comment, ...] = ()
    selected: tuple[str, ...] | None = None
    answer: str | None = None


class WishWithdrawn(Struct, frozen=True, tag_field="event", tag="wish_withdrawn"):
    """A person takes back what they wished for an agent's own plan; `wish` is the number of the event that said it."""

    plan_id: PlanId
    wish: int


class TurnEnded(Struct, frozen=True, tag_field="event", tag="turn_ended"):
    """The agent stopped working: what is still in progress is stopped, not running."""

    stop_reason: str


class MessageAdded(Struct, frozen=True, tag_field="event", tag="message_added"):
    """A message of the chat, in the shape in which it is stored, hidden ones too."""

    message: Fields


class ContextCompacted(Struct, frozen=True, tag_field="event", tag="context_compacted", omit_defaults=True):
    """The context was compacted: the ids of the messages that the model is shown from here on, and those that were
    written for it (summaries, markers). What was left out stays in the journal."""

    kept: tuple[str, ...] = ()
    written: tuple[Fields, ...] = ()
    reason: str = ""


Event: TypeAlias = (
    SessionOpened
    | PlanSet
    | PlanChanged
    | PlanRemoved
    | ReviewAsked
    | PlanReviewed
    | WishWithdrawn
    | TurnEnded
    | MessageAdded
    | ContextCompacted
)


class Recorded(Struct, frozen=True):
    """An event in its session's journal: its number, when it happened (Unix time in milliseconds), and by whom."""

    session: str
    seq: int
    at: int
    by: str
    event: Event
