"""The guard around a journal's files: they are those that were opened, and nobody cuts them under a writer.

SQLite knows from memory that it shares with other processes where its log ends, and writes there, whether or not what
is before that place is still in the file: into a hole that nobody will ever read. So the guard looks before each commit
whether the files still have their names and are no shorter than they were. It knows how long they must be as long as no
other process has written: a log that starts over, or is cut after a checkpoint, shows in SQLite's `data_version`. If
one has, the guard looks after the commit whether the log still has a beginning.

Another program may also write over the file where it lies, as `cp` does with a backup. Only a checkpoint writes to it
otherwise, so whenever the time of its last change is a new one, the guard looks whether the log still belongs to it.

All of this is a few percent of an append, and must not be more. To ask the system for the status of everything at every
append cost a quarter of its time or more; to seek the end of the log does not. Names are looked up only when something
in their folder has changed.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from os import SEEK_END, SEEK_SET, fstat, lseek
from pathlib import Path
from threading import Lock
from time import monotonic, sleep
from typing import Final, NamedTuple

from planwire.errors import DamagedJournal, JournalUnavailable, NewerJournal, NotAJournal
from planwire.journal.folder_times import is_settled
from planwire.journal.sqlite.errors import translate_errors
from planwire.journal.sqlite.file import NAP, check_file
from planwire.journal.sqlite.log import LOG_HEAD, is_log_head, refuse_foreign_log, salts_of
from planwire.journal.unusable import closed

__all__ = ["FileGuard", "holding"]

#: Seconds until a reader notices that its file is gone. To look at every read would cost a fifth of its time.
NOTICE: Final = 0.05
#: Equal to those of no log, not even of an empty one.
_NO_SALTS: Final = b"none"
_READ: Final = os.O_RDONLY | getattr(os, "O_BINARY", 0)


class _Watched(NamedTuple):
    """What a guard looks through: handles on a journal's folder, its log and its file."""

    folder: int | None
    log: int
    file: int


_NOTHING: Final = _Watched(None, -1, -1)


class FileGuard(translate_errors):
    """Around every use of the file: it is open, it is still the same file, and its errors say what to do."""

    def __init__(self, path: Path, *, has_log: bool = True) -> None:
        super().__init__(path)
        self.closed = False
        self._names = [str(path), f"{path}-wal"] if has_log else [str(path)]
        self._files = self._identify()
        self._seen = monotonic()
        self._trouble = ""  # once there was any, the journal must be opened again
        self._watched = _NOTHING
        self._folder_time = 0
        self._file_time = path.stat().st_mtime_ns
        self._file_size = self._log_size = 0
        self._salts = _NO_SALTS

    def __enter__(self) -> None:
        if self.closed:
            raise closed(self._path)
        if self._trouble:
            raise JournalUnavailable(self._trouble)

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is not None:
            super().__exit__(kind, error, trace)
        elif monotonic() - self._seen > NOTICE:
            if not self._is_in_place():
                raise self._replaced()
            self._seen = monotonic()

    def watch(self) -> None:
        """Keep handles to look through, until `let_go`. The connections of this process must be closed before that."""
        self._watched = _watch(self._path)

    def let_go(self) -> None:
        watched, self._watched = self._watched, _NOTHING
        if watched is not _NOTHING:
            _let_go(watched)

    def in_place(self) -> bool:
        try:
            return self._is_in_place()
        except NewerJournal:
            return True

    def _is_in_place(self) -> bool:
        """The same, but `NewerJournal` if a newer planwire has changed the format."""
        try:
            return self._has_names() and self._is_ours(self._path.stat().st_mtime_ns)
        except OSError:
            return False
        except sqlite3.OperationalError:  # there is no telling now, as when too many files are open
            return True

    def check_before(self, writer: sqlite3.Cursor, is_alone: bool) -> None:
        """Refuse a transaction that has begun, if what it goes on from is gone. `is_alone`: nobody else has written
        since the last one."""
        folder, log, file = self._watched
        if folder is None or fstat(folder).st_mtime_ns != self._folder_time:
            self._look_at_names(folder)
        log_size, found = lseek(log, 0, SEEK_END), fstat(file)
        file_size = found.st_size
        if log_size < self._log_size and (is_alone or self._salts == salts_of(self._head())):
            raise self._cut(self._names[1])
        if file_size < self._file_size and not self._may_be(writer, file_size, is_alone):
            raise self._cut(self._names[0])
        if found.st_mtime_ns != self._file_time and not self._is_ours(found.st_mtime_ns):
            raise self._replaced()
        self._log_size, self._file_size = log_size, file_size

    def check_after(self, writer: sqlite3.Cursor, is_alone: bool) -> None:
        """Refuse to acknowledge a transaction that went into a log without a beginning."""
        if not is_alone:
            self._salts = self._salts_after(writer)
        self._log_size = lseek(self._watched.log, 0, SEEK_END)

    def _look_at_names(self, folder: int | None) -> None:
        """Remember when the folder was changed last, unless that is so short ago that it may change again within the
        same tick of the system's clock."""
        changed = 0 if folder is None else fstat(folder).st_mtime_ns
        if not self._has_names():
            raise self._replaced()
        self._folder_time = changed if is_settled(changed) else 0

    def _salts_after(self, writer: sqlite3.Cursor) -> bytes:
        """The salts of the log. Once others had time to empty it, which takes a checkpoint, SQLite knows of that."""
        while not (head := self._head()):
            is_busy, pages, _ = writer.execute("PRAGMA wal_checkpoint").fetchone()
            if not pages:
                return _NO_SALTS
            if not is_busy and not self._head():
                break
            sleep(NAP)
        if not is_log_head(head):
            raise self._cut(self._names[1])
        return salts_of(head)

    def _has_names(self) -> bool:
        try:
            return not self._trouble and self._identify() == self._files
        except OSError:
            return False

    def _is_ours(self, changed: int) -> bool:
        """Whether the file, last changed at this time, is still the one that its log belongs to."""
        if changed != self._file_time and len(self._names) > 1:
            try:
                check_file(self._path)
                refuse_foreign_log(self._path)
            except (DamagedJournal, NotAJournal):
                return False
            except sqlite3.DatabaseError as error:
                if isinstance(error, sqlite3.OperationalError):
                    raise
                return False
            self._file_time = changed
        return True

    def _head(self) -> bytes:
        lseek(self._watched.log, 0, SEEK_SET)
        return os.read(self._watched.log, LOG_HEAD)

    def _may_be(self, writer: sqlite3.Cursor, size: int, is_alone: bool) -> bool:
        """Whether a file that is shorter now may be so: a checkpoint cuts it after somebody forgot a session."""
        if not is_alone:
            return size > 0
        (pages,) = writer.execute("PRAGMA page_count").fetchone()
        (page_size,) = writer.execute("PRAGMA page_size").fetchone()
        return size >= int(pages) * int(page_size)

    def _identify(self) -> list[tuple[int, int]]:
        """The files themselves, under whatever name. The log stays the same file as long as anyone has a connection."""
        found = [Path(name).stat() for name in self._names]
        return [(each.st_dev, each.st_ino) for each in found]

    def _replaced(self) -> JournalUnavailable:
        return self._lost(
            f"the journal {self._path} or its -wal file was deleted or replaced while it was open, and what was "
            "written last may be gone with it: open it again"
        )

    def _cut(self, name: str) -> JournalUnavailable:
        return self._lost(
            f"{name} was cut short by another program while the journal was open: nothing was written after the cut, "
            "and what was cut off is lost. End everything that uses the journal, then check what is left with planwire "
            "journal verify, or restore a backup with planwire journal restore"
        )

    def _lost(self, trouble: str) -> JournalUnavailable:
        self._trouble = trouble
        return JournalUnavailable(trouble)


def _watch(path: Path) -> _Watched:
    return _Watched(_opened_folder(path.parent), os.open(f"{path}-wal", _READ), _share(path))


def _let_go(watched: _Watched) -> None:
    _give_back(watched.file)
    os.close(watched.log)
    if watched.folder is not None:
        os.close(watched.folder)


@contextmanager
def holding(path: Path) -> Iterator[None]:
    """While a journal is opened: one of this process that is closed meanwhile drops none of its locks."""
    file = _share(path)
    try:
        yield
    finally:
        _give_back(file)


def _share(path: Path) -> int:
    """When a process closes any handle on a file, the system drops all its locks on that file, also SQLite's. So all
    journals of a process that are in one file share its handle, and the last of them closes it."""
    found = path.stat()
    key = found.st_dev, found.st_ino
    with _sharing:
        file, users = _shared.get(key) or (os.open(path, _READ), 0)
        _shared[key] = file, users + 1
    return file


def _give_back(shared: int) -> None:
    with _sharing:
        key = next(key for key, (file, _) in _shared.items() if file == shared)
        file, users = _shared.pop(key)
        if users > 1:
            _shared[key] = file, users - 1
        else:
            os.close(file)


def _opened_folder(folder: Path) -> int | None:
    """None on systems where a program can't open a folder."""
    try:
        return os.open(folder, _READ)
    except OSError:
        return None


_sharing: Final = Lock()
_shared: Final[dict[tuple[int, int], tuple[int, int]]] = {}
