"""The events of a session: frozen values, one class per event.

A session numbers its events 1, 2, 3 … and the journal stores them as they are. Everything else is a view folded from
them (`fold`), so an event says what someone did, never what came of it.
"""

from typing import TypeAlias

from msgspec import Struct, field

from planwire.model.plan import MEDIUM, Fields, Plan, PlanId
from planwire.model.statuses import DEFAULT_STATUS

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
    "SuggestionWithdrawn",
    "TurnEnded",
]

#: The way of a plan into planwire: its own tools (or a person, or a file), or an agent's report over ACP.
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
    """A new step, behind the step `after`; behind all others if that is None, before all others if it is ""."""

    content: str
    after: str | None = None
    priority: str = MEDIUM
    status: str = DEFAULT_STATUS


class MoveStep(Struct, frozen=True, tag_field="do", tag="move"):
    """A step goes behind another one; "" is the beginning."""

    step: str
    after: str


class RemoveStep(Struct, frozen=True, tag_field="do", tag="remove"):
    """A step goes away."""

    step: str


StepChange: TypeAlias = SetStatus | RewordStep | SetPriority | AddStep | MoveStep | RemoveStep


class SessionOpened(Struct, frozen=True, tag_field="event", tag="session_opened", omit_defaults=True):
    """A session begins, or more about it became known. `format` is the provider format of its chat messages."""

    agent: str | None = None
    client: str | None = None
    cwd: str | None = None
    title: str | None = None
    format: str | None = None


class PlanSet(Struct, frozen=True, tag_field="event", tag="plan_set", omit_defaults=True):
    """A whole plan, new or in place of the one with its id. `summary` is the why."""

    plan: Plan
    summary: str | None = None
    via: str = TOOLS
    mode: str = ""


class PlanChanged(Struct, frozen=True, tag_field="event", tag="plan_changed", omit_defaults=True):
    """A change to a plan instead of the plan again: a note, changes of steps, or both."""

    plan_id: PlanId
    note: str | None = None
    changes: tuple[StepChange, ...] = ()


class PlanRemoved(Struct, frozen=True, tag_field="event", tag="plan_removed"):
    """A plan goes away. Its history stays."""

    plan_id: PlanId


class Comment(Struct, frozen=True, omit_defaults=True):
    """A reviewer's words on a step, or on the plan if `step` is None."""

    text: str
    step: str | None = None


class ReviewAsked(Struct, frozen=True, tag_field="event", tag="review_asked", omit_defaults=True):
    """The agent waits for a person's review of a plan. `options` are the answers that it offers in its client, if
    it asks there: then the answer comes from there too."""

    plan_id: PlanId
    options: tuple[str, ...] = ()


class PlanReviewed(Struct, frozen=True, tag_field="event", tag="plan_reviewed", omit_defaults=True):
    """A person's review of a plan at a revision. `selected` are the steps to run; None is all of them. `answer` is the
    chosen option, if the agent offered some."""

    plan_id: PlanId
    revision: int
    verdict: str
    comments: tuple[Comment, ...] = ()
    selected: tuple[str, ...] | None = None
    answer: str | None = None


class SuggestionWithdrawn(Struct, frozen=True, tag_field="event", tag="wish_withdrawn"):
    """A person withdraws a suggestion for an agent's own plan; `suggestion` is the number of its event."""

    plan_id: PlanId
    suggestion: int = field(name="wish")


class TurnEnded(Struct, frozen=True, tag_field="event", tag="turn_ended"):
    """The agent stopped working: steps still in progress have stopped, too."""

    stop_reason: str


class MessageAdded(Struct, frozen=True, tag_field="event", tag="message_added"):
    """A message of the chat in its stored shape, hidden ones too."""

    message: Fields


class ContextCompacted(Struct, frozen=True, tag_field="event", tag="context_compacted", omit_defaults=True):
    """A compaction of the context: the ids of the messages that the model keeps, and those that the compaction wrote
    (summaries, markers). The others stay in the journal."""

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
    | SuggestionWithdrawn
    | TurnEnded
    | MessageAdded
    | ContextCompacted
)


class Recorded(Struct, frozen=True):
    """An event in its session's journal: its number, its time (Unix time in milliseconds), and its author."""

    session: str
    seq: int
    at: int
    by: str
    event: Event
