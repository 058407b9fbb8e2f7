"""What the relay does about a line: values, made by the policy and carried out by the pump and the recorder."""

from typing import Final, TypeAlias

from msgspec import Struct

from planwire.model.events import Event
from planwire.model.fold import SessionState

__all__ = [
    "BY_AGENT",
    "BY_CLIENT",
    "BY_RELAY",
    "CLOSED",
    "Action",
    "Bind",
    "Known",
    "Meet",
    "Record",
    "RecordLine",
    "ToAgent",
    "ToClient",
    "Warn",
]

#: Who did what is recorded. An answer to a question of the agent's is the client's: it may have asked nobody.
BY_AGENT: Final = "agent"
BY_CLIENT: Final = "client"
BY_RELAY: Final = "relay"
#: Why an agent does not work that was given nothing to do: the connection has ended. It is no news of one that stopped.
CLOSED: Final = "closed"


class ToClient(Struct, frozen=True):
    """Bytes for the client, line feed included."""

    data: bytes


class ToAgent(Struct, frozen=True):
    """Bytes for the agent, line feed included."""

    data: bytes


class Meet(Struct, frozen=True):
    """A session is mentioned for the first time on this connection. One that is not fresh may have a history."""

    session: str
    fresh: bool
    agent: str | None = None
    cwd: str | None = None


class Record(Struct, frozen=True):
    """Something that happened in a session. `streams`: a text that may go on growing, as one version."""

    session: str
    event: Event
    by: str = BY_AGENT
    streams: bool = False


class RecordLine(Struct, frozen=True):
    """The agent set its plan to the list on a line, which is to be read when there is time."""

    session: str
    line: bytes


class Bind(Struct, frozen=True):
    """A server of the plan tools that was given a key is to write to this session of the journal, from files in this
    folder. `told` is the revision up to which the client was told of their plans. Or there is a problem."""

    key: str
    session: str | None
    folder: str | None = None
    told: int = 0
    problem: str | None = None


class Warn(Struct, frozen=True):
    """A word to the person, on standard error."""

    text: str


Action: TypeAlias = ToClient | ToAgent | Meet | Record | RecordLine | Bind | Warn


class Known(Struct, frozen=True):
    """What the journal knows of a session: its state, the number up to which the agent was told of it, the texts that
    were added to its prompts, by their marks, and the number of the newest of these."""

    state: SessionState
    told: int = 0
    marks: dict[str, str] = {}
    reminded: int = 0

    @property
    def id(self) -> str:
        return self.state.id

    @property
    def seq(self) -> int:
        return self.state.seq
