"""What an engine supplies: a `Store`, which keeps rows and knows no rule. `StoreJournal` makes a journal of any.

A row is an event as text (`StoredEvent`), and the store never looks into it. The rows of a session are numbered, and
have positions among all rows, which only grow and are never reused. Beside them a store keeps entries: values by kind,
session and name. Any thread may call any method at any time. A store that can't do what it is asked raises the errors
of `planwire.errors`: `EngineAway` if its server is away, so that nobody knows what became of a write;
`JournalUnavailable` if nothing was written, or nothing can be read; `DamagedJournal` if what it has can't be right.
"""

from collections.abc import Generator, Iterator, Sequence
from typing import Final, NamedTuple, Protocol, runtime_checkable

from msgspec import Struct

from planwire.journal.checked import Trouble
from planwire.journal.protocol import JournalFacts, Once, StoredEvent

#: A page ends with the row that reaches either of these.
PAGE_EVENTS: Final = 1_000
PAGE_BYTES: Final = 4_000_000


class SessionEnd(Struct, frozen=True, kw_only=True):
    """Where a session ends: the number, link and position of its last row, and when its first and last row were made.
    `number` stands for the session in its store; a session that is forgotten and begun anew gets another one. `place`
    is whatever else the store wants to be told when it appends after this end."""

    session: str
    number: int = 0
    last: int = 0
    link: bytes | None = None
    position: int = 0
    first_at: int = 0
    last_at: int = 0
    place: object = None


class KeySpan(NamedTuple):
    """A key, and the rows of its session that were written with it: after number `after`, up to and including
    `last`."""

    after: int
    last: int
    once: Once


class Append(NamedTuple):
    """Rows for a session, to be written directly `after` its end as the writer knows it, and the keys that they are
    written with, in order. Without rows, it only asks for its key and for the end."""

    session: str
    rows: Sequence[StoredEvent]
    after: SessionEnd
    keys: Sequence[KeySpan] = ()


class Appended(NamedTuple):
    """What became of an append, and where its session ends now. Nothing was written if the session had one of its keys
    already (`keyed`), or ended elsewhere."""

    end: SessionEnd
    is_written: bool = False
    keyed: KeySpan | None = None


class StoredPage(NamedTuple):
    """Some rows of a session, and the keys that any of them was written with, in order."""

    events: list[StoredEvent]
    keys: list[KeySpan]


class TailRow(NamedTuple):
    """A row with its position and its session."""

    position: int
    session: str
    event: StoredEvent


class TailPage(NamedTuple):
    """Some rows in the order of their positions. There are no others up to `position`; `is_end`: nor behind it, at the
    moment."""

    rows: list[TailRow]
    position: int
    is_end: bool


class StoreEntry(NamedTuple):
    """A value. `number` is its own for ever: another value of that name has the same one, until the entry is
    removed."""

    session: str
    name: str
    value: bytes
    number: int


class AnyValue:
    """Stands for whatever value an entry has, or for none."""


ANY: Final = AnyValue()


class Store(Protocol):
    """Rows and entries, and who is alive. `where` is shown to people, without secrets. `thoughts` is the file on this
    machine for what agents thought, None to keep that in memory.

    `is_hasty`: the store gives up on its server soon (see `haste`). `has_clock`: a holder is alive for a time by the
    clock of the store's server, and must say so again and again; otherwise the store itself sees when it ends.
    """

    is_hasty: bool

    @property
    def where(self) -> str: ...

    @property
    def thoughts(self) -> str | None: ...

    @property
    def has_clock(self) -> bool: ...

    def append(self, appends: Sequence[Append]) -> Sequence[Appended | Exception]:
        """Write each append as a whole or not at all, in order, and say what became of each: an exception if its rows
        can't be stored. What is written is as safe as the store can make it when this returns."""
        ...

    def read(self, end: SessionEnd, after: int, upto: int, *, keys: bool = False) -> StoredPage:
        """The first rows with numbers above `after`, up to and including `upto`, as many as make a page; at least one
        if there is any. Only of the session that has this end, and none of one begun anew. With `keys` if asked."""
        ...

    def tail(self, after: int | None) -> Generator[TailPage, None, None]:
        """Pages of the rows after a position, and then of those that anyone writes, until the store is closed. Without
        a position, the first page is empty and says where the store ends now. While nothing comes there is an empty
        page several times a second."""
        ...

    def ends(self, session: str | None = None) -> list[SessionEnd]:
        """The ends of all sessions that have rows, in the order in which they began; or that of one, if it has any."""
        ...

    def delete(self, sessions: Sequence[str]) -> None:
        """Remove the rows, keys and entries of sessions, without a trace. The last position stays what it is."""
        ...

    def get(self, kind: str, session: str | None = None, name: str | None = None) -> list[StoreEntry]:
        """The entries of a kind, in the order in which they were made: all of them, or the one with a session and a
        name."""
        ...

    def put(
        self, kind: str, session: str, name: str, value: bytes | None, instead: "bytes | AnyValue | None" = ANY
    ) -> bool:
        """Replace the value `instead` (None: there is no entry), or whatever there is. None removes the entry. Says
        whether that was the value. The session need not have rows."""
        ...

    def alive(self, holder: str, seconds: float | None = None) -> bool:
        """Whether a holder is alive. With `seconds`, first state that it is, for so long or for as long as this process
        lives (see `has_clock`); or, with 0, that it is not any more."""
        ...

    def facts(self) -> JournalFacts:
        """Facts about the whole. This may ask the server."""
        ...

    def close(self) -> None:
        """End every `tail`, and let go of everything. Is called once."""
        ...


@runtime_checkable
class PlacedStore(Protocol):
    """A store that knows the positions of its sessions sooner than their ends."""

    def last_positions(self, beginning: str) -> dict[str, int]:
        """The position of the last row of every session that has rows and a name with this beginning, in the order in
        which they began."""
        ...


@runtime_checkable
class CheckedStore(Protocol):
    """A store that can check what it keeps, beyond what the chain of hashes shows. Most leave that to their server."""

    def troubles(self) -> Iterator[Trouble]:
        """Everything that is wrong, as far as it can be read. Reads all of it."""
        ...
