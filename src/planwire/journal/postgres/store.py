"""A store in a PostgreSQL database, which many machines may write and follow at once.

When an append returns, it is as safe as the server makes a commit: `facts` says how safe that is. All writes of this
process share one connection; reads have another. Notices between processes use two more, made by the first append and
the first `tail` (`notices`). Any trouble with a connection is raised as `EngineAway`, and the next call connects anew.

A forgotten session is out of reach at once. Its bytes stay in the server's files until they are overwritten after an
autovacuum, or until the owner runs `VACUUM FULL`. Backups and archived logs keep them for as long as those are kept.
"""

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, Final

import psycopg

from planwire.errors import JournalUnavailable
from planwire.journal import leases
from planwire.journal.checked import Trouble
from planwire.journal.postgres import checks, notices, rows
from planwire.journal.postgres.facts import read_facts
from planwire.journal.postgres.line import ServerLine
from planwire.journal.postgres.notices import Listener, NoticeBell, Notifier
from planwire.journal.postgres.order import SETTLING, Holders, PositionFollower, holders
from planwire.journal.postgres.schema import check_format, make_tables
from planwire.journal.postgres.server import JournalServer
from planwire.journal.protocol import JournalFacts
from planwire.journal.store import (
    ANY,
    AnyValue,
    Append,
    Appended,
    SessionEnd,
    StoredPage,
    StoreEntry,
    TailPage,
    TailRow,
)
from planwire.journal.unusable import went_back
from planwire.journal.user_files import thoughts_path

if TYPE_CHECKING:
    from psycopg import Cursor

#: Seconds that the end of the journal is waited for while transactions are under way. The server ends one whose client
#: is gone sooner.
PATIENCE: Final = 15.0
#: Seconds between two pages of a tail while nothing comes.
GLANCE: Final = 0.022
#: Seconds that a `delete` of many events may take.
FORGETTING: Final = 600.0


class PostgresStore:
    """A `Store` in a schema of a PostgreSQL database. Makes the tables if `create` says so; else they must exist."""

    has_clock = True

    def __init__(self, url: str, create: bool = True) -> None:
        self.server = server = JournalServer(url)
        self.where = server.shown
        self.thoughts = str(thoughts_path(server.place))
        check = partial(check_format, server)
        self._writing = ServerLine(
            server, partial(make_tables, server) if create else check, plan_cache_mode="force_generic_plan"
        )
        self._reading = ServerLine(server, check)
        self._bell = NoticeBell()
        self._notifier = Notifier(server, ServerLine(server, check, synchronous_commit="off"))
        self._listener = Listener(server, self._bell)
        self._append_one = server.sql(rows.APPEND_ONE)
        self._settled = 0  # the last position that was asked for: no event at or below it is still to come
        self._closed = False
        with self._writing:
            self._writing.greet = check  # tables dropped under an open journal are not made again

    @property
    def is_hasty(self) -> bool:
        """Whether the store gives up on its server soon (see `haste`)."""
        return self.server.is_hasty

    @is_hasty.setter
    def is_hasty(self, value: bool) -> None:
        self.server.is_hasty = value

    def append(self, appends: Sequence[Append]) -> Sequence[Appended | Exception]:
        """One statement, one round trip, one commit. If the server refuses it, each append gets a statement of its
        own."""
        try:
            outcomes: Sequence[Appended | Exception] = self._appended(appends)
        except JournalUnavailable:
            if len(appends) == 1 or not self._writing.is_connected:
                raise
            outcomes = [self._outcome(each) for each in appends]
        self._tell()
        return outcomes

    def read(self, end: SessionEnd, after: int, upto: int, *, keys: bool = False) -> StoredPage:
        with self._reads() as cursor:
            found = self._ask(cursor, rows.READ, end.number, rows.bounded(after), rows.bounded(upto))
            page = [rows.stored(*row) for row in found]
            known = self._ask(cursor, rows.KEYS, end.number, page[0].seq, page[-1].seq) if keys and page else []
            return StoredPage(page, rows.key_spans(known))

    def tail(self, after: int | None) -> Generator[TailPage, None, None]:
        if after is None:
            after = self._last_settled()
            yield TailPage([], after, is_end=True)
        follower = PositionFollower(after, self._behind, self._holders)
        asked = 0.0
        with self._bell.listening() as rung:
            while not self._closed:
                if follower.had is not None and monotonic() - asked > notices.TRUST:
                    asked = monotonic()
                    if follower.has_lost(self._last):
                        raise went_back(self.where)
                page = follower.look()
                yield page
                if not page.is_end:
                    rung.acquire(timeout=0 if page.rows else SETTLING)
                    continue
                self._listener.start()
                look_at = monotonic() + self._bell.trust
                while (
                    not rung.acquire(timeout=min(GLANCE, self._bell.trust))
                    and not self._closed
                    and monotonic() < look_at
                ):
                    yield TailPage([], page.position, is_end=True)

    def ends(self, session: str | None = None) -> list[SessionEnd]:
        with self._reads() as cursor:
            if session is not None:
                return [rows.end_in(row) for row in self._ask(cursor, rows.ONE_END, session.encode())]
            return [rows.end_in(row) for row in self._ask(cursor, rows.ALL_ENDS) if rows.is_utf8(row[0])]

    def delete(self, sessions: Sequence[str]) -> None:
        with self._writing as connection, connection.transaction(), connection.taking(FORGETTING):
            rows.delete_sessions(self.server.sql, connection, sessions)
        self._tell()

    def get(self, kind: str, session: str | None = None, name: str | None = None) -> list[StoreEntry]:
        with self._reads() as cursor:
            if session is not None and name is not None:
                return rows.entries(self._ask(cursor, rows.GET_ONE, kind, session.encode(), name.encode()))
            return rows.entries(self._ask(cursor, f"{rows.GET} ORDER BY number", kind))

    def put(
        self, kind: str, session: str, name: str, value: bytes | None, instead: bytes | AnyValue | None = ANY
    ) -> bool:
        key, was = (kind, session.encode(), name.encode()), instead if isinstance(instead, bytes) else None
        if value is None:
            condition, more = (" AND value = %b", (was,)) if was is not None else ("", ())
            statement, values = f"{rows.REMOVE}{condition}", (*key, *more)
        elif was is not None:
            statement, values = rows.REPLACE, (value, *key, was)
        else:
            change = "UPDATE SET value = excluded.value" if instead is ANY else "NOTHING"
            statement, values = f"{rows.ADD}{change}", (*key, value)
        with self._writing as connection:
            return bool(connection.execute(self.server.sql(statement), values).rowcount) or instead is ANY

    def alive(self, holder: str, seconds: float | None = None) -> bool:
        sql, name = self.server.sql, holder.encode()
        if seconds is not None:
            with self._writing as connection:
                if seconds:
                    connection.execute(sql(rows.STATE_ALIVE), (name, seconds))
                else:
                    connection.execute(sql("DELETE FROM planwire.holders WHERE name = %b"), (name,))
            return bool(seconds)
        with self._reads() as cursor:
            found = cursor.execute(sql(rows.IS_ALIVE), (leases.TTL, name)).fetchone()
            return found is not None and bool(found[0])

    def facts(self) -> JournalFacts:
        with self._reading as connection:
            return read_facts(self.server, connection)

    def troubles(self) -> Iterator[Trouble]:
        """What is wrong with the tables (see `checked`)."""
        with self._reading as connection, connection.transaction(), connection.taking(checks.CHECKING):
            return iter([*checks.troubles(self.server, connection.cursor(binary=True))])

    def close(self) -> None:
        self._closed = True
        self._writing.close()
        self._notifier.close()
        self._bell.ring()
        self._listener.close()
        self._reading.close()

    def _outcome(self, append: Append) -> Appended | Exception:
        try:
            return self._appended([append])[0]
        except JournalUnavailable as error:
            return error

    def _appended(self, appends: Sequence[Append]) -> list[Appended]:
        append = appends[0]
        with self._writing as connection:
            if len(appends) == len(append.rows) == 1 and append.after.link and not append.keys:
                with suppress(psycopg.errors.UniqueViolation, psycopg.errors.NotNullViolation):  # the end is elsewhere
                    position = connection.quickly(self._append_one, rows.TYPES_OF_ONE, rows.values_of_one(append))
                    return [rows.appended_one(append, position)]
            ordered = sorted(enumerate(appends), key=lambda each: each[1].session)  # all batches lock in the same order
            with connection.cursor(binary=True) as cursor:
                found = self._ask(cursor, rows.APPEND, *rows.append_values([each for _, each in ordered]))
        outcomes = {place: rows.appended(each, row) for (place, each), row in zip(ordered, found, strict=True)}
        return [outcomes[place] for place in range(len(appends))]

    def _tell(self) -> None:
        """Tell those who follow, here and elsewhere, that something was written."""
        self._notifier.ring()
        self._bell.ring()

    def _last(self) -> int:
        with self._reads() as cursor:
            [[found]] = self._ask(cursor, rows.LAST)
            return int(found)

    def _last_settled(self) -> int:
        """The position of the last event. Waits until no event at or below it is still to come."""
        last = self._last()
        if last != self._settled:  # also if it went back: a restored backup has its own transactions under way
            writers, give_up = self._holders(), monotonic() + PATIENCE
            while writers:
                if monotonic() > give_up:
                    raise JournalUnavailable(
                        f"a transaction has been appending to {self.where} for {PATIENCE:g} seconds: look for a "
                        "client that hangs (pg_stat_activity)"
                    )
                sleep(SETTLING)
                writers = writers.still(self._holders())
            self._settled = last
        return last

    def _behind(self, after: int, upto: int) -> list[TailRow]:
        with self._reads() as cursor:
            return rows.tail_rows(self._ask(cursor, rows.TAIL, rows.bounded(after), rows.bounded(upto)))

    def _holders(self) -> Holders:
        with self._reads() as cursor:
            return holders(self.server, cursor)

    def _ask(self, cursor: "Cursor[tuple[Any, ...]]", statement: str, *values: Any) -> list[Any]:
        return cursor.execute(self.server.sql(statement), values, prepare=True).fetchall()

    @contextmanager
    def _reads(self) -> "Iterator[Cursor[tuple[Any, ...]]]":
        with self._reading as connection, connection.cursor(binary=True) as cursor:
            yield cursor
