"""What waits on this machine for a journal whose server is away, for any caller to ask.

Most journals are never away, and know nothing of this: the functions here answer for those, too.
"""

from typing import Final, Protocol, cast

from msgspec import Struct

from planwire.journal.protocol import Journal, KnownSession, Once
from planwire.model.records import SessionState

#: The numbers of events that wait begin here, so that no session reaches them. They stay below 2**53, where JavaScript
#: and JSON readers keep numbers exact.
FIRST_WAITING: Final = 10**12
#: Seconds after which a caller that only records, or has little time, takes a server to be away.
MOMENT: Final = 0.5
#: What a person reads after saying something that waits.
NOT_YET: Final = (
    "Not yet delivered: it waits on this machine, and will be delivered as soon as the journal's server takes it."
)

#: What a person reads after doing something that can't wait, if the connection broke before the server answered.
NOT_KNOWN: Final = "It may or may not have been written: look once the server is back"


class WaitingRecords(Struct, frozen=True):
    """How many records wait on this machine; since when the server has been away (in milliseconds), if it is; and why
    they wait, if that is known."""

    count: int = 0
    since: int | None = None
    why: str = ""


class _Served(Protocol):
    """A journal with a server, which can be away."""

    @property
    def is_away(self) -> bool: ...

    @property
    def refusal(self) -> str | None: ...

    def waiting(self) -> WaitingRecords: ...

    @property
    def id_suffix(self) -> str: ...

    def is_lost(self, session: str, once: Once) -> bool: ...

    def begin_away(self, session: str, at: int) -> SessionState | None: ...

    def go_by_last_known(self) -> None: ...

    def seen_here(self) -> list[KnownSession]: ...

    def note_state(self, state: SessionState) -> None: ...


def _served(journal: Journal) -> _Served | None:
    """The journal, if it has a server. Looking for one of its methods costs an append nothing; `isinstance` with a
    protocol takes ten microseconds."""
    return cast(_Served, journal) if hasattr(journal, "begin_away") else None


def waiting_of(journal: Journal) -> WaitingRecords:
    """What waits for a journal."""
    return served.waiting() if (served := _served(journal)) else WaitingRecords()


def is_away(journal: Journal) -> bool:
    """Whether what is appended now would wait."""
    return served.is_away if (served := _served(journal)) else False


def id_suffix(journal: Journal) -> str:
    """The end of the ids that a writer gives to steps and remarks now. It is not empty while the server is away: nobody
    knows then which ids others give."""
    return served.id_suffix if (served := _served(journal)) else ""


def is_waiting(seq: int) -> bool:
    """Whether an event waits on this machine. It gets another number when it is delivered."""
    return seq >= FIRST_WAITING


def is_right_after(seq: int, before: int) -> bool:
    """Whether an event was written right after another one. One whose answer was lost just now waits."""
    return seq == before + 1 or is_waiting(seq) > is_waiting(before)


def is_lost(journal: Journal, session: str, once: Once) -> bool:
    """Whether the server may or may not have what was appended to a session with a key, and can't wait: the connection
    broke before it answered."""
    return served.is_lost(session, once) if (served := _served(journal)) else False


def why_away(journal: Journal) -> str:
    """The reason for refusing what can't wait, as a clause."""
    return waiting_of(journal).why or "the journal's server has not yet received what was recorded here before"


def begin_away(journal: Journal, session: str, at: int) -> SessionState | None:
    """Begin to work with a session without knowing what the journal has of it. Returns the state to begin with, because
    the server is away: the one that this machine last knew, or an empty one. Reading on from there gives what waits
    here. `at` is the time, in milliseconds: no event of a session that is not known here is from before that. None, and
    nothing done, if the server is not away."""
    return served.begin_away(session, at) if (served := _served(journal)) else None


def go_by_last_known(journal: Journal) -> None:
    """While the server is away, have a journal answer with what this machine last knew and what waits here. Use it to
    show that, or to comment on it. Without this, asking for what only the server knows raises `EngineAway`."""
    if served := _served(journal):
        served.go_by_last_known()


def seen_here(journal: Journal) -> list[KnownSession]:
    """The sessions that this machine knew last, and those that wait here, in the order in which they began."""
    return served.seen_here() if (served := _served(journal)) else []


def note_state(journal: Journal, state: SessionState) -> None:
    """Tell a journal the newest state of a session, so that it is known here while the server is away."""
    if served := _served(journal):
        served.note_state(state)


def refusal_of(journal: Journal) -> str | None:
    """Why the journal's server refuses the login, and what to do about it; None if it does not."""
    return served.refusal if (served := _served(journal)) else None


def waiting_words(waiting: WaitingRecords, since: str = "") -> str | None:
    """What waits, in a sentence; None if there is nothing to say. `since` says what is wrong with the server and since
    when; without it, the reason for the waiting does."""
    why = f" ({waiting.why})" if waiting.why else ""
    if waiting.since is None:
        return f"{_records(waiting.count)} to be delivered to the journal's server{why}" if waiting.count else None
    kept = waiting_count(waiting.count) or "new records are kept on this machine"
    return f"The journal's server {since}: {kept}" if since else f"{kept}{why}"


def waiting_count(count: int) -> str:
    """How much waits, in a clause; "" if nothing does."""
    return f"{_records(count)} and will be delivered" if count else ""


def _records(count: int) -> str:
    return f"{'1 record waits' if count == 1 else f'{count:,} records wait'} on this machine"
