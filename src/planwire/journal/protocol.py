"""The journal as every engine keeps it.

A journal holds the events of many sessions. Within its session an event has a number (1, 2, 3 …); among all events it
has a position; positions only grow and are never reused. Nothing changes an event; only a whole session can go, by
`forget`. Engines read no clock: the writer says when an event happened.
"""

from collections.abc import Collection, Iterator, Sequence
from types import TracebackType
from typing import Protocol, Self

from msgspec import Struct

from planwire.model.events import Event, Recorded


class Stamped(Struct, frozen=True):
    """An event to write: when it happened (Unix time in milliseconds), by whom, and what. Unless it `waits`, it is
    written now or refused, even if events of its kind may wait for a server that is away."""

    at: int
    by: str
    event: Event
    waits: bool = True


class Once(Struct, frozen=True):
    """The key of an append that may have to be repeated, because its writer can't know whether it was written.

    `source` names the writer: the random id of a page, the connection of a tool server, a file. `n` numbers what this
    writer writes. The same pair means the same append.
    """

    source: str
    n: int

    def __post_init__(self) -> None:
        if type(self.n) is not int or not -(2**63) <= self.n < 2**63:
            raise ValueError(f"{self.n!r} can't number an append: take a whole number of at most 64 bits")
        try:
            self.source.encode()
        except UnicodeEncodeError as error:
            raise ValueError(f"{self.source!r} can't name the source of an append: {error}") from None


class Followed(Struct, frozen=True):
    """An event as `follow` gives it. Its `position` is where to continue from."""

    position: int
    recorded: Recorded


class StoredEvent(Struct, frozen=True):
    """An event as an engine keeps it: the text, whatever it says, and its link in the chain of its session (`chain`),
    or None if another program took that away. `is_sound`: the engine finds it as it was written."""

    seq: int
    at: int
    by: str
    text: bytes
    link: bytes | None
    is_sound: bool = True


class StoredAppend(Struct, frozen=True):
    """Events of a session that are copied to another journal together: all that were written with the key `once`, or
    some that were written without a key."""

    events: tuple[StoredEvent, ...]
    once: Once | None = None


class JournalFacts(Struct, frozen=True):
    """What a person may want to know about a journal: its engine, where it is (without a password), what an
    acknowledged append has gone through, and more facts by name."""

    engine: str
    where: str
    promise: str
    facts: dict[str, str] = {}


class KnownSession(Struct, frozen=True):
    """A session in the journal: its last number, and when its first and its last event happened."""

    id: str
    last_seq: int
    first_at: int
    last_at: int


class Snapshot(Struct, frozen=True):
    """The fold of a session's events up to `seq`, in a form that only the view that made it understands."""

    seq: int
    data: bytes


class Terms(Struct, frozen=True, omit_defaults=True):
    """What the holder of a lease states about itself: which program it is (`relay`, `mcp`, `hook`), whether a turn is
    on, and what it can do for people in this session (`answer`, `tell`, …; a journal keeps any word). `process` names a
    process on this machine (`journal.processes`) for which another one took the lease; when it ends, so does the lease.
    A holder that serves a single `question` of the agent's, and knows nothing of its turn, names that question."""

    holder: str = ""
    is_working: bool = False
    can: tuple[str, ...] = ()
    process: str = ""
    question: str = ""

    def lease_of(self, session: str) -> str | None:
        """The name of the one lease that a process has on a session; None for leases that get random names."""
        return f"{self.process}:{session}" if self.process else None


class KnownLease(Struct, frozen=True):
    """A lease as anyone finds it. A random `name` is never reused; that of a process's lease is (`Terms.lease_of`). A
    lease that is not held has lapsed: its holder ended without releasing it."""

    session: str
    name: str
    terms: Terms
    is_held: bool


class Lease(Protocol):
    """A lease in the hands of its holder. It lasts until it is released, its journal closes, or its process dies."""

    def renew(self, terms: Terms) -> None:
        """State new terms. The same terms write nothing, and nothing brings back a lease that was released."""
        ...

    def release(self) -> None:
        """Give the lease back, without a trace. A second call does nothing."""
        ...


class Thought(Struct, frozen=True):
    """What an agent thought and said right before a plan or a change. The event holds the `digest`, which no one can
    turn back into the text, or check a guess against, without the random `salt`."""

    digest: str
    salt: str
    text: str


class Thoughts(Protocol):
    """The thoughts beside a journal, on this machine only: no export, no follower and no other machine gets them, and
    they can go without any event changing. Any thread may call any method at any time."""

    def keep(self, session: str, thought: Thought) -> None:
        """Keep a thought of a session, before the event that holds its digest is written. If the session has too many,
        the oldest go."""
        ...

    def find(self, session: str, digests: Collection[str]) -> dict[str, Thought]:
        """The thoughts of a session with these digests that are still there."""
        ...

    def forget(self, *sessions: str) -> None:
        """Remove the thoughts of some sessions, so that no trace of them stays."""
        ...

    def forget_all(self) -> None:
        """Remove the thoughts of all sessions, also of those that the journal does not know."""
        ...

    def glance(self) -> object:
        """A value that changes when thoughts are forgotten, by whichever process."""
        ...

    def close(self) -> None:
        """Let go of everything. A second call does nothing."""
        ...


class Stop(Protocol):
    """A flag that ends `follow` from outside: a `threading.Event`, or anything like it."""

    def is_set(self) -> bool: ...


class Journal(Protocol):
    """An append-only journal of events. Any thread may call any method at any time. Any text names a session, and a
    string that is not valid text (half a surrogate pair) names none."""

    @property
    def thoughts(self) -> Thoughts:
        """What agents thought, beside the events. Nothing is opened before its first use."""
        ...

    def append(
        self, session: str, events: Sequence[Stamped], expected_seq: int | None = None, once: Once | None = None
    ) -> tuple[Recorded, ...]:
        """Write the events, all of them or none, and return them as `read` will.

        On return they are as safe as the engine can make them: on disk, if it has one. `expected_seq` is the number of
        the last event that the writer knows of (0: none); if the session ends with another one, `append` writes nothing
        and raises `Conflict`.

        `once` is a key, which the session keeps in the same transaction. If the session has the key already, `append`
        writes nothing and returns the events that were first written with it, whatever events and `expected_seq` come
        with it now. So a writer that got no answer just repeats the append, even after a crash. Of concurrent appends
        with one key, one writes, and all return the same events. An append without events keeps no key: it only asks
        for one, and returns nothing if the session does not have it. `forget` removes keys.
        """
        ...

    def read(self, session: str, after: int = 0, upto: int | None = None) -> Iterator[Recorded]:
        """The session's events with numbers above `after`, up to and including `upto`, in order, as of this call: none
        that comes later, and none of a session that begins anew meanwhile."""
        ...

    def stored(self, session: str, after: int = 0) -> Iterator[StoredAppend]:
        """The session's events after number `after`, in order and as they are stored, to check or to copy them. Nothing
        is decoded or checked."""
        ...

    def store(self, session: str, appends: Sequence[StoredAppend]) -> None:
        """Write events of another journal, unchanged, after the session's last one; all of them or none. Raises
        `Conflict` unless their numbers continue those of the session."""
        ...

    def facts(self) -> JournalFacts:
        """Facts about the journal as a whole. This may ask the server."""
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
        """The events of all sessions, or of one, as anyone writes them, in the order of their positions.

        Begins after the position `after`; None is the end of the journal at the moment of the call. Waits for more
        until `stop` is set, nothing has come for `timeout` seconds, or the journal closes. It blocks the calling
        thread: `follower_of` shares one thread among all subscribers.
        """
        ...

    def snapshot(self, session: str, name: str = "state") -> Snapshot | None:
        """The session's snapshot under a name, if there is one. Each view has a name of its own."""
        ...

    def keep_snapshot(self, session: str, seq: int, data: bytes, name: str = "state") -> None:
        """Keep a snapshot in place of an older one. Snapshots are a cache: the journal silently drops one that is older
        than the one it has, or ahead of the session (which a `forget` can cause)."""
        ...

    def lease(self, session: str, terms: Terms = Terms()) -> Lease:
        """Say that this process serves a session, for as long as it lives. Any number of processes may say so. If the
        terms name another process, the lease belongs to that one: it outlives its taker, and taking it again changes
        its terms.

        A lease is no event: `follow`, `sessions` and the numbers of events know nothing of it. It costs no thread, and
        needs no renewal to last: the engine knows when its holder is gone. Raises `ValueError` if the session or the
        terms are not valid text.
        """
        ...

    def leases(self) -> list[KnownLease]:
        """All leases, in the order in which they were taken, including those that lapsed and are not ended yet."""
        ...

    def end_lease(self, known: KnownLease, events: Sequence[Stamped] = (), expected_seq: int | None = None) -> None:
        """Remove a lease that lapsed, and write these events to its session (or raise `Conflict`, see `append`). Does
        nothing to a lease that is held or gone: of all processes that try to end one, exactly one writes.

        This is not urgent: while others write, an engine soon gives up (`JournalUnavailable`), and the next process
        that looks tries again.
        """
        ...

    def forget(self, *sessions: str) -> None:
        """Remove sessions with their events, keys, snapshots, leases and thoughts, so that no trace of them stays. The
        next event of such a session is number 1. An engine may have to clean everything it keeps, so forget many in one
        call."""
        ...

    def close(self) -> None:
        """End every `follow`, release this journal's own leases, and let go of everything. A second call does nothing;
        any other call from then on raises `JournalUnavailable`."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def require_journal(value: object, instead: str) -> None:
    """Raise `TypeError` for the name of a journal where an open one belongs. `instead` is the call that takes names."""
    if value is None or isinstance(value, str) or hasattr(value, "__fspath__"):
        raise TypeError(f"expected an open journal, not its name {value!r}: use {instead}")
