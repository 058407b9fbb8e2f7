"""The state of a session as values: its plans, and everything said about them. `fold` makes them from events."""

from typing import Final

from msgspec import Struct

from planwire.model.events import APPROVED, SUGGESTION, Choice, Origin, Passage, ReviewPending, SessionOpened, StepRef
from planwire.model.kinds import entries_of
from planwire.model.plan import PlanId
from planwire.model.step_changes import StepChange
from planwire.model.steps import PlanState

#: The owners of plans. On an agent's plan, other people's changes are suggestions.
PLANWIRE: Final = "planwire"
AGENT: Final = "agent"
#: The author of a file's text: nobody knows who wrote it.
FILE: Final = "file"
#: The author of a person's events where no name is given.
USER: Final = "user"

#: The ways to tell a reader: in the session's own chat, by a message or by a compaction; as a recap of everything, for
#: an agent that keeps its own chat; in a tool's answer; with a prompt, or in the turn that a prompt began; through a
#: hook of an agent in its own terminal; and as the answer to a question of the agent's.
CONTEXT: Final = "context"
COMPACTION: Final = "compaction"
RECAP: Final = "recap"
TOOL: Final = "tool"
PROMPT: Final = "prompt"
STEERING: Final = "steering"
HOOK: Final = "hook"
ANSWER: Final = "answer"
#: The ways that put a block into an agent's turn, at its beginning or in its middle.
IN_TURN: Final = frozenset((PROMPT, STEERING))
#: The ways that put a message into the session's chat.
PLACED: Final = frozenset((CONTEXT, COMPACTION))


class Delta(Struct, frozen=True):
    """A change to a plan: its number within the plan, and its event."""

    number: int
    seq: int
    at: int
    by: str
    note: str | None
    changes: tuple[StepChange, ...]


class PlanNote(Struct, frozen=True):
    """A note of a plan: what someone learned or decided, with the number of the change that brought it."""

    number: int
    at: int
    by: str
    text: str


class Telling(Struct, frozen=True):
    """The telling of a remark or a verdict: its event, the way, the request, and the reader. `stale` are
    the steps of which it said that they read differently from what the remark is about."""

    seq: int
    at: int
    way: str
    request: str
    reader: str = AGENT
    stale: tuple[str, ...] = ()


class Review(Struct, frozen=True):
    """A verdict on a plan, and the revision that its author saw. `is_stale`: texts or steps changed since. `is_known`:
    it is not told again, because the agent has it.

    `question` is the agent's question that it answers, `option` and `kind` are what it chose. `told` is None until the
    agent has it as its answer. `is_late`: the agent was told another verdict, which was faster.
    """

    seq: int
    at: int
    by: str
    revision: int
    verdict: str
    answer: str | None = None
    is_stale: bool = False
    is_known: bool = False
    question: str = ""
    option: str | None = None
    kind: str = ""
    told: Telling | None = None
    is_late: bool = False

    @property
    def is_on_its_way(self) -> bool:
        """Whether it answers a question, the agent does not have it yet, and no other verdict was faster."""
        return bool(self.question) and not (self.told or self.is_late or self.is_known)


class PendingVerdict(Struct, frozen=True):
    """A verdict that its author can still take back, until a time."""

    seq: int
    at: int
    by: str
    event: ReviewPending

    @property
    def until(self) -> int:
        return self.at + self.event.delay


class Closing(Struct, frozen=True):
    """The end of a remark: its event, its author, how it ended, and why if they said so."""

    seq: int
    at: int
    by: str
    how: str
    text: str = ""


class RemarkAnswer(Struct, frozen=True):
    """An answer to a remark."""

    at: int
    by: str
    text: str


class Remark(Struct, frozen=True):
    """A person's remark: a comment, a request for changes, a selection of steps, or a suggestion.

    `id` is its name within the session. `offered` is a telling that is not known to have arrived. `told` and `closed`
    are None until that happens. `done` are the steps of a selection that were finished since. The other fields are
    those of its event; `about` follows a chosen step that its agent only rephrased.
    """

    id: str
    seq: int
    at: int
    by: str
    plan_id: PlanId
    kind: str
    text: str
    revision: int
    step: str | None = None
    passage: Passage | None = None
    steps: tuple[str, ...] = ()
    changes: tuple[StepChange, ...] = ()
    review: int | None = None
    kept: bool = False
    about: dict[str, str] = {}
    done: tuple[str, ...] = ()
    offered: Telling | None = None
    told: Telling | None = None
    closed: Closing | None = None
    answers: tuple[RemarkAnswer, ...] = ()

    @property
    def is_open(self) -> bool:
        return self.closed is None

    @property
    def note(self) -> str | None:
        """The words that come with a suggestion."""
        return self.text or None


class OpenQuestion(Struct, frozen=True):
    """The agent waits for a verdict on a plan. Either the client asks its user for one of the `options`, or only
    planwire asks: then it is a review. Without an `id` or options, only the client's user can answer. `takes_edit`: a
    person may approve the plan as they edited it."""

    seq: int
    at: int
    options: tuple[Choice, ...]
    id: str = ""
    takes_edit: bool = False

    @property
    def is_review(self) -> bool:
        """Whether any verdict is an answer, because no client asks."""
        return not self.options and not self.id


class Wish(Struct, frozen=True):
    """A person asked for something to happen now."""

    seq: int
    at: int
    by: str
    interrupt: bool = False


class Approval(Struct, frozen=True):
    """The approval of a proposal, in the turn with this number. `carrier` holds the list that carries it out, once
    there is one. It is a tuple because a plan's id may be None."""

    seq: int
    turn: int
    carrier: tuple[PlanId, ...] = ()


class PlanRecord(Struct, frozen=True):
    """Everything about a plan as it is now. `deltas` are the changes since its last version, numbered across versions.

    `by` is the author of that version, `authors` those of steps that others added or reworded since; `edited` is the
    number of the last change that was not the agent's. `remarks` are all open remarks and the last closed ones.
    `is_proposal`: a person was asked for a verdict on its text. `ended` is how a proposal's life ended, "" while it
    lives. `cleared` is the list before it was cleared, until there is another. `disputed` is the number of a rejection
    that came too late, after the agent was told of an approval; it is 0 again once a person decides. `pending` is a
    verdict that its author can still take back.

    `notes` are the newest notes of all versions, as many as fit in `NOTES_CAP` bytes; `noted` counts all notes ever
    made. `parent` is the step that the plan works for, `reader` the child whose model it belongs to. `why` is the
    digest of the last thoughts that came with it. `message` is the name of the chat message with this version,
    `past_message` that of the message that it supersedes. `carried` is the plan's revision in the chat that it came
    from, until it changes. `file` is the text of a plan that is a file, as far as it was seen.
    """

    state: PlanState
    owner: str
    version: int
    base: int
    supersedes: int | None
    revision: int
    created_at: int
    changed_at: int
    by: str = AGENT
    summary: str | None = None
    mode: str = ""
    deltas: tuple[Delta, ...] = ()
    numbered: int = 0
    authors: dict[str, str] = {}
    edited: int = 0
    remarks: tuple[Remark, ...] = ()
    reviews: tuple[Review, ...] = ()
    asked: OpenQuestion | None = None
    removed: bool = False
    removed_by: str = ""
    is_proposal: bool = False
    approval: Approval | None = None
    ended: str = ""
    cleared: PlanState | None = None
    disputed: int = 0
    notes: tuple[PlanNote, ...] = ()
    noted: int = 0
    parent: StepRef | None = None
    reader: str = ""
    why: str = ""
    message: str = ""
    past_message: str | None = None
    carried: int = 0
    pending: PendingVerdict | None = None
    file: str | None = None

    @property
    def review(self) -> Review | None:
        """The last verdict on the plan that was not late."""
        return next((each for each in reversed(self.reviews) if not each.is_late), None)

    @property
    def decision(self) -> Review | None:
        """The answer to its question that is on its way to the agent. An approval of another wording does not count."""
        question = self.asked.id if self.asked else ""
        given = (each for each in reversed(self.reviews) if each.question == question and each.is_on_its_way)
        fits = (each for each in given if not (each.is_stale and each.verdict == APPROVED))
        return next(fits, None) if question else None

    @property
    def pending_request(self) -> PendingVerdict | None:
        """The pending verdict, unless it is an approval: that is of one wording, and of the newest proposal."""
        return None if self.pending and self.pending.event.verdict.verdict == APPROVED else self.pending

    @property
    def needs_person(self) -> bool:
        """Whether it waits for a person: a question is open, or verdicts contradict each other."""
        return not self.removed and (self.asked is not None or self.disputed > 0)

    @property
    def is_living(self) -> bool:
        """Whether it is told to the agent: nobody removed it, and its life has not ended."""
        return not self.removed and not self.ended

    @property
    def has_work_left(self) -> bool:
        """Whether it lives and has an open step. A text without steps is a proposal and counts; an empty list does
        not."""
        steps = self.state.steps
        return self.is_living and (
            any(step.is_open for step in steps) or (not steps and entries_of(self.state.plan) is None)
        )

    @property
    def open_remarks(self) -> tuple[Remark, ...]:
        """The remarks that still bind."""
        return tuple(each for each in self.remarks if each.closed is None)

    @property
    def suggestions(self) -> tuple[Remark, ...]:
        """The open suggestions."""
        return tuple(each for each in self.remarks if each.kind == SUGGESTION and each.closed is None)


class HeardUpTo(Struct, frozen=True):
    """How far a reader has heard of what people did: it knows everything up to the event `told`, and its chat has
    everything up to `placed`. Each remark records itself whether it was told."""

    told: int = 0
    placed: int = 0


class SessionState(Struct, frozen=True):
    """A session folded from its events.

    `stopped` is why the last turn ended; None while the agent works. `acted` is the last event that shows its agent at
    work. `turns` counts the turns that ended, `remarked` all remarks. `recapped` is the last event that told the agent
    everything that holds, `compacted` its last compaction. The agent knows what people did up to the event `told`, and
    its chat has it up to `placed`; `children` has the same for the other readers. `tell` and `stop` are requests of a
    person that have not been met yet. `mode` is the agent's mode, as its plans and mode switches name it. `forks` are
    the sessions that began with this one's past. `at` is the latest time of all events: no later event has an earlier
    time.
    """

    id: str
    seq: int = 0
    opened: SessionOpened | None = None
    plans: dict[PlanId, PlanRecord] = {}
    stopped: str | None = None
    acted: int = 0
    turns: int = 0
    compacted: int = 0
    remarked: int = 0
    recapped: int = 0
    told: int = 0
    placed: int = 0
    tell: Wish | None = None
    stop: Wish | None = None
    children: dict[str, HeardUpTo] = {}
    mode: str = ""
    forks: tuple[Origin, ...] = ()
    at: int = 0

    @property
    def heard(self) -> HeardUpTo:
        """How far the agent has heard of what people did."""
        return HeardUpTo(self.told, self.placed)

    @property
    def needs_person(self) -> bool:
        """Whether one of its plans waits for a person."""
        return any(record.needs_person for record in self.plans.values())

    @property
    def has_work_left(self) -> bool:
        """Whether one of its plans has work left."""
        return any(record.has_work_left for record in self.plans.values())

    @property
    def pending(self) -> tuple[PendingVerdict, ...]:
        """The verdicts that can still be taken back."""
        return tuple(record.pending for record in self.plans.values() if record.pending)

    def live(self) -> dict[PlanId, PlanRecord]:
        """The plans that are not removed, in order of arrival."""
        return {plan_id: record for plan_id, record in self.plans.items() if not record.removed}

    def living(self) -> dict[PlanId, PlanRecord]:
        """The plans that the agent is told of: those not removed, without the proposals that ended."""
        return {plan_id: record for plan_id, record in self.plans.items() if record.is_living}

    def remark(self, remark_id: str) -> Remark | None:
        """A remark by its id, as long as the state holds it."""
        remarks = (each for record in self.plans.values() for each in record.remarks)
        return next((each for each in remarks if each.id == remark_id), None)
