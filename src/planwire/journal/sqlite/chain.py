"""The chain of hashes in a SQLite journal (`chain`): the column `link`, and events as they are stored."""

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

_END: Final = """SELECT number, seq, link FROM sessions LEFT JOIN events ON session = number
    AND seq = (SELECT max(seq) FROM events WHERE session = number AND seq < 9223372036854775807) WHERE id = ?"""
_STORED: Final = """SELECT CAST(event AS BLOB), seq, at, by, link, checksum FROM events
    WHERE session = ? AND seq > ? ORDER BY seq"""


def chain_end(connection: rows.Executor, session: str) -> ChainEnd:
    number, last, link = connection.execute(_END, (rows.bindable(session),)).fetchone() or (None, None, None)
    return ChainEnd(number, last or 0, link if isinstance(link, bytes) else None)


def stored_pages(
    reads: Callable[[], AbstractContextManager[sqlite3.Connection]], path: Path, session: str, after: int
) -> Iterator[StoredPage]:
    """A session's events after a number, a page at a time."""
    with reads() as reader:
        number = rows.find(reader, session).number
    while True:
        with reads() as reader:
            page = rows.page(reader.execute(_STORED, (number, after)))
            by_key = keys.between(reader, number, after, page[-1][1]) if page else []
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
