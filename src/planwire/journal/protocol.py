"""What a journal is, whichever engine keeps it.

A journal holds the events of many sessions. Within its session an event has a number (1, 2, 3 …), among all of them a
position, which only grows and is never given twice. Nothing is ever changed; only a whole session can be forgotten.
Engines read no clock: the time of an event is the writer's to say.
"""

from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

from msgspec import Struct

from planwire.model.events import Event, Recorded

if TYPE_CHECKING:  # it brings threads and logging along, which a program that opens no journal can do without
    from concurrent.futures import Future

__all__ = ["Followed", "Journal", "KnownSession", "Snapshot", "Stamped", "Stop"]


class Stamped(Struct, frozen=True):
    """An event that is to be written: when it happened (Unix time in milliseconds), by whom, and what."""

    at: int
    by: str
    event: Event


class Followed(Struct, frozen=True):
    """An event as a follower meets it: `position` is where to go on from."""

    position: int
    recorded: Recorded


class KnownSession(Struct, frozen=True):
    """A session in the journal: its last number, and when its first and its last event happened."""

    id: str
    last_seq: int
    first_at: int
    last_at: int


class Snapshot(Struct, frozen=True):
    """What somebody folded from a session's events up to `seq`, in a form that only they understand."""

    seq: int
    data: bytes


class Stop(Protocol):
    """What ends a follower from outside: a `threading.Event`, or anything like it."""

    def is_set(self) -> bool: ...


class Journal(Protocol):
    """An append-only journal of events. Every method may be called from any thread, at any time."""

    def append(self, session: str, events: Sequence[Stamped], expected_seq: int | None = None) -> tuple[Recorded, ...]:
        """Write the events, all of them or none, and return them as they will be read.

        When this returns they are as safe as the engine can make them: on disk, if it has one. `expected_seq` is the
        number of the last event that the writer knows of (0: none); if there are others by now, `Conflict` is raised
        and nothing is written.
        """
        ...

    def submit(
        self, session: str, events: Sequence[Stamped], expected_seq: int | None = None
    ) -> "Future[tuple[Recorded, ...]]":
        """`append` without waiting for it, for event loops: `await asyncio.wrap_future(journal.submit(…))`.

        Events of one caller are written in the order in which they were submitted. One that is cancelled in time is
        not written. What can't be stored is raised here; everything else is the future's outcome.
        """
        ...

    def read(self, session: str, after: int = 0, upto: int | None = None) -> Iterator[Recorded]:
        """The session's events with numbers above `after`, up to and with `upto`, in order."""
        ...

    def last_seq(self, session: str) -> int:
        """The number of the session's last event; 0 if it has none."""
        ...

    def last_position(self) -> int:
        """The position of the last event of all; 0 if there never was one."""
        ...

    def sessions(self) -> list[KnownSession]:
        """Every session that has events, in the order in which they began."""
        ...

    def follow(
        self,
        after: int | None = None,
        *,
        session: str | None = None,
        stop: Stop | None = None,
        timeout: float | None = None,
    ) -> Iterator[Followed]:
        """The events of all sessions, or of one, as they are written by anyone, in the order of their positions.

        It begins behind the position `after`; None is the end of the journal at the moment of the call. It waits for
        more until `stop` is set, nothing has come for `timeout` seconds, or the journal is closed.
        """
        ...

    def snapshot(self, session: str, name: str = "state") -> Snapshot | None:
        """The snapshot kept for the session under a name, if there is one. Each view has a name of its own."""
        ...

    def keep_snapshot(self, session: str, seq: int, data: bytes, name: str = "state") -> None:
        """Keep a snapshot instead of an older one. It is a cache: one that is behind the kept one, or ahead of the
        session (which was forgotten meanwhile), is dropped in silence."""
        ...

    def forget(self, *sessions: str) -> None:
        """Remove sessions, their events and their snapshots, so that nothing of them can be found any more. The next
        event of such a session is number 1. An engine may have to clean all that it keeps: forget many in one call."""
        ...

    def close(self) -> None:
        """Finish what was submitted, end the followers, and let go of everything. A second call does nothing."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
