"""The chain of hashes in a SQLite journal (`chain`): a column for each event's link, and events as they are stored.

A new file has the column from the start. A file of an older planwire gets it with the next append, and the number of
its format stays as it is (see `keys`). So an older planwire goes on working with the file. It names the columns that it
writes, and so leaves its events without a link; the chain starts over after them.
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Final

from planwire.journal.chain import ChainEnd
from planwire.journal.protocol import StoredEvent
from planwire.journal.sqlite import keys, rows
from planwire.journal.sqlite.errors import damaged
from planwire.journal.stored_pages import StoredPage

__all__ = ["ADD_COLUMN", "add_column", "chain_end", "has_column", "stored_pages"]

ADD_COLUMN: Final = "ALTER TABLE events ADD COLUMN link BLOB"
_HAS: Final = "SELECT 1 FROM pragma_table_info('events') WHERE name = 'link'"
_END: Final = """SELECT number, seq, link FROM sessions LEFT JOIN events ON session = number
    AND seq = (SELECT max(seq) FROM events WHERE session = number AND seq < 9223372036854775807) WHERE id = ?"""
_STORED: Final = """SELECT CAST(event AS BLOB), seq, at, by, {}, checksum FROM events
    WHERE session = ? AND seq > ? ORDER BY seq"""


def has_column(connection: rows.Executor) -> bool:
    return connection.execute(_HAS).fetchone() is not None


def add_column(connection: rows.Executor) -> None:
    """Give a file of an older planwire the column, unless another process already did."""
    if not has_column(connection):
        connection.execute(ADD_COLUMN)


def chain_end(connection: rows.Executor, session: str) -> ChainEnd:
    number, last, link = connection.execute(_END, (rows.bindable(session),)).fetchone() or (None, None, None)
    return ChainEnd(number, last or 0, link if isinstance(link, bytes) else None)


def stored_pages(
    reads: Callable[[], AbstractContextManager[sqlite3.Connection]], path: Path, session: str, after: int
) -> Iterator[StoredPage]:
    """A session's events after a number, a page at a time."""
    with reads() as reader:
        number = rows.find(reader, session).number
        column, has_keys = "link" if has_column(reader) else "NULL", keys.has_table(reader)
    while True:
        with reads() as reader:
            page = rows.page(reader.execute(_STORED.format(column), (number, after)))
            by_key = keys.between(reader, number, after, page[-1][1]) if page and has_keys else []
        if not page:
            return
        if not all(isinstance(row[1], int) for row in page):
            raise damaged(path, f"session {session!r} has an event whose number is not an integer")
        yield StoredPage([_stored(session, *row) for row in page], by_key)
        after = page[-1][1]


def _stored(session: str, text: bytes, seq: int, at: Any, by: Any, link: Any, check: Any) -> StoredEvent:
    """An event as it is stored. Another program may have put values of any type there: SQLite accepts them."""
    fits = isinstance(at, int) and isinstance(by, str) and isinstance(link, bytes | None)
    is_sound = fits and check == rows.checksum(session, seq, at, by, text)
    if not fits:
        at, by, link = at if isinstance(at, int) else 0, str(by), link if isinstance(link, bytes) else None
    return StoredEvent(seq, at, by, text, link, is_sound)
