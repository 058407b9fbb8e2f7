"""Whether a journal and the log beside it belong together: the chain of hashes tells.

SQLite applies any whole log to any file. A backup that was copied beside the log of its successor becomes a mixture of
both. What SQLite makes of file and log after a power cut is sound, even if pages of the file are torn. So planwire does
not read the log. It asks SQLite for the newest events, and checks that each continues the one before it, from the last
event in the file on: a mixture has a hole or a wrong event right behind that.

The file by itself counts only if its last event has the right link: it may be in the middle of a checkpoint.
"""

import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from planwire.errors import DamagedJournal
from planwire.journal.chain import NO_LINK, link
from planwire.journal.sqlite.file import connect, file_alone
from planwire.journal.sqlite.rows import Executor, last_position

#: Events that are checked at most. The hole in a mixture is right behind the last event of the file.
_MOST: Final = 100
_LAST_ENDS: Final = """SELECT link FROM (SELECT number FROM sessions ORDER BY number DESC LIMIT 50), events
    WHERE session = number AND seq = (SELECT max(seq) FROM events WHERE session = number)"""
_LINKS: Final = """SELECT id, each.seq, each.at, each.by, CAST(each.event AS BLOB), each.link, each.position,
    before.seq, before.link FROM events AS each LEFT JOIN sessions ON number = each.session
    LEFT JOIN events AS before ON before.session = each.session AND before.seq = each.seq - 1
    WHERE each.position >= ? ORDER BY each.position LIMIT ?"""


class MixedJournal(DamagedJournal):
    """A file and a log that don't belong together. They can be read, and must not be written."""


class FileEnd(NamedTuple):
    """A file without its log: its layout, which a VACUUM or a copy by SQLite changes, and its last event."""

    layout: int
    position: int
    link: bytes | None


def file_end(path: Path) -> FileEnd | None:
    """How a file ends without its log; None if it can't tell, as in the middle of a checkpoint."""
    with suppress(sqlite3.DatabaseError), file_alone(path) as file:
        file.execute("PRAGMA writable_schema = OFF")  # a file that is shorter than it says is no witness
        last = last_position(file)
        rows = file.execute(_LINKS, (last, 1)).fetchall()
        if all(map(_fits, rows)):
            return FileEnd(_layout(file), last, rows[0][5] if rows else None)
    return None


def contradicts(view: Executor, end: FileEnd) -> bool:
    """Whether a file can't have become what SQLite sees through the log: it is ahead, or has another event."""
    if end.layout > _layout(view) or end.position > last_position(view):
        return True
    found = view.execute("SELECT link FROM events WHERE position = ? AND session <> 0", (end.position,)).fetchone()
    return None not in (found, end.link) and found != (end.link,)


def refuse_mixture(path: Path, patience: float) -> None:
    """Raise `MixedJournal` if a journal and its log don't fit together. Changes neither."""
    log = Path(f"{path}-wal")
    if not log.exists() or not log.stat().st_size:
        return
    end = file_end(path)
    with closing(connect(path, patience, "ro")) as view:
        try:
            view.execute(_LAST_ENDS).fetchall()  # an index of other events than those in the table is malformed
            first = last_position(view) - _MOST if end is None else end.position
            fits = all(map(_fits, view.execute(_LINKS, (first, _MOST))))
            fits = fits and (end is None or not contradicts(view, end))
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError:
            fits = False
    if not fits:
        raise MixedJournal(
            f"the journal {path} and its log {log.name} don't fit together: the newest events don't continue those "
            "before them, as if one of the files were a copy from another time. It can be read, and is not written; "
            "nothing was changed. See what is in it with planwire journal verify, and restore a backup with planwire "
            "journal restore, which keeps both files aside"
        )


def _fits(row: tuple[Any, ...]) -> bool:
    session, seq, at, by, text, made, _, before, before_link = row
    if made is None:  # a forgotten event, or one that another program wrote
        return True
    with suppress(TypeError, AttributeError):
        follows = before is not None or seq == 1
        return bool(follows and made == link(before_link or NO_LINK, session, seq, at, by, text))
    return False


def _layout(connection: Executor) -> int:
    return int(connection.execute("PRAGMA schema_version").fetchone()[0])
