"""A journal in a PostgreSQL database, which many machines may write and follow at once.

When an append returns, it is as safe as the server makes a commit: `facts` says how safe that is. All writes of this
process share one connection and its commits (see `group_commit`); reads have another. Notices between processes use two
more, made by the first append and the first `follow` (`notices`). Any trouble with a connection is raised as
`EngineAway`, and the next call connects anew.

A forgotten session is out of reach at once. Its bytes stay in the server's files until they are overwritten after an
autovacuum, or until the owner runs `VACUUM FULL`. Backups and archived logs keep them for as long as those are kept.

A connection must not cross a fork. A journal that did says so instead of working: open another one in the child.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, Final, Self

from planwire.errors import EngineAway, JournalError, JournalUnavailable
from planwire.journal.checked import Trouble
from planwire.journal.codec import encode
from planwire.journal.forks import forks
from planwire.journal.group_commit import Append, GroupCommit, Outcome
from planwire.journal.held_lease import HeldLease
from planwire.journal.polling import Found
from planwire.journal.postgres import checks
from planwire.journal.postgres.append import REFUSED, Appends
from planwire.journal.postgres.facts import read_facts
from planwire.journal.postgres.following import SETTLING, NoticeBell, PositionFollower, Source, events_of
from planwire.journal.postgres.leases import PostgresLeases
from planwire.journal.postgres.line import ServerLine
from planwire.journal.postgres.notices import Listener, Notifier
from planwire.journal.postgres.order import Holders, holders
from planwire.journal.postgres.rows import KeyedEvents, Reads, bytes_of, followed
from planwire.journal.postgres.schema import check_format, make_tables
from planwire.journal.postgres.server import JournalServer, PostgresConnection
from planwire.journal.postgres.writes import forget_sessions, keep_snapshot
from planwire.journal.protocol import (
    Followed,
    JournalFacts,
    KnownLease,
    KnownSession,
    Once,
    Snapshot,
    Stamped,
    Stop,
    StoredAppend,
    Terms,
)
from planwire.journal.stored_pages import StoredPage, by_keys
from planwire.journal.thoughts_file import FileThoughts
from planwire.journal.unusable import forked, went_back
from planwire.journal.user_files import thoughts_path
from planwire.model.events import Recorded

if TYPE_CHECKING:
    from psycopg import Cursor

#: Seconds that `last_position` waits for transactions under way. The server ends one whose client is gone sooner.
PATIENCE: Final = 15.0
#: How often `end_lease` tries when others write to the session at the same time.
TRIES: Final = 5


class PostgresJournal:
    """A `Journal` in a schema of a PostgreSQL database. Makes the tables if `create` says so; else they must exist."""

    def __init__(self, url: str, create: bool = True) -> None:
        self._server = server = JournalServer(url)
        self.thoughts = FileThoughts(thoughts_path(server.place))
        self._owner = forks()
        self._closed = False
        check = partial(check_format, server)
        self._writing = ServerLine(
            server, partial(make_tables, server) if create else check, plan_cache_mode="force_generic_plan"
        )
        self._reading = ServerLine(server, check)
        self._bell = NoticeBell()
        self._notifier = Notifier(server, ServerLine(server, check, synchronous_commit="off"))
        self._listener = Listener(server, self._bell)
        self._group = GroupCommit(self._commit)
        self._reads = Reads(server)
        self._appends = Appends(server, self._reads, self._written)
        self._leases = PostgresLeases(server, self._renew_leases)
        self._settled = 0  # the last position that was asked for: no event at or below it is still to come
        with self._writing:
            self._writing.greet = check  # tables dropped under an open journal are not made again

    @property
    def is_hasty(self) -> bool:
        """Whether the journal gives up on its server soon (see `haste`)."""
        return self._server.is_hasty

    @is_hasty.setter
    def is_hasty(self, value: bool) -> None:
        self._server.is_hasty = value

    def append(
        self, session: str, events: Sequence[Stamped], expected_seq: int | None = None, once: Once | None = None
    ) -> tuple[Recorded, ...]:
        self._check_process()
        rows = encode(session, events)
        try:
            return tuple(self._group.append(Append(session, rows, expected_seq, once)))
        except EngineAway:
            if once is None or self.is_hasty:
                raise
        return tuple(self._group.append(Append(session, rows, expected_seq, once)))  # the key makes that safe

    def read(self, session: str, after: int = 0, upto: int | None = None) -> Iterator[Recorded]:
        with self._read() as cursor:
            number, last, _ = self._reads.find(cursor, session)
        return self._pages(session, number, max(after, 0), last if upto is None else min(last, upto))

    def stored(self, session: str, after: int = 0) -> Iterator[StoredAppend]:
        with self._read() as cursor:
            number, last, _ = self._reads.find(cursor, session)
        return by_keys(self._stored_pages(number, max(after, 0), last))

    def store(self, session: str, appends: Sequence[StoredAppend]) -> None:
        with self._write() as connection:
            self._appends.store(connection, session, appends)

    def facts(self) -> JournalFacts:
        self._check_process()
        with self._reading as connection:
            return read_facts(self._server, connection)

    def troubles(self) -> Iterator[Trouble]:
        """What is wrong with the tables (see `checked`)."""
        self._check_process()
        with self._reading as connection, connection.transaction(), connection.taking(checks.CHECKING):
            return iter([*checks.troubles(self._server, connection.cursor(binary=True))])

    def last_seq(self, session: str) -> int:
        with self._read() as cursor:
            return self._reads.find(cursor, session).last

    def last_position(self) -> int:
        """The position of the last event. Waits until no event at or below it is still to come."""
        last = self._last()
        if last != self._settled:  # also if it went back: a restored backup has its own transactions under way
            self._wait_for(self._holders())
            self._settled = last
        return last

    def sessions(self) -> list[KnownSession]:
        with self._read() as cursor:
            return self._reads.sessions(cursor)

    def follow(
        self,
        after: int | None = None,
        *,
        session: str | None = None,
        stop: Stop | None = None,
        timeout: float | None = None,
    ) -> Iterator[Followed]:
        begin = self.last_position() if after is None else max(after, 0)
        return events_of(partial(self._look, session), begin, self._bell, self._listener.start, stop, timeout)

    def snapshot(self, session: str, name: str = "state") -> Snapshot | None:
        with self._read() as cursor:
            return self._reads.snapshot(cursor, session, name)

    def keep_snapshot(self, session: str, seq: int, data: bytes, name: str = "state") -> None:
        self._check_process()
        with self._group.turn, self._writing as connection:
            keep_snapshot(self._server, connection, session, seq, data, name)

    def lease(self, session: str, terms: Terms = Terms()) -> HeldLease:
        return HeldLease(session, terms, self._keep_lease, self._release_lease)

    def leases(self) -> list[KnownLease]:
        self._check_process()
        with self._reading as connection:
            found = self._leases.rows(connection)
        return [each.known() for each in found]

    def end_lease(self, known: KnownLease, events: Sequence[Stamped] = (), expected_seq: int | None = None) -> None:
        append = Append(known.session, encode(known.session, events), expected_seq)
        for _ in range(TRIES):
            with self._write() as connection, suppress(*REFUSED):  # the session moved on: look again
                with connection.transaction():
                    connection.execute("SET LOCAL lock_timeout = '1s'")
                    if self._leases.end(connection, known.name):
                        self._appends.add(connection, append)
                return
        raise JournalUnavailable(f"session {known.session!r} is too busy: the lease can be ended later")

    def forget(self, *sessions: str) -> None:
        self._check_process()
        self.thoughts.forget(*sessions)
        names = [name for name in map(bytes_of, sessions) if name is not None]
        with self._group.turn, self._writing as connection, connection.transaction():
            self._leases.forget(connection, names)  # first, as in `end_lease`: otherwise the two could deadlock
            forget_sessions(self._server, connection, names)

    def close(self) -> None:
        if self._owner != forks() or self._closed:
            return
        self._closed = True
        self.thoughts.close()
        self._leases.close()
        with self._group.turn:
            if self._leases.are_held:
                with suppress(JournalError), self._writing as connection:
                    self._leases.release_all(connection)
            self._writing.close()
        self._notifier.close()
        self._bell.ring()
        self._listener.close()
        self._reading.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _look(self, session: str | None, following: PositionFollower, after: int) -> Found | None:
        """A page of what comes after a position; None once the journal is closed."""
        try:
            if following.gap is None and following.has_lost(self._event_at, self._last):
                raise went_back(self._server.shown)
            if session is None:
                return following.look(after, Source(self._behind, self._holders))
            last = self.last_position()
            with self._read() as cursor:
                page = self._reads.behind(cursor, after, last, session)
        except JournalUnavailable:
            if self._closed:
                return None
            raise
        events = followed(page)
        return Found(events, events[-1].position if events else max(last, after))

    def _behind(self, position: int, upto: int) -> list[object]:
        with self._read() as cursor:
            return self._reads.behind(cursor, position, upto, None)

    def _event_at(self, position: int) -> tuple[bytes, int, int] | None:
        with self._read() as cursor:
            return self._reads.event_at(cursor, position)

    def _last(self) -> int:
        with self._read() as cursor:
            return self._reads.last_position(cursor)

    def _holders(self) -> Holders:
        with self._read() as cursor:
            return holders(self._server, cursor)

    def _wait_for(self, writers: Holders) -> None:
        end = monotonic() + PATIENCE
        while writers:
            if monotonic() > end:
                raise JournalUnavailable(
                    f"a transaction has been appending to {self._server.shown} for {PATIENCE:g} seconds: look for a "
                    "client that hangs (pg_stat_activity)"
                )
            sleep(SETTLING)
            writers = writers.still(self._holders())

    def _commit(self, batch: list[Append]) -> list[Outcome]:
        with self._writing as connection:
            outcomes = self._appends.commit(connection, batch)
        self._notifier.ring()
        self._bell.ring()
        return outcomes

    def _keep_lease(self, name: str, session: str, terms: str, process: str) -> None:
        self._check_process()
        with self._group.turn, self._writing as connection:
            self._leases.keep(connection, name, session, terms, process)

    def _release_lease(self, name: str) -> None:
        if self._owner == forks() and not self._closed:
            with self._group.turn, self._writing as connection:
                self._leases.release(connection, name)

    def _renew_leases(self) -> None:
        with self._group.turn, self._writing as connection:
            self._leases.renew(connection)

    def _written(self, session: str, written: KeyedEvents) -> Iterator[Recorded]:
        return self._pages(session, written.number, written.after, written.last)

    def _pages(self, session: str, number: int | None, after: int, last: int) -> Iterator[Recorded]:
        while after < last:
            with self._read() as cursor:
                page = self._reads.page(cursor, number, after, last)
                if not page and self._reads.find(cursor, session).number != number:
                    return  # the session was forgotten meanwhile
            yield from self._reads.recorded(page, session, after)
            after += len(page)

    def _stored_pages(self, number: int | None, after: int, last: int) -> Iterator[StoredPage]:
        while after < last:
            with self._read() as cursor:
                page = self._reads.stored_page(cursor, number, after, last)
            if not page.events:
                return
            yield page
            after = page.events[-1].seq

    @contextmanager
    def _write(self) -> Iterator[PostgresConnection]:
        """The connection for any write other than an append, with a notice to followers afterwards."""
        self._check_process()
        with self._group.turn:
            with self._writing as connection:
                yield connection
            self._notifier.ring()
        self._bell.ring()

    @contextmanager
    def _read(self) -> "Iterator[Cursor[tuple[Any, ...]]]":
        self._check_process()
        with self._reading as connection, connection.cursor(binary=True) as cursor:
            yield cursor

    def _check_process(self) -> None:
        if self._owner != forks():
            raise forked(self._server.shown)
