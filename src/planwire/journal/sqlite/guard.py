"""The guard around a journal's files: it checks that they are those that were opened, and that they were not cut.

SQLite knows the end of its log from memory that it shares with other processes, and writes there even if the part
before is gone from the file. What it writes then lies beyond a hole, and is never read again. So before each commit the
guard checks that the files still have their names and are no shorter than they were. It knows how long they must be as
long as no other process has written: a log that starts over, or is cut after a checkpoint, shows in SQLite's
`data_version`. If another process has written, the guard checks after the commit that the log still has a beginning.

Another program may also overwrite the file in place, as `cp` does with a backup. Apart from that, only a checkpoint
writes to the file. So whenever its time of last change is new, the guard checks that the log still belongs to it.

A process that finds no shared memory makes its own, and then neither sees what the other writes: both write to the same
places of the log. So the shared memory must still have its name, too.

All of this takes a few percent of an append, and must not take more. Asking the system for the status of everything at
every append took a quarter of its time or more; seeking to the end of the log does not. Names are looked up only when
something in their folder has changed.
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
from planwire.journal.sqlite.beside import beside
from planwire.journal.sqlite.errors import translate_errors
from planwire.journal.sqlite.file import NAP, check_file
from planwire.journal.sqlite.log import LOG_HEAD, is_log_head, refuse_foreign_log, salts_of
from planwire.journal.unusable import closed

__all__ = ["FileGuard", "holding"]

#: Seconds until a reader notices that its file is gone. Checking at every read would cost a fifth of its time.
NOTICE: Final = 0.05
#: Differs from the salts of any log, even of an empty one.
_NO_SALTS: Final = b"none"
_READ: Final = os.O_RDONLY | getattr(os, "O_BINARY", 0)


class _Watched(NamedTuple):
    """What a guard looks through: handles on a journal's folder, its log and its file."""

    folder: int | None
    log: int
    file: int


_NOTHING: Final = _Watched(None, -1, -1)


class FileGuard(translate_errors):
    """A context for every use of the file: the journal is open, the file still the same, and errors say what to do."""

    def __init__(self, path: Path, *, has_log: bool = True) -> None:
        super().__init__(path)
        self.closed = False
        self._names = list(map(str, beside(path))) if has_log else [str(path)]
        self._files = self._identify()
        self._seen = monotonic()
        self._trouble = ""  # not empty: the journal must be opened again
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
        """Open the handles that the checks need. Close this process's connections before `let_go` closes them."""
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
        """Whether the files are those that were opened; `NewerJournal` if a newer planwire has changed the format."""
        try:
            return self._has_names() and self._is_ours(self._path.stat().st_mtime_ns)
        except OSError:
            return False
        except sqlite3.OperationalError:  # no telling now, for instance because too many files are open
            return True

    def check_before(self, writer: sqlite3.Cursor, is_alone: bool) -> None:
        """Refuse a transaction that has just begun, if what it builds on is gone. `is_alone`: nobody else has written
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
        """Check the names, and remember when their folder was last changed. A change so recent that another one could
        fall into the same tick of the system's clock is not remembered."""
        changed = 0 if folder is None else fstat(folder).st_mtime_ns
        settled = is_settled(changed)
        if not self._has_names():
            raise self._replaced()
        self._folder_time = changed if settled else 0

    def _salts_after(self, writer: sqlite3.Cursor) -> bytes:
        """The salts of the log; `_NO_SALTS` if SQLite knows that a checkpoint has emptied it."""
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
        """Whether the log still belongs to the file, which was last changed at this time."""
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
        """Whether a file may rightly have become shorter: a checkpoint cuts it after a session was forgotten."""
        if not is_alone:
            return size > 0
        (pages,) = writer.execute("PRAGMA page_count").fetchone()
        (page_size,) = writer.execute("PRAGMA page_size").fetchone()
        return size >= int(pages) * int(page_size)

    def _identify(self) -> list[tuple[int, int]]:
        """What identifies the files whatever their names. They stay the same files while any connection is open."""
        found = [Path(name).stat() for name in self._names]
        return [(each.st_dev, each.st_ino) for each in found]

    def _replaced(self) -> JournalUnavailable:
        return self._lost(
            f"the journal {self._path}, or its -wal or -shm file, was deleted or replaced while it was open, and what "
            "was written last may be gone with it: open it again"
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
    """A context in which to open a journal: this process's other journals in the file don't drop its locks if they are
    closed meanwhile."""
    file = _share(path)
    try:
        yield
    finally:
        _give_back(file)


def _share(path: Path) -> int:
    """A handle on a file that all journals of this process in that file share; the last of them closes it. Otherwise
    the first to close its own handle would drop all of the process's locks on the file, SQLite's included."""
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
    """A handle on a folder, or None on systems where a program can't open one."""
    try:
        return os.open(folder, _READ)
    except OSError:
        return None


_sharing: Final = Lock()
_shared: Final[dict[tuple[int, int], tuple[int, int]]] = {}
