"""The checks of a SQLite journal on its own file: SQLite's own, and rows that belong together."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Final

from planwire.journal.checked import Trouble
from planwire.journal.sqlite import rows

#: The most problems of a file that SQLite is asked to list.
_MOST: Final = 20
#: Queries for rows that don't belong together, and what is wrong with what they find.
_STRAY: Final = (
    (
        """SELECT position FROM events LEFT JOIN sessions ON number = session
        WHERE session <> 0 AND id IS NULL ORDER BY position""",
        "the event at position {} belongs to no session",
    ),
    (
        """SELECT position FROM events JOIN sessions ON number = session
        WHERE typeof(id) <> 'text' ORDER BY position""",
        "the event at position {} belongs to a session whose name is not valid text",
    ),
    (
        """SELECT id, (SELECT max(seq) FROM events WHERE session = number) AS end, max(last) AS keyed
        FROM once JOIN sessions ON number = once.session GROUP BY number HAVING end < keyed""",
        "session {!r} ends with event {}, but had {} events",
    ),
)
_ODD_NUMBERS: Final = "SELECT DISTINCT id FROM events JOIN sessions ON number = session WHERE typeof(seq) <> 'integer'"
#: Sessions without a first event, which no list shows, and whether they have other events.
_HEADLESS: Final = """SELECT id, EXISTS (SELECT 1 FROM events WHERE session = number) FROM sessions
    WHERE NOT EXISTS (SELECT 1 FROM events WHERE session = number AND seq = 1)"""


def troubles(reads: Callable[[], AbstractContextManager[sqlite3.Connection]]) -> Iterator[Trouble]:
    """All that is wrong with the file, each trouble with its session and event where there is one."""
    with reads() as reader:
        said = [f"SQLite says of the file: {line}" for (line,) in reader.execute(f"PRAGMA integrity_check({_MOST})")]
        said = [words for words in said if not words.endswith(": ok")]
        for query, words in _STRAY:
            said += [words.format(*row) for row in reader.execute(query)]
        for *key, check in reader.execute("SELECT session, source, n, after, last, checksum FROM once"):
            if check != rows.key_checksum(*key):
                said.append(f"the key {key[2]} of {key[1]!r} is not as it was written")
        found = [Trouble(words) for words in said]
        for (session,) in reader.execute(_ODD_NUMBERS):
            found.append(Trouble(f"session {session!r} has an event whose number is not an integer", session))
        for session, has_events in reader.execute(_HEADLESS):
            words = f"event 1 of session {session!r} is missing" if has_events else f"session {session!r} has no events"
            found.append(Trouble(words, session, 1 if has_events else None))
    yield from found
