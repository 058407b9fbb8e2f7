"""The events of a session: frozen values, one class per event.

A session numbers its events 1, 2, 3 … and the journal stores them as they are. Everything else is a view folded from
them (`fold`), so an event says what someone did, never what came of it.
"""

from typing import Final, TypeAlias

from msgspec import Struct, field

from planwire.model.plan import Fields, Plan, PlanId
from planwire.model.step_changes import StepChange

__all__ = [
    "ACP",
    "APPROVED",
    "CHANGES_REQUESTED",
    "COMMENT",
    "COMMENTED",
    "DISCONNECTED",
    "DISMISSED",
    "HOOKS",
    "OFFERED",
    "REFUSED",
    "REQUEST",
    "SELECTION",
    "SUGGESTION",
    "TOLD",
    "TOOLS",
    "Choice",
    "Comment",
    "ContextCompacted",
    "Event",
    "Gap",
    "MessageAdded",
    "MessagePinned",
    "Origin",
    "PlanChanged",
    "PlanRemoved",
    "PlanReopened",
    "PlanReviewed",
    "PlanSet",
    "Recorded",
    "RemarkAnswered",
    "RemarkClosed",
    "RemarkReopened",
    "Remarked",
    "ReviewAsked",
    "SessionForked",
    "SessionOpened",
    "StepRef",
    "StopAsked",
    "SuggestionWithdrawn",
    "TellAsked",
    "Told",
    "TurnEnded",
]

#: The way of a plan into planwire: its own tools (or a person, or a file), or an agent's report over ACP or by hooks.
TOOLS = "tools"
ACP = "acp"
HOOKS = "hooks"
APPROVED = "approved"
CHANGES_REQUESTED = "changes_requested"
COMMENTED = "commented"
DISMISSED = "dismissed"

#: The kinds of remarks. A request asks for changes of the plan, in words; a suggestion spells them out.
COMMENT = "comment"
REQUEST = "request"
SELECTION = "selection"
SUGGESTION = "suggestion"

#: The stages of a telling: on its way to a reader, with the reader, or refused by it.
OFFERED = "offered"
TOLD = "told"
REFUSED = "refused"


class StepRef(Struct, frozen=True):
    """A step of one of the session's plans."""

    plan_id: PlanId
    step: str


class Origin(Struct, frozen=True):
    """A session, and the number of the event up to which another one shares its past."""

    session: str
    seq: int


class SessionOpened(Struct, frozen=True, tag_field="event", tag="session_opened", omit_defaults=True):
    """A session begins, or more about it became known. `format` is the provider format of its chat messages. A session
    that was `forked` off another one begins with that one's events. `remarked` counts the remarks of a chat that came
    here: their names are taken. `host` is the machine that it runs on, `user` whose account, and `repository` what is
    worked on there, by the name that every clone of it has."""

    agent: str | None = None
    client: str | None = None
    cwd: str | None = None
    title: str | None = None
    format: str | None = None
    forked: Origin | None = None
    remarked: int | None = None
    host: str | None = None
    user: str | None = None
    repository: str | None = None


class SessionForked(Struct, frozen=True, tag_field="event", tag="session_forked"):
    """Another session was forked off this one, at this one's event `seq`."""

    session: str
    seq: int


class PlanSet(Struct, frozen=True, tag_field="event", tag="plan_set", omit_defaults=True):
    """A whole plan, new or in place of the one with its id. `summary` is the why in a sentence; `why` is the digest of
    what the agent thought and said right before it, which lies beside the journal (`journal.thoughts`).

    `parent` is the step that the plan works for, `reader` the child whose model it belongs to; a version without them
    keeps those before. `origin` is the stored message that brought the plan from another chat, with versions, ids and
    times. A plan that `replaces` another keeps only ids of nearly the same texts; older journals follow their own rule.
    """

    plan: Plan
    summary: str | None = None
    via: str = TOOLS
    mode: str = ""
    why: str = ""
    parent: StepRef | None = None
    reader: str = ""
    origin: Fields | None = None
    replaces: bool = False


class PlanChanged(Struct, frozen=True, tag_field="event", tag="plan_changed", omit_defaults=True):
    """A change to a plan instead of the plan again: a note, changes of steps, or both. `why` and `origin` are those of
    `PlanSet`."""

    plan_id: PlanId
    note: str | None = None
    changes: tuple[StepChange, ...] = ()
    why: str = ""
    origin: Fields | None = None


class PlanRemoved(Struct, frozen=True, tag_field="event", tag="plan_removed", omit_defaults=True):
    """A plan goes away. Its history stays."""

    plan_id: PlanId
    origin: Fields | None = None


class Comment(Struct, frozen=True, omit_defaults=True):
    """A person's words on a step, on a passage of the plan's text (`quote`), or on the plan as a whole."""

    text: str
    step: str | None = None
    quote: str | None = None


class Choice(Struct, frozen=True, omit_defaults=True):
    """An answer that an agent offers to its question: its id, its name for people, and its kind (`allow_once`, …)."""

    id: str
    name: str
    kind: str = ""


class ReviewAsked(Struct, frozen=True, tag_field="event", tag="review_asked", omit_defaults=True):
    """The agent waits for a person's review of a plan. `options` are the answers that it offers, if it asks in its
    client; older journals have their names only. `question` is a name for the question that no other has: a person who
    answers it elsewhere says so by that name. `takes_edit`: they may approve another text than the agent's."""

    plan_id: PlanId
    options: tuple[Choice | str, ...] = ()
    question: str = ""
    takes_edit: bool = False


class PlanReviewed(Struct, frozen=True, tag_field="event", tag="plan_reviewed", omit_defaults=True):
    """A person's verdict on a plan at a revision, and how it came (`via`).

    If it answers a `question` of the agent's, `answer` is the chosen option by its name, `option` its id and `kind` its
    kind. A `late` one came after the agent had another answer. Older journals have no `via`, but `comments` and
    `selected` steps: those are remarks now.
    """

    plan_id: PlanId
    revision: int
    verdict: str
    comments: tuple[Comment, ...] = ()
    selected: tuple[str, ...] | None = None
    answer: str | None = None
    via: str = ""
    question: str = ""
    option: str | None = None
    kind: str = ""
    late: bool = False


class Remarked(Struct, frozen=True, tag_field="event", tag="remarked", omit_defaults=True):
    """A remark of a person's on a plan, on a step of it, or on a passage of its text (`quote`).

    `revision` is the plan that its author saw, `review` the number of the verdict that it came with. `steps` are those
    of a selection, `changes` those of a suggestion. One that is `kept` in force only a person ends. `name` is an older
    name, from another chat.
    """

    plan_id: PlanId
    kind: str
    text: str = ""
    revision: int = 0
    step: str | None = None
    quote: str | None = None
    steps: tuple[str, ...] = ()
    changes: tuple[StepChange, ...] = ()
    review: int | None = None
    kept: bool = False
    name: str = ""


class RemarkClosed(Struct, frozen=True, tag_field="event", tag="remark_closed", omit_defaults=True):
    """A person ends a remark; `how` is a word for it, `text` why."""

    plan_id: PlanId
    remark: str
    how: str
    text: str = ""


class RemarkAnswered(Struct, frozen=True, tag_field="event", tag="remark_answered"):
    """An answer to a remark, mostly the agent's. It ends a comment on a step, and nothing else."""

    plan_id: PlanId
    remark: str
    text: str


class RemarkReopened(Struct, frozen=True, tag_field="event", tag="remark_reopened"):
    """A person reopens a remark that had ended."""

    plan_id: PlanId
    remark: str


class PlanReopened(Struct, frozen=True, tag_field="event", tag="plan_reopened"):
    """A person reopens a plan that was removed or had ended, with the remarks that had ended with it."""

    plan_id: PlanId


class Told(Struct, frozen=True, tag_field="event", tag="told", omit_defaults=True):
    """A reader is told what people said: `remarks` by their ids, and everything else after the event `since`, up to the
    event `upto`.

    `way` is a prompt, a tool's answer, the context, or the answer to a question of the agent's, `request` names that
    very one. A telling is `OFFERED` where it may still be lost on the way, and then `TOLD`; one that is `REFUSED` sets
    everything back to the event `since`.
    """

    way: str
    upto: int
    since: int = 0
    remarks: tuple[str, ...] = ()
    request: str = ""
    stage: str = TOLD
    reader: str = "agent"


class TellAsked(Struct, frozen=True, tag_field="event", tag="tell_asked", omit_defaults=True):
    """A person wants the agent to hear now what people said. With `interrupt`, a turn may be cancelled for it."""

    interrupt: bool = False


class StopAsked(Struct, frozen=True, tag_field="event", tag="stop_asked"):
    """A person wants the agent's turn to be cancelled."""


class SuggestionWithdrawn(Struct, frozen=True, tag_field="event", tag="wish_withdrawn"):
    """A suggestion of an older journal is withdrawn; `suggestion` is the number of its event."""

    plan_id: PlanId
    suggestion: int = field(name="wish")


#: The stop reason of a turn whose agent, client or relay went away in the middle of it.
DISCONNECTED: Final = "disconnected"


class TurnEnded(Struct, frozen=True, tag_field="event", tag="turn_ended"):
    """The agent stopped working: steps still in progress have stopped, too."""

    stop_reason: str


class MessageAdded(Struct, frozen=True, tag_field="event", tag="message_added", omit_defaults=True):
    """A message of the chat in its stored shape, hidden ones too. `reader` is the child whose chat it is."""

    message: Fields
    reader: str = ""


class MessagePinned(Struct, frozen=True, tag_field="event", tag="message_pinned", omit_defaults=True):
    """A message of the chat is pinned, or let go again: a compaction takes it last of all."""

    message_id: str
    is_pinned: bool = True
    reader: str = ""


class ContextCompacted(Struct, frozen=True, tag_field="event", tag="context_compacted", omit_defaults=True):
    """A compaction of the context: the ids of the messages that the model keeps, and those that the compaction wrote
    (summaries, markers). The others stay in the journal."""

    kept: tuple[str, ...] = ()
    written: tuple[Fields, ...] = ()
    reason: str = ""
    reader: str = ""


class Gap(Struct, frozen=True, tag_field="event", tag="gap"):
    """A hole in the journal: so many changes were not recorded here, and why, in a few words. Those before and after it
    were. A state that follows is right all the same; what it went through is not known."""

    count: int
    why: str

    @property
    def sentence(self) -> str:
        """The hole in words, as every face and the relay's own log say it."""
        if not self.count:
            return self.why
        changes = "1 change was" if self.count == 1 else f"{self.count:,} changes were"
        return f"{changes} not recorded: {self.why}"


Event: TypeAlias = (
    SessionOpened
    | SessionForked
    | PlanSet
    | PlanChanged
    | PlanRemoved
    | ReviewAsked
    | PlanReopened
    | PlanReviewed
    | Remarked
    | RemarkClosed
    | RemarkAnswered
    | RemarkReopened
    | SuggestionWithdrawn
    | TellAsked
    | StopAsked
    | Told
    | TurnEnded
    | MessageAdded
    | MessagePinned
    | ContextCompacted
    | Gap
)


class Recorded(Struct, frozen=True):
    """An event in its session's journal: its number, its time (Unix time in milliseconds), and its author."""

    session: str
    seq: int
    at: int
    by: str
    event: Event
