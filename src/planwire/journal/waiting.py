"""What waits on this machine for a journal whose server is away, as everybody may ask for it.

Most journals are never away, and know nothing of this: ask with `waiting_of`.
"""

from typing import Final, Protocol, runtime_checkable

from msgspec import Struct

from planwire.journal.protocol import Journal

__all__ = ["NOT_YET", "WaitingRecords", "begin_without", "is_away", "waiting_count", "waiting_of", "waiting_words"]

#: What a person reads who said something that waits.
NOT_YET: Final = "Not yet delivered: the journal's server is away. It waits on this machine, and will be delivered."


class WaitingRecords(Struct, frozen=True):
    """How many records wait on this machine; since when the server is away (in milliseconds), and why, if it is."""

    count: int = 0
    since: int | None = None
    why: str = ""


@runtime_checkable
class _CanBeAway(Protocol):
    """A journal with a server that can be away."""

    @property
    def is_away(self) -> bool: ...

    def waiting(self) -> WaitingRecords: ...

    def begin_without(self, session: str) -> bool: ...


def waiting_of(journal: Journal) -> WaitingRecords:
    """What waits for a journal."""
    return journal.waiting() if isinstance(journal, _CanBeAway) else WaitingRecords()


def is_away(journal: Journal) -> bool:
    """Whether what is appended now would wait."""
    return isinstance(journal, _CanBeAway) and journal.is_away


def begin_without(journal: Journal, session: str) -> bool:
    """Begin to record a session while nobody can say what the journal has of it. Whether that is so, and was done: the
    session is empty then, until the server is back."""
    return isinstance(journal, _CanBeAway) and journal.begin_without(session)


def waiting_words(waiting: WaitingRecords, clock: str = "") -> str | None:
    """What waits, in a sentence; None if there is nothing to say. `clock` is the time since when."""
    if waiting.since is None:
        return f"{_records(waiting.count)} to be delivered to the journal's server" if waiting.count else None
    kept = waiting_count(waiting.count) or "what comes is kept on this machine"
    why = f" ({waiting.why})" if waiting.why else ""
    return f"The journal's server is away{f' since {clock}' if clock else ''}: {kept}{why}"


def waiting_count(count: int) -> str:
    """How much waits, in a clause; "" if nothing does."""
    return f"{_records(count)} and will be delivered" if count else ""


def _records(count: int) -> str:
    return f"{'1 record waits' if count == 1 else f'{count:,} records wait'} on this machine"
