"""Actions of the relay: values that the policy makes of a line, and that `traffic` and the recorder carry out."""

from typing import Final, TypeAlias

from msgspec import Struct

from planwire.model.events import REFUSED, Event, PlanReviewed, ReviewAsked, Told
from planwire.model.plan import PlanId
from planwire.model.records import AGENT, SessionState
from planwire.model.unheard import CLIENT, RELAY
from planwire.relay.echoes import SentBlock

__all__ = [
    "BY_AGENT",
    "BY_CLIENT",
    "BY_RELAY",
    "CLOSED",
    "Action",
    "Bind",
    "HoldBack",
    "Meet",
    "Record",
    "RecordLine",
    "SessionMemory",
    "ToAgent",
    "ToClient",
    "Warn",
]

#: Authors of what the relay records. An answer to a question of the agent's is the client's: it may have asked nobody.
BY_AGENT: Final = AGENT
BY_CLIENT: Final = CLIENT
BY_RELAY: Final = RELAY
#: Why a session ends that had nothing to do: its connection is closed. Of one that has stopped this is no news.
CLOSED: Final = "closed"


class ToClient(Struct, frozen=True):
    """Bytes for the client, line feed included."""

    data: bytes


class ToAgent(Struct, frozen=True):
    """Bytes for the agent, line feed included."""

    data: bytes


class Meet(Struct, frozen=True):
    """A session is mentioned for the first time on this connection. One that is not fresh may have a history; one that
    is a fork begins with that of another, `fork_of`."""

    session: str
    fresh: bool
    agent: str | None = None
    cwd: str | None = None
    fork_of: str | None = None


class Record(Struct, frozen=True):
    """Something that happened in a session. `streams`: a text that may go on growing, as one version. `why`: what the
    agent thought and said right before a plan, which the journal gets a digest of."""

    session: str
    event: Event
    by: str = BY_AGENT
    streams: bool = False
    why: str = ""


class RecordLine(Struct, frozen=True):
    """The agent set a plan to the list on a line, which the recorder reads. `why` is that of `Record`."""

    session: str
    line: bytes
    why: str = ""
    plan_id: PlanId = None


class Bind(Struct, frozen=True):
    """Hand a session of the journal to the server of the plan tools that has this key, or tell it of a problem.

    Plans may be read from files in `folder`. `told` is the revision up to which the client knows the tools' plans.
    """

    key: str
    session: str | None
    folder: str | None = None
    told: int = 0
    problem: str | None = None


class HoldBack(Struct, frozen=True):
    """Something waits for the agent; no longer than so many seconds. `what`: a prompt of the client's waits for the end
    of the turn of ours with this number, or an answer waits for words to arrive."""

    session: str
    turn: int
    seconds: float
    what: str


class Warn(Struct, frozen=True):
    """A warning for the person, on stderr."""

    text: str


Action: TypeAlias = ToClient | ToAgent | Meet | Record | RecordLine | Bind | HoldBack | Warn


class SessionMemory(Struct, frozen=True):
    """What the journal knows of a session: its state, the blocks that went into its prompts, by their marks, the number
    of the newest of these, how far the telling of each came, and the questions about plans, by their names, with
    whether there is a verdict."""

    state: SessionState
    marks: dict[str, SentBlock] = {}
    reminded: int = 0
    stages: dict[str, str] = {}
    questions: dict[str, bool] = {}

    @property
    def id(self) -> str:
        return self.state.id

    @property
    def seq(self) -> int:
        return self.state.seq

    @property
    def at(self) -> int:
        return self.state.at

    def has_recorded(self, telling: Told) -> bool:
        """Whether the journal has a telling by a prompt. A refusal comes behind the telling that it takes back."""
        return self.stages.get(telling.request) in (telling.stage, REFUSED)

    def has_review(self, review: ReviewAsked | PlanReviewed) -> bool:
        """Whether the journal has a question about a plan, or the verdict on it."""
        is_judged = self.questions.get(review.question)
        return is_judged is not None and (is_judged or isinstance(review, ReviewAsked))
