"""The steps in the SQLite database of a Copilot session, read without ever writing to it.

The table is private to the agent and the model may change it by any SQL, so anything unexpected is left out. A database
that can't be read now says nothing: the next statement about it brings another chance.
"""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

from planwire.model.plan import Entry
from planwire.model.statuses import DEFAULT_STATUS

#: The most steps to read. No one reads a longer plan.
_MOST: Final = 1_000
_BUSY_SECONDS: Final = 0.05


def todos_in(path: str) -> tuple[Entry, ...] | None:
    """The steps, in the order in which they were made; None if there is no such database, or no such table in it."""
    try:
        file = Path(path).expanduser()
        if not file.is_file():
            return None
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True, timeout=_BUSY_SECONDS)) as opened:
            rows = opened.execute("SELECT title, status FROM todos ORDER BY rowid LIMIT ?", (_MOST,)).fetchall()
    except (sqlite3.Error, OSError, RuntimeError, ValueError, UnicodeError):
        return None
    return tuple(
        Entry(title, None, status if isinstance(status, str) and status else DEFAULT_STATUS)
        for title, status in rows
        if isinstance(title, str) and title.strip()
    )
