"""The checks of a SQLite journal on its own file: SQLite's own, checksums, and rows that belong together."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any, Final

from planwire.journal.checked import PositionCheck, Trouble
from planwire.journal.sqlite import keys, rows

#: The most problems of a file that SQLite is asked to list.
_MOST: Final = 20
_EVENTS: Final = """SELECT CAST(event AS BLOB), seq, at, by, checksum, session, position, id
    FROM events LEFT JOIN sessions ON number = session WHERE position > ? AND session <> 0 ORDER BY position"""
#: Sessions without a first event, which no list shows, and whether they have other events.
_HEADLESS: Final = """SELECT id, EXISTS (SELECT 1 FROM events WHERE session = number) FROM sessions
    WHERE NOT EXISTS (SELECT 1 FROM events WHERE session = number AND seq = 1)"""


def troubles(reads: Callable[[], AbstractContextManager[sqlite3.Connection]]) -> Iterator[Trouble]:
    """All that is wrong with the file, each trouble with its session and event where there is one."""
    with reads() as reader:
        found = [line for (line,) in reader.execute(f"PRAGMA integrity_check({_MOST})")]
    yield from (Trouble(f"SQLite says of the file: {line}") for line in found if line != "ok")
    check, position = PositionCheck(), -(2**63)
    while True:
        with reads() as reader:
            page = rows.page(reader.execute(_EVENTS, (position,)))
        if not page:
            break
        position = page[-1][-2]
        for row in page:
            yield from _of_event(check, row)
    with reads() as reader:
        wrong = [Trouble(words) for words in keys.troubles(reader)]
        for session, has_events in reader.execute(_HEADLESS):
            words = f"event 1 of session {session!r} is missing" if has_events else f"session {session!r} has no events"
            wrong.append(Trouble(words, session, 1 if has_events else None))
    yield from wrong


def _of_event(check: PositionCheck, row: tuple[Any, ...]) -> Iterator[Trouble]:
    text, seq, at, by, checksum, number, position, session = row
    if session is None:
        yield Trouble(f"the event at position {position} belongs to no session")
    elif not isinstance(session, str):
        yield Trouble(f"the event at position {position} belongs to a session whose name is not valid text")
    elif checksum != rows.checksum(session, seq, at, by, text):
        wrong = f"event {seq} of session {session!r} is not as it was written"
        yield Trouble(wrong, session, seq if isinstance(seq, int) else None)
    elif isinstance(seq, int):
        yield from check.troubles(number, session, seq, position)
