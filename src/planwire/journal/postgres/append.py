"""Appending to a PostgreSQL journal: one statement, one round trip, one commit.

The unique index over a session's event numbers is the lock: of two writers with the same number, the server takes one.
So a writer trusts what it knows of a session's end until the server refuses an append. Only then does it look the end
up, and either tries again or raises `Conflict`. A single event is sent as plain values, which costs a quarter less than
arrays.

The tables may have been replaced meanwhile, restored from a backup or made anew, and the same numbers may stand for
other sessions. So an event is only inserted after the very event that its writer knows as the last one, identified by
its link. And its session must still be there, and stay until the append commits: a `forget` waits for that, or the
append for the `forget`. (If either is missing, the new event's session comes out as NULL, which the column refuses.) A
foreign key would do the same, but take 7 percent of an append's time.

Appends of several threads share one statement: all are written, or none. If the server refuses that statement, they are
written one by one, as is every append that has to look something up first.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from random import random
from struct import Struct
from time import monotonic, sleep
from typing import Any, Final, TypeAlias

import psycopg
from psycopg import errors

from planwire.errors import Conflict, JournalUnavailable
from planwire.journal.chain import ChainEnd
from planwire.journal.codec import EventRow, chained, refuse_unless_next
from planwire.journal.group_commit import Append, Outcome
from planwire.journal.postgres.order import HOLD
from planwire.journal.postgres.quick import QuickStatement
from planwire.journal.postgres.refusals import meaning
from planwire.journal.postgres.rows import NO_END, KeyedEvents, Reads
from planwire.journal.postgres.server import JournalServer, PostgresConnection
from planwire.journal.protocol import Once, StoredAppend, StoredEvent
from planwire.model.events import Recorded

#: Seconds for which an append keeps trying while other writers come first.
PATIENCE: Final = 30.0

#: A session, held until the transaction ends; NULL if it or the event that must precede the new one is not there.
_SESSION: Final = "(SELECT number FROM planwire.sessions WHERE number = {} AND {} FOR KEY SHARE)"
_KNOWN: Final = """EXISTS (
        SELECT 1 FROM planwire.events WHERE session = {} AND seq = {} AND link IS NOT DISTINCT FROM {}
    )"""
_OF_ONE: Final = _SESSION.format("$1", _KNOWN.format("$1", "$2 - 1", "$7"))
_OF_MANY: Final = _SESSION.format("its", f"(after = 0 OR {_KNOWN.format('its', 'after', 'before')})")
_ONE: Final = f"""INSERT INTO planwire.events (session, seq, at, by, event, link)
    SELECT {_OF_ONE}, $2, $3, $4, $5, $6 FROM {HOLD}"""  # noqa: S608
_MANY: Final = f"""INSERT INTO planwire.events (session, seq, at, by, event, link)
    SELECT {_OF_MANY}, n, time, author, text, new FROM {HOLD}, unnest(
        %b::bigint[], %b::bigint[], %b::bytea[], %b::bigint[], %b::bigint[], %b::bytea[], %b::bytea[], %b::bytea[]
    ) rows (its, after, before, n, time, author, text, new)"""  # noqa: S608
_KEYS: Final = """WITH keys AS (INSERT INTO planwire.once (session, source, n, after, last)
    SELECT * FROM unnest(%b::bigint[], %b::bytea[], %b::bigint[], %b::bigint[], %b::bigint[]))
    """
#: The first events of a session, with its row.
_FIRST: Final = f"""WITH made AS (
        INSERT INTO planwire.sessions (id, first_at) SELECT %b, %b FROM {HOLD} RETURNING number
    ), keys AS (
        INSERT INTO planwire.once (session, source, n, after, last)
        SELECT number, new.* FROM made, unnest(%b::bytea[], %b::bigint[], %b::bigint[], %b::bigint[]) new
    ), events AS (
        INSERT INTO planwire.events (session, seq, at, by, event, link) SELECT number, new.*
        FROM made, unnest(%b::bigint[], %b::bigint[], %b::bytea[], %b::bytea[], %b::bytea[]) new
    )
    SELECT number FROM made"""  # noqa: S608
#: A row for `_MANY`: the number of a session, the number and link of the event that must precede the new one, and the
#: new event. (The preceding number is 0 if that event is in the same statement, or if there is none.)
_NewRow: TypeAlias = tuple[int | None, int, bytes | None, int, int, bytes, bytes, bytes | None]
#: The types bigint and bytea, as PostgreSQL numbers them.
_TYPES: Final = (20, 20, 20, 17, 17, 17, 17)
_bigint: Final = Struct("!q").pack

#: How the server refuses an append when what this process knew of the session is out of date.
REFUSED: Final = (errors.UniqueViolation, errors.ForeignKeyViolation, errors.NotNullViolation)


class Appends:
    """The writing side of a journal. `pages` reads the events that an earlier append with the same key wrote."""

    def __init__(
        self, server: JournalServer, reads: Reads, pages: Callable[[str, KeyedEvents], Iterator[Recorded]]
    ) -> None:
        self._sql = server.sql
        self._one = QuickStatement("planwire_append", server.sql(_ONE), _TYPES)
        self._shown = server.shown
        self._reads = reads
        self._pages = pages
        self._meaning = partial(meaning, server)
        self._known: dict[str, ChainEnd] = {}
        self._connection: PostgresConnection | None = None

    def commit(self, connection: PostgresConnection, batch: list[Append]) -> list[Outcome]:
        """Write a batch. `GroupCommit` makes sure that only one thread does so at a time.

        A new connection makes all that is known uncertain: it may lead to a promoted standby that lacks this process's
        last writes."""
        if connection is not self._connection:
            self._known.clear()
            self._connection = connection
        if len(batch) == 1:
            return [self._alone(connection, batch[0])]
        outcomes = self._together(connection, batch)
        for place, append in enumerate(batch):
            if place not in outcomes:
                try:
                    outcomes[place] = self._alone(connection, append)
                except JournalUnavailable as error:  # others are written already: each has its own outcome
                    outcomes[place] = error
                except psycopg.Error as error:
                    outcomes[place] = self._meaning(error, is_lost=bool(connection.closed))
        return [outcomes[place] for place in range(len(batch))]

    def store(self, connection: PostgresConnection, session: str, appends: Sequence[StoredAppend]) -> None:
        """Write events of another journal after the last one of a session."""
        self._known.pop(session, None)
        events = [each for append in appends for each in append.events]
        end = self._find(connection, session)
        refuse_unless_next(session, end.last, appends)
        try:
            if events:
                keys = [(each.once, each.events) for each in appends if each.once is not None and each.events]
                self._insert(connection, session, end, events, keys)
        except REFUSED:
            raise Conflict(session, end.last, self._find(connection, session).last) from None

    def add(self, connection: PostgresConnection, append: Append) -> None:
        """Write events in the caller's transaction. Raises `Conflict`, or psycopg's error if the server refuses."""
        end = self._find(connection, append.session)
        if append.expected is not None and append.expected != end.last:
            raise Conflict(append.session, append.expected, end.last)
        if append.rows:
            new = chained(append.session, end.last, end.link, append.rows)
            self._insert(connection, append.session, end, new, [], in_transaction=True)
            self._known.pop(append.session, None)  # the transaction may still be rolled back

    def _alone(self, connection: PostgresConnection, append: Append) -> Outcome:
        session, expected, once = append.session, append.expected, append.once
        end = self._known.get(session)
        give_up = 0.0
        while True:
            if end is None or not append.rows or (expected is not None and expected != end.last):
                end = self._find(connection, session)
                if once is not None and end.number is not None:
                    with connection.cursor(binary=True) as cursor:
                        written = self._reads.find_key(cursor, session, once)
                    if written is not None:
                        return self._pages(session, written)
                if expected is not None and expected != end.last:
                    return Conflict(session, expected, end.last)
                if not append.rows:
                    return ()
            new = chained(session, end.last, end.link, append.rows)
            try:
                return self._insert(connection, session, end, new, [] if once is None else [(once, new)], append.rows)
            except REFUSED:
                self._known.pop(session, None)
                now = monotonic()
                give_up = give_up or now + PATIENCE
                if now > give_up:
                    raise JournalUnavailable(
                        f"session {session!r} of {self._shown} is too busy: other writers came first for "
                        f"{PATIENCE:g} seconds. Nothing was written; try again"
                    ) from None
                sleep(random() / 2_000)  # noqa: S311
                end = None

    def _together(self, connection: PostgresConnection, batch: list[Append]) -> dict[int, Outcome]:
        """Write those appends that can share one statement. Returns their outcomes by place in the batch."""
        ends: dict[str, ChainEnd] = {}
        outcomes: dict[int, Outcome] = {}
        rows: list[_NewRow] = []
        keys: dict[tuple[int | None, Once], tuple[int, int]] = {}
        for place, append in enumerate(batch):
            end = ends.get(append.session) or self._known.get(append.session)
            key = None if append.once is None or end is None else (end.number, append.once)
            if end is None or not append.rows or append.expected not in (None, end.last) or key in keys:
                continue
            new = chained(append.session, end.last, end.link, append.rows)
            rows += _behind(end, new, is_written=append.session not in ends)
            if key is not None:
                keys[key] = end.last, new[-1].seq
            outcomes[place] = _recorded(append.session, append.rows, end.last)
            ends[append.session] = ChainEnd(end.number, new[-1].seq, new[-1].link)
        if not rows:
            return {}
        rows.sort(key=lambda row: (row[0], row[3]))  # all batches lock in the same order
        values = _columns(rows)
        statement = _MANY
        if keys:
            named = [(number, once.source.encode(), once.n, *span) for (number, once), span in keys.items()]
            statement, values = f"{_KEYS}{_MANY}", [*_columns(named), *values]
        try:
            connection.execute(self._sql(statement), values, prepare=True)
        except (*REFUSED, errors.DeadlockDetected):
            for session in ends:
                self._known.pop(session, None)
            return {}
        self._known.update(ends)
        return outcomes

    def _insert(
        self,
        connection: PostgresConnection,
        session: str,
        end: ChainEnd,
        events: Sequence[StoredEvent],
        keys: Sequence[tuple[Once, Sequence[StoredEvent]]],
        rows: Sequence[EventRow] = (),
        *,
        in_transaction: bool = False,
    ) -> tuple[Recorded, ...]:
        """Write events after the end of a session, which may be new, and remember the new end. Returns `rows` as
        recorded."""
        number = end.number
        if number is not None and end.last and len(events) == 1 and not (keys or in_transaction):
            [each] = events
            one = [_bigint(number), _bigint(each.seq), _bigint(each.at), each.by.encode(), each.text, each.link]
            self._one.send(connection, [*one, end.link])
            recorded, after = _recorded(session, rows, end.last), ChainEnd(number, each.seq, each.link)
            self._one.finish()
            self._known[session] = after
            return recorded
        named = [(once.source.encode(), once.n, written[0].seq - 1, written[-1].seq) for once, written in keys]
        by_column = _columns(named) or [[], [], [], []]
        if number is None:
            values: list[Any] = [session.encode(), events[0].at, *by_column, *_columns(map(_values, events))]
            [[number]] = connection.execute(self._sql(_FIRST), values, prepare=True).fetchall()
        else:
            values = _columns(_behind(end, events))
            if named:
                values = [[number] * len(named), *by_column, *values]
            connection.execute(self._sql(f"{_KEYS}{_MANY}" if named else _MANY), values, prepare=True)
        self._known[session] = ChainEnd(number, events[-1].seq, events[-1].link)
        return _recorded(session, rows, end.last)

    def _find(self, connection: PostgresConnection, session: str) -> ChainEnd:
        with connection.cursor(binary=True) as cursor:
            found = self._reads.find(cursor, session)
        self._known.pop(session, None)
        if found is not NO_END:
            self._known[session] = found
        return found


def _recorded(session: str, rows: Sequence[EventRow], last: int) -> tuple[Recorded, ...]:
    return tuple([Recorded(session, seq, row.at, row.by, row.event) for seq, row in enumerate(rows, start=last + 1)])


def _values(event: StoredEvent) -> tuple[int, int, bytes, bytes, bytes | None]:
    return event.seq, event.at, event.by.encode(), event.text, event.link


def _behind(end: ChainEnd, events: Sequence[StoredEvent], *, is_written: bool = True) -> list[_NewRow]:
    """The rows of events after an end. If the end `is_written` already, the first row requires that it is there."""
    after, before = (end.last, end.link) if is_written else (0, None)
    first, *others = events
    rows = [(end.number, after, before, *_values(first))]
    return rows + [(end.number, 0, None, *_values(each)) for each in others]


def _columns(rows: Iterable[tuple[Any, ...]]) -> list[list[Any]]:
    return [list(column) for column in zip(*rows, strict=True)]
