"""The events of a session: frozen values, one class per event.

A session numbers its events 1, 2, 3 … and the journal stores them as they are. Everything else is a view folded from
them (`fold`), so an event says what someone did, never what came of it.
"""

from typing import Final, TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from planwire.model.authors import authored
from planwire.model.plan import Fields, Plan, PlanId
from planwire.model.step_changes import StepChange

#: How a plan came into planwire: by its own tools (or a person, or a file), or by an agent's report over ACP or hooks.
TOOLS = "tools"
ACP = "acp"
HOOKS = "hooks"
APPROVED = "approved"
CHANGES_REQUESTED = "changes_requested"
COMMENTED = "commented"
DISMISSED = "dismissed"

#: The kinds of remarks. A request asks for changes to the plan in words; a suggestion spells them out.
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
    """A session, and the number of the last event that another session shares with it."""

    session: str
    seq: int


class SessionOpened(Struct, frozen=True, tag_field="event", tag="session_opened", omit_defaults=True):
    """A session begins, or more about it became known. `format` is the provider format of its chat messages. A session
    `forked` off another begins with that one's events. `remarked` counts the remarks of an imported chat: their names
    are taken. `host` is the machine that the session runs on, `user` the account, and `repository` the name that all
    clones of the repository share."""

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


class PersonEvent(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An event that a person may bring about. `way` is how it came: "" if by the person's own hand, signed in or at
    their own terminal; otherwise words (`below claude-code`, `by a script`) that every face and model is shown."""

    way: str = ""


class SessionForked(Struct, frozen=True, tag_field="event", tag="session_forked"):
    """Another session was forked off this one, at this one's event `seq`."""

    session: str
    seq: int


class PlanSet(PersonEvent, frozen=True, tag_field="event", tag="plan_set", omit_defaults=True):
    """A whole plan, new or in place of the one with its id. `summary` is the why in a sentence; `why` is the digest of
    what the agent thought and said right before it, which is stored beside the journal (`journal.thoughts`).

    `parent` is the step that the plan works for, `reader` the child whose model it belongs to; a version without them
    keeps the previous ones. `origin` is the stored message that brought the plan from another chat, with versions, ids
    and times.

    What a comparison of texts decides is decided once, by the writer (`model.decide`): `ids` has an id for each step,
    in order, `closes` says which remarks the plan closes and how, and `follows` which choices of steps stay about steps
    that their agent rephrased. It `rewords` if texts or steps differ from those before. `name` is that of its chat
    message, in whichever event, if the event's number could still change when it was written (`model.names`).
    """

    plan: Plan
    summary: str | None = None
    via: str = TOOLS
    mode: str = ""
    why: str = ""
    parent: StepRef | None = None
    reader: str = ""
    origin: Fields | None = None
    ids: tuple[str, ...] = ()
    closes: dict[str, str] = {}
    follows: dict[str, tuple[str, ...]] = {}
    rewords: bool = False
    name: str = ""


class PlanChanged(PersonEvent, frozen=True, tag_field="event", tag="plan_changed", omit_defaults=True):
    """A change to a plan instead of the whole plan again: a note, step changes, or both. The other fields are as in
    `PlanSet`."""

    plan_id: PlanId
    note: str | None = None
    changes: tuple[StepChange, ...] = ()
    why: str = ""
    origin: Fields | None = None
    closes: dict[str, str] = {}
    follows: dict[str, tuple[str, ...]] = {}
    rewords: bool = False
    name: str = ""


class FileSeen(Struct, frozen=True, tag_field="event", tag="file_seen", omit_defaults=True):
    """The text of a plan that is a file, where it was not known before. Whoever notices it first writes it. `ids`,
    `closes`, `follows` and `rewords` are as in `PlanSet`."""

    plan_id: PlanId
    text: str
    ids: tuple[str, ...] = ()
    closes: dict[str, str] = {}
    follows: dict[str, tuple[str, ...]] = {}
    rewords: bool = False
    name: str = ""


class PlanRemoved(PersonEvent, frozen=True, tag_field="event", tag="plan_removed", omit_defaults=True):
    """A plan is removed. Its history stays."""

    plan_id: PlanId
    origin: Fields | None = None
    name: str = ""


class Passage(Struct, frozen=True, omit_defaults=True):
    """A passage of a plan's text as a person saw it: its text, some of what stands before and after it, and which
    occurrence of the text it was, from 1 (`passages`)."""

    text: str
    before: str = ""
    after: str = ""
    occurrence: int = 1


class Comment(Struct, frozen=True, omit_defaults=True):
    """A person's words on a step, on a passage of the plan's text, or on the plan as a whole."""

    text: str
    step: str | None = None
    passage: Passage | None = None


class Choice(Struct, frozen=True, omit_defaults=True):
    """An answer that an agent offers to its question: its id, its name for people, and its kind (`allow_once`, …)."""

    id: str
    name: str
    kind: str = ""


class ReviewAsked(Struct, frozen=True, tag_field="event", tag="review_asked", omit_defaults=True):
    """The agent waits for a person's review of a plan. `options` are the answers that it offers, if it asks in its
    client. `question` is a unique name for the question, which an answer given elsewhere refers to.
    `takes_edit`: the person may approve another text than the agent's."""

    plan_id: PlanId
    options: tuple[Choice, ...] = ()
    question: str = ""
    takes_edit: bool = False


class PlanReviewed(PersonEvent, frozen=True, tag_field="event", tag="plan_reviewed", omit_defaults=True):
    """A person's verdict on a plan at a revision, and how it came (`via`).

    If it answers a `question` of the agent's, `answer` is the name of the chosen option, `option` its id and `kind` its
    kind. A `late` verdict came after the agent had another answer. `pending` is the number of the pending verdict that
    this one hands on.
    """

    plan_id: PlanId
    revision: int
    verdict: str
    answer: str | None = None
    via: str = ""
    question: str = ""
    option: str | None = None
    kind: str = ""
    late: bool = False
    pending: int = 0


class Remarked(PersonEvent, frozen=True, tag_field="event", tag="remarked", omit_defaults=True):
    """A person's remark on a plan, on a step of it, or on a `passage` of its text.

    `revision` is the revision that its author saw, `review` the number of the verdict that it came with. `steps` belong
    to a selection, `changes` to a suggestion. If it is `kept` in force, only a person ends it. `id` is its
    name within the session; one that was `carried` over from another chat keeps the one it had there.
    """

    plan_id: PlanId
    kind: str
    text: str = ""
    revision: int = 0
    step: str | None = None
    passage: Passage | None = None
    steps: tuple[str, ...] = ()
    changes: tuple[StepChange, ...] = ()
    review: int | None = None
    kept: bool = False
    id: str = ""
    carried: bool = False
    about: dict[str, str] = {}


class ReviewPending(PersonEvent, frozen=True, tag_field="event", tag="review_pending", omit_defaults=True):
    """A person's verdict on a plan that they can take back for `delay` milliseconds. Until it is handed on it changes
    nothing, and nobody is told of it.

    The `remarks` go with it, and `edit` is the plan as the person edited it. Whoever hands the verdict on writes them,
    and only then do they have numbers.
    """

    plan_id: PlanId
    delay: int
    verdict: PlanReviewed
    remarks: tuple[Remarked, ...] = ()
    edit: PlanSet | None = None


class ReviewUndone(PersonEvent, frozen=True, tag_field="event", tag="review_undone"):
    """A person takes a pending verdict back; `review` is the number of its event."""

    plan_id: PlanId
    review: int


class RemarkClosed(PersonEvent, frozen=True, tag_field="event", tag="remark_closed", omit_defaults=True):
    """A person ends a remark; `how` says in a word how, `text` why."""

    plan_id: PlanId
    remark: str
    how: str
    text: str = ""


class RemarkAnswered(PersonEvent, frozen=True, tag_field="event", tag="remark_answered"):
    """An answer to a remark, usually the agent's. It ends a comment on a step, but no other remark."""

    plan_id: PlanId
    remark: str
    text: str


class RemarkReopened(PersonEvent, frozen=True, tag_field="event", tag="remark_reopened"):
    """A person reopens a remark that had ended."""

    plan_id: PlanId
    remark: str


class PlanReopened(PersonEvent, frozen=True, tag_field="event", tag="plan_reopened"):
    """A person reopens a plan that was removed or had ended, with the remarks that had ended with it."""

    plan_id: PlanId
    name: str = ""


class Told(Struct, frozen=True, tag_field="event", tag="told", omit_defaults=True):
    """A reader is told what people said: `remarks` by their ids, and everything else after the event `since`, up to the
    event `upto`.

    `way` is a prompt, a tool's answer, the context, or the answer to a question of the agent's; `request` names that
    prompt, call or question. A telling that may still get lost is first `OFFERED`, then `TOLD`. One that is `REFUSED`
    sets everything back to the event `since`. `stale` are the steps, by remark, of which it says that they read
    differently now.
    """

    way: str
    upto: int
    since: int = 0
    remarks: tuple[str, ...] = ()
    request: str = ""
    stage: str = TOLD
    reader: str = "agent"
    stale: dict[str, tuple[str, ...]] = {}
    name: str = ""


class TellAsked(PersonEvent, frozen=True, tag_field="event", tag="tell_asked", omit_defaults=True):
    """A person wants the agent to hear remarks now. With `interrupt`, its turn may be cancelled for that."""

    interrupt: bool = False


class StopAsked(PersonEvent, frozen=True, tag_field="event", tag="stop_asked"):
    """A person wants the agent's turn to be cancelled."""


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
    """A message of the chat is pinned or unpinned: a compaction takes pinned messages last."""

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
    """A hole in the journal: how many changes were not recorded here, and why, in a few words. The changes before and
    after it were, so a later state is still right; only the states in between are not known."""

    count: int
    why: str

    @property
    def sentence(self) -> str:
        """The hole in words, for every face and the relay's own log."""
        if not self.count:
            return self.why
        changes = "1 change was" if self.count == 1 else f"{self.count:,} changes were"
        return f"{changes} not recorded: {self.why}"


class UnknownEvent(Struct, frozen=True, tag_field="event", tag="unknown"):
    """An event of a newer planwire, with a type or fields that this version does not know. It changes nothing here, and
    nothing of it is lost: `text` is all of it, as JSON. A team may run different versions of planwire."""

    type: str
    text: str

    @property
    def fields(self) -> Fields:
        """All its fields."""
        said: Fields = msgspec.json.decode(self.text)
        return said

    @property
    def sentence(self) -> str:
        """The event in words, for every face."""
        return f"an event of a newer planwire ({self.type})"


#: The events that this version of planwire knows. Their tags tell them apart.
KnownEvent: TypeAlias = (
    SessionOpened
    | SessionForked
    | PlanSet
    | PlanChanged
    | FileSeen
    | PlanRemoved
    | ReviewAsked
    | PlanReopened
    | PlanReviewed
    | ReviewPending
    | ReviewUndone
    | Remarked
    | RemarkClosed
    | RemarkAnswered
    | RemarkReopened
    | TellAsked
    | StopAsked
    | Told
    | TurnEnded
    | MessageAdded
    | MessagePinned
    | ContextCompacted
    | Gap
)
Event: TypeAlias = KnownEvent | UnknownEvent


class Recorded(Struct, frozen=True):
    """An event in its session's journal: its number, its time (Unix time in milliseconds), and its author."""

    session: str
    seq: int
    at: int
    by: str
    event: Event

    @property
    def author(self) -> str:
        """Its author with the way that it came."""
        return authored(self.by, self.event.way) if isinstance(self.event, PersonEvent) else self.by


def with_way(event: Event, way: str) -> Event:
    """The event with the way that it came, if it is an act of a person's that names none."""
    return replace(event, way=way) if way and isinstance(event, PersonEvent) and not event.way else event
