"""The chain of hashes in a SQLite journal (`chain`): a column for the link of each event, and events as they are kept.

A new file has the column from the start. A file of an older planwire gets it with the next append, and the number of
its format stays as it is (see `sqlite_keys`): an older planwire goes on working with the file, names the columns that
it writes, and so leaves its events without a link. The chain begins anew behind them.
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from itertools import groupby
from typing import Any, Final

from planwire.journal import sqlite_keys as keys
from planwire.journal import sqlite_rows as rows
from planwire.journal.chain import ChainEnd
from planwire.journal.protocol import StoredAppend, StoredEvent

__all__ = ["ADD_COLUMN", "add_column", "chain_end", "has_column", "stored_appends"]

ADD_COLUMN: Final = "ALTER TABLE events ADD COLUMN link BLOB"
_HAS: Final = "SELECT 1 FROM pragma_table_info('events') WHERE name = 'link'"
_END: Final = """SELECT number, seq, link FROM sessions LEFT JOIN events ON session = number
    AND seq = (SELECT max(seq) FROM events WHERE session = number) WHERE id = ?"""
_STORED: Final = """SELECT CAST(event AS BLOB), seq, at, by, {} FROM events
    WHERE session = ? AND seq > ? ORDER BY seq"""


def has_column(connection: rows.Executor) -> bool:
    return connection.execute(_HAS).fetchone() is not None


def add_column(connection: rows.Executor) -> None:
    """Give a file of an older planwire the column, unless another process did."""
    if not has_column(connection):
        connection.execute(ADD_COLUMN)


def chain_end(connection: rows.Executor, session: str) -> ChainEnd:
    number, last, link = connection.execute(_END, (rows.bindable(session),)).fetchone() or (None, None, None)
    return ChainEnd(number, last or 0, link)


def stored_appends(
    reads: Callable[[], AbstractContextManager[sqlite3.Connection]], session: str, after: int
) -> Iterator[StoredAppend]:
    """A session's events behind a number, a page at a time. What was written with one key comes together."""
    with reads() as reader:
        number = rows.find(reader, session).number
        column, has_keys = "link" if has_column(reader) else "NULL", keys.has_table(reader)
    held: list[StoredEvent] = []  # of the key that the page before ended with
    while True:
        with reads() as reader:
            page = rows.page(reader.execute(_STORED.format(column), (number, after)))
            by_key = keys.between(reader, number, after, page[-1][1]) if page and has_keys else []
        if not page:
            break
        end = page[-1][1]
        events = held + [_stored(*row) for row in page]
        *groups, last = [(key, tuple(each)) for key, each in groupby(events, _KeyOfEvent(by_key))]
        for key, group in groups:
            yield StoredAppend(group, key.once if key else None)
        key, group = last
        held = list(group) if key is not None and key.last > end else []
        if not held:
            yield StoredAppend(group, key.once if key else None)
        after = end
    if held:  # the rest of what was written with the key is missing
        yield StoredAppend(tuple(held))


def _stored(text: bytes, seq: int, at: int, by: str, link: bytes | None) -> StoredEvent:
    return StoredEvent(seq, at, by, text, link)


class _KeyOfEvent:
    """The key of an event, if it has one, for events in their order."""

    def __init__(self, by_key: "list[keys.Keyed]") -> None:
        self._ahead = by_key[::-1]

    def __call__(self, event: Any) -> "keys.Keyed | None":
        while self._ahead and self._ahead[-1].last < event.seq:
            self._ahead.pop()
        found = self._ahead[-1] if self._ahead else None
        return found if found and found.after < event.seq else None
