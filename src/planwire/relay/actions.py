"""Actions of the relay: the policy turns each line into these values; `traffic` and the recorder carry them out."""

from typing import Final, TypeAlias

from msgspec import Struct

from planwire.model.events import REFUSED, Event, PlanReviewed, ReviewAsked, Told
from planwire.model.plan import PlanId
from planwire.model.records import AGENT, SessionState
from planwire.model.unheard import CLIENT, RELAY
from planwire.relay.echoes import SentBlock

#: Authors of what the relay records. An answer to the agent's question is by the client: it may have asked no one.
BY_AGENT: Final = AGENT
BY_CLIENT: Final = CLIENT
BY_RELAY: Final = RELAY
#: Why an idle session ends: its connection closed. For a session that has already stopped this is no news.
CLOSED: Final = "closed"


class ToClient(Struct, frozen=True):
    """Bytes for the client, line feed included."""

    data: bytes


class ToAgent(Struct, frozen=True):
    """Bytes for the agent, line feed included."""

    data: bytes


class Meet(Struct, frozen=True):
    """The first mention of a session on this connection. Unless it is `fresh`, it may have a history; a fork begins
    with the history of `fork_of`."""

    session: str
    fresh: bool
    agent: str | None = None
    cwd: str | None = None
    fork_of: str | None = None


class Leave(Struct, frozen=True):
    """Nobody mentions a session any more: let go of it once it is written. If it comes back, it is met again."""

    session: str


class Record(Struct, frozen=True):
    """Something that happened in a session. `streams`: it is about a text that may still grow, all of which becomes one
    version. `why`: what the agent thought and said right before a plan; the journal gets its digest."""

    session: str
    event: Event
    by: str = BY_AGENT
    streams: bool = False
    why: str = ""


class RecordLine(Struct, frozen=True):
    """The agent set a plan to the list on this line, which the recorder reads. `why` is as in `Record`."""

    session: str
    line: bytes
    why: str = ""
    plan_id: PlanId = None


class Bind(Struct, frozen=True):
    """Hand a journal session to the plan tools' server with this key, or tell that server of a problem.

    Plans may be read from files in `folder`. `told` is the revision up to which the client knows the tools' plans.
    """

    key: str
    session: str | None
    folder: str | None = None
    told: int = 0
    problem: str | None = None


class HoldBack(Struct, frozen=True):
    """Something is held back from the agent, for `seconds` at most. `what`: a client's prompt that waits for the end of
    our own turn with this number, or an answer that waits until words have arrived."""

    session: str
    turn: int
    seconds: float
    what: str


class Warn(Struct, frozen=True):
    """A warning for the person, on stderr."""

    text: str


#: What the journal's thread gets.
ForJournal: TypeAlias = Meet | Leave | Record | RecordLine
Action: TypeAlias = ToClient | ToAgent | ForJournal | Bind | HoldBack | Warn


class SessionMemory(Struct, frozen=True):
    """What the journal knows of a session: its state; the blocks sent in its prompts, by mark; `reminded`, the number
    of the newest one's event; how far the telling of each came (`stages`); and the questions about plans, by name, with
    whether each has a verdict."""

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
        """Whether the journal has a telling by a prompt. A refusal comes after the telling that it takes back."""
        return self.stages.get(telling.request) in (telling.stage, REFUSED)

    def has_review(self, review: ReviewAsked | PlanReviewed) -> bool:
        """Whether the journal has a question about a plan, or the verdict on it."""
        is_judged = self.questions.get(review.question)
        return is_judged is not None and (is_judged or isinstance(review, ReviewAsked))
