"""Whether the write-ahead log beside a journal belongs to it.

SQLite applies whatever log lies beside a file, as long as the log is whole. A journal restored from a backup, with the
log of its predecessor still there, would so be overwritten page by page: what comes out is neither of the two. Nothing
in SQLite's own format tells the log of this file from that of another, so planwire says it in the data.

Every transaction links itself to the one before it: a row holds a number for the state that the transaction makes, the
number of the state that it found, and the version of the layout that it found (SQLite's schema cookie, which a VACUUM
or a copy by SQLite's own means changes too). The row lies alone on its page. So the log holds the row of each of its
transactions, and the file without the log holds one row as well. The two belong together if the file's state is the
one that the log begins with, or one that the log made: a checkpoint copies pages from the log to the file, in the
middle of which a process may die, but a page is old or new and never both. Any other state is a stranger's: an older
backup, a newer one, another journal.

The row is one of `sqlite_sequence`, a table that SQLite lets programs write to, and that every journal has: no format
changes, and a planwire that knows nothing of links neither minds them nor makes them. A log without links says nothing,
and is believed. The state of a file from before the first link is the position of its last event.
"""

import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final, NamedTuple

from planwire.errors import DamagedJournal

__all__ = ["add_link", "refuse_foreign_log"]

#: The mark, the state found, the state made and the layout found, each of a fixed length: easy to find in a raw page.
_MARK: Final = b"planwire-log "
_LINK: Final = re.compile(rb"planwire-log ([0-9a-f]{16}) ([0-9a-f]{16}) ([0-9a-f]{8})")
_ADD: Final = """UPDATE sqlite_sequence SET name = 'planwire-log ' || substr(name, 31, 16) || ' ' || ? || ' ' || ?
    WHERE name GLOB 'planwire-log *'"""
_FIRST: Final = "INSERT INTO sqlite_sequence (name, seq) VALUES (?, 0)"
_READ: Final = "SELECT substr(name, 31, 16) FROM sqlite_sequence WHERE name GLOB 'planwire-log *'"
_LAST: Final = "SELECT printf('%016x', max(position)) FROM events"
#: Numbers of states are random and begin with this. Positions of events begin with 0.
_DRAWN: Final = "f"

# https://www.sqlite.org/fileformat2.html#the_write_ahead_log
_MAGIC: Final = (b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83")
_LOG_HEAD: Final = 32
_FRAME_HEAD: Final = 24
_FIRST_PAGE: Final = b"\0\0\0\1"
_SCHEMA_COOKIE: Final = slice(_FRAME_HEAD + 40, _FRAME_HEAD + 44)
#: Pages of the log to read at a time. The link that fits is usually among the first, and the rest need not be read.
_AT_A_TIME: Final = 64


class _FileState(NamedTuple):
    """A journal without its log: the state that it is in, and its layout."""

    state: bytes
    layout: bytes


def add_link(connection: sqlite3.Connection) -> None:
    """Link a transaction that has just begun to the one before it."""
    layout = _layout(connection).hex()
    made = _DRAWN + os.urandom(8).hex()[1:]
    if not connection.execute(_ADD, (made, layout)).rowcount:
        (found,) = connection.execute(_LAST).fetchone()
        connection.execute(_FIRST, (f"{_MARK.decode()}{found} {made} {layout}",))


def refuse_foreign_log(path: Path) -> None:
    """Raise `DamagedJournal` if the log beside a journal is another one's. Reads both and changes neither.

    A live journal may move on between the look at its file and the look at its log. A stranger's log does not: so it
    must fail to fit twice, with nothing changed in between.
    """
    log = Path(f"{path}-wal")
    seen: tuple[_FileState, bytes] | None = None
    while (head := _log_head(log)) and (file := _file_state(path)):
        if _fits(file, _frames(log, head)):
            return
        if seen == (file, head):
            raise DamagedJournal(
                f"the journal {path} and its log {log.name} don't belong together: the log is that of another file, or "
                "of another state of this one, and would overwrite what is in it. Nothing was touched. If you restored "
                f"{path.name} from a backup, move {log.name} and {path.name}-shm out of the folder and open it again; "
                f"otherwise put the {path.name} back that the log belongs to"
            )
        seen = file, head


def _file_state(path: Path) -> _FileState | None:
    """None if the file can't be read without its log, as in the middle of a checkpoint."""
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
        try:
            connection.execute("PRAGMA writable_schema = ON")  # a file may have grown on its first page only
            (state,) = connection.execute(_READ).fetchone() or connection.execute(_LAST).fetchone()
            return _FileState(state.encode(), _layout(connection))
        except sqlite3.DatabaseError:
            return None


def _layout(connection: sqlite3.Connection) -> bytes:
    (cookie,) = connection.execute("PRAGMA schema_version").fetchone()
    return int(cookie).to_bytes(4, signed=cookie < 0)


def _log_head(log: Path) -> bytes:
    """The beginning of a log; nothing if there is no log, or none that SQLite would read."""
    try:
        with log.open("rb") as file:
            head = file.read(_LOG_HEAD)
    except FileNotFoundError:
        return b""
    return head if len(head) == _LOG_HEAD and head[:4] in _MAGIC else b""


def _frames(log: Path, head: bytes) -> Iterator[bytes]:
    """The pages in a log, each behind its head. Those of earlier rounds stay behind the newest ones in the file: they
    have other salts."""
    size = _FRAME_HEAD + int.from_bytes(head[8:12])
    salts = head[16:24]
    with log.open("rb") as file:
        file.seek(_LOG_HEAD)
        while chunk := file.read(_AT_A_TIME * size):
            for at in range(0, len(chunk) - size + 1, size):
                if chunk[at + 8 : at + 16] != salts:
                    return
                yield chunk[at : at + size]


def _fits(file: _FileState, frames: Iterator[bytes]) -> bool:
    """Whether a log begins with the state that the file is in, or made it. One without links fits every file."""
    has_links = is_known_state = False
    layouts: set[bytes] = set()
    for frame in frames:
        if frame[:4] == _FIRST_PAGE:
            layouts.add(frame[_SCHEMA_COOKIE])
        at = frame.find(_MARK)
        if at >= 0 and (link := _LINK.match(frame, at)):
            found, made, layout = link.groups()
            has_links = True
            is_known_state |= file.state in (found, made) or (
                found[:1] == file.state[:1] == b"0" and found <= file.state
            )
            layouts.add(bytes.fromhex(layout.decode()))
        if is_known_state and file.layout in layouts:
            return True
    return not has_links
