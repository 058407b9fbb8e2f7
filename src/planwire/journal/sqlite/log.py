"""Whether the write-ahead log beside a journal belongs to it.

SQLite applies any log beside a file, as long as the log is whole. So a journal that was restored from a backup while
the log of its predecessor was still there would be overwritten page by page, and the result would be neither of the
two. Nothing in SQLite's own format tells the log of this file from that of another, so planwire says it in the data.

A *log link* (not a link of the chain of hashes) is a row with a random number for the state that a transaction makes,
and with what the transaction found: the number of the link before it, the position of the last event, and the version
of the layout (SQLite's schema cookie, which a VACUUM or a copy by SQLite's own means changes). A log starts over once
all of it is in the file, and the first transaction of every such round makes a link; so does every transaction that is
not just an append. The row is alone on its page. So a log holds all of its links, and the file without the log holds
one. The two belong together if the file holds a link that the log made, or else the link that the log begins with and
no fewer events. (A checkpoint copies pages from the log to the file, and a process may die in the middle of that, but
each page is old or new.) Any other file is foreign: an older backup, a newer one, another journal.

The row is in `sqlite_sequence`, a table that SQLite lets programs write to and that every journal has. A log without
links, as other programs make it, is accepted.
"""

import os
import re
import sqlite3
from bisect import bisect_left
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from io import FileIO
from pathlib import Path
from typing import Final, NamedTuple

from planwire.errors import DamagedJournal
from planwire.journal.sqlite.rows import Executor, last_position

#: SQLite copies the log to the file once the log has this many pages, which is SQLite's default. A shorter log does not
#: start over.
CHECKPOINT_PAGES: Final = 1_000
#: The link found, the link made, the last position and the layout found, each of fixed length, to be found in a page.
_MARK: Final = b"planwire-log "
_LINK: Final = re.compile(rb"planwire-log ([0-9a-f]{16}) ([0-9a-f]{16}) ([0-9a-f]{16}) ([0-9a-f]{8})")
_NO_LINK: Final = "0" * 16
_ADD: Final = """UPDATE sqlite_sequence SET name = 'planwire-log ' || substr(name, 31, 16) || ?
    WHERE name GLOB 'planwire-log *'"""
_FIRST: Final = "INSERT INTO sqlite_sequence (name, seq) VALUES (?, 0)"
_LAST: Final = "SELECT substr(name, 31, 16) FROM sqlite_sequence WHERE name GLOB 'planwire-log *'"

# https://www.sqlite.org/fileformat2.html#the_write_ahead_log
_MAGIC: Final = (b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83")
LOG_HEAD: Final = 32
_FRAME_HEAD: Final = 24
_FIRST_PAGE: Final = b"\0\0\0\1"
#: Zero except in the last page of a transaction.
_COMMITS: Final = slice(4, 8)
_NOT_LAST: Final = b"\0\0\0\0"
_SCHEMA_COOKIE: Final = slice(_FRAME_HEAD + 40, _FRAME_HEAD + 44)


class FileState(NamedTuple):
    """A journal without its log: its link, the position of its last event, and its layout."""

    link: bytes
    position: int
    layout: bytes


@contextmanager
def file_alone(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that sees a file without its log, takes no locks and changes nothing.

    `writable_schema` lets it read a file whose checkpoint is unfinished: its first page tells of pages not there yet.
    """
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        yield connection


def add_log_link(connection: Executor) -> None:
    """Link a transaction that has just begun, and has written nothing yet, to the state that it finds."""
    position, layout = last_position(connection), _layout(connection)
    rest = f" {os.urandom(8).hex()} {position:016x} {layout.hex()}"
    if not connection.execute(_ADD, (rest,)).rowcount:
        connection.execute(_FIRST, (f"{_MARK.decode()}{_NO_LINK}{rest}",))


def room_in_log(log: FileIO) -> int:
    """How many more pages fit into this round of a log before it is long enough to start over."""
    read = partial(read_at, log.fileno())
    head = read(0, LOG_HEAD)
    size, salts = frame_size(head), salts_of(head)
    frames = range(LOG_HEAD + 8, LOG_HEAD + 8 + CHECKPOINT_PAGES * size, size)
    return CHECKPOINT_PAGES - bisect_left(frames, True, key=lambda place: read(place, 8) != salts)


def refuse_foreign_log(path: Path) -> None:
    """Raise `DamagedJournal` if the log beside a journal is another one's. Reads both and changes neither.

    A live journal may move on between the look at its file and the look at its log, but a foreign log does not. So the
    log must fail to fit twice, with nothing changed in between.
    """
    log = Path(f"{path}-wal")
    seen: tuple[FileState, bytes] | None = None
    while (head := _log_head(log)) and (file := file_state(path)):
        try:
            if _fits(file, _frames(log, head)):
                return
        except FileNotFoundError:  # the last process that had the journal open has just closed it
            continue
        if seen == (file, head):
            raise DamagedJournal(
                f"the journal {path} and its log {log.name} don't belong together: the log is that of another file, or "
                "of another state of this one, and would overwrite what is in it. Nothing was touched. If you restored "
                f"{path.name} from a backup, move {log.name} and {path.name}-shm out of the folder and open it again; "
                f"otherwise put the {path.name} back that the log belongs to"
            )
        seen = file, head


def read_at(handle: int, place: int, size: int) -> bytes:
    if hasattr(os, "pread"):
        return os.pread(handle, size, place)
    os.lseek(handle, place, os.SEEK_SET)
    return os.read(handle, size)


def file_state(path: Path) -> FileState | None:
    """The state of a file; None if it can't be read without its log, as in the middle of a checkpoint."""
    try:
        with file_alone(path) as connection:
            (link,) = connection.execute(_LAST).fetchone() or (_NO_LINK,)
            return FileState(link.encode(), last_position(connection), _layout(connection))
    except sqlite3.DatabaseError:
        return None


def _layout(connection: Executor) -> bytes:
    (cookie,) = connection.execute("PRAGMA schema_version").fetchone()
    return int(cookie).to_bytes(4, signed=cookie < 0)


def _layout_before(layout: bytes) -> bytes:
    return ((int.from_bytes(layout) - 1) % 2**32).to_bytes(4)


def _log_head(log: Path) -> bytes:
    """The beginning of a log; empty if there is none, or none that SQLite would read."""
    try:
        with log.open("rb") as file:
            head = file.read(LOG_HEAD)
    except FileNotFoundError:
        return b""
    return head if len(head) == LOG_HEAD and head[:4] in _MAGIC else b""


def salts_of(head: bytes) -> bytes:
    """The salts in the head of a log, which every page of its current round repeats."""
    return head[16:24]


def frame_size(head: bytes) -> int:
    """The size of each page in a log, with its frame head."""
    return _FRAME_HEAD + int.from_bytes(head[8:12])


def _frames(log: Path, head: bytes) -> Iterator[bytes]:
    """The pages in a log, each with its frame head, without those of earlier rounds, which have other salts."""
    size, salts = frame_size(head), salts_of(head)
    with log.open("rb") as file:
        file.seek(LOG_HEAD)
        while len(frame := file.read(size)) == size and frame[8:16] == salts:
            yield frame


def _fits(file: FileState, frames: Iterator[bytes]) -> bool:
    """Whether a log begins with the state that the file is in, or made it. One without links fits every file.

    A log may begin with transactions of a program that makes no links. Then the first link does not tell how many
    events there were before them, nor in which layout. Nor does a log that begins with a VACUUM tell that, which copies
    the row of an earlier link: it found the layout before its own, whatever that link says.
    """
    has_links = is_known = False
    is_beginning = True  # still in the first transaction
    layouts: set[bytes] = set()
    made_layout = found_layout = b""  # of the first transaction
    for frame in frames:
        if frame[:4] == _FIRST_PAGE:
            layouts.add(frame[_SCHEMA_COOKIE])
            made_layout = frame[_SCHEMA_COOKIE] if is_beginning else made_layout
        at = frame.find(_MARK)
        if at >= 0 and (link := _LINK.match(frame, at)):
            found, made, position, layout = link.groups()
            found_layout = bytes.fromhex(layout.decode()) if is_beginning else found_layout
            layouts |= {bytes.fromhex(layout.decode())} if is_beginning or has_links else {file.layout}
            is_known |= file.link == made
            is_known |= file.link == found and (not is_beginning or file.position >= int(position, 16))
            has_links = True
        if is_beginning and made_layout and found_layout not in (b"", made_layout):
            layouts.add(_layout_before(made_layout))
        if is_known and file.layout in layouts:
            return True
        is_beginning &= frame[_COMMITS] == _NOT_LAST
    return not has_links
