"""The guard around a journal's files: it checks that they are those that were opened, and that they were not cut.

SQLite knows the end of its log from memory that it shares with other processes, and writes there even if the part
before is gone from the file. What it writes then lies beyond a hole, and is never read again. So before each commit the
guard checks that the files still have their names, that the log ends as the shared memory says, and that the file is no
shorter than it was.

Another program may also overwrite the files in place, as `cp` does with a backup. A log of another state has other
salts, or another checksum in its last page. Only a checkpoint writes to the file itself. So whenever its time of last
change is new, the guard checks that the log still belongs to it. If the log was and is empty, the file must be in the
state that it was in, since SQLite goes on from pages that it remembers.

A process that finds no shared memory makes its own, and then neither sees what the other writes: both write to the same
places of the log. So the shared memory must still have its name, too.

All of this takes a few percent of an append, and must not take more. Asking the system for the status of everything at
every append took a quarter of its time or more; seeking to the end of the log does not. Names are looked up only when
something in their folder has changed.
"""

import os
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from os import fstat
from pathlib import Path
from struct import Struct
from threading import Lock
from time import monotonic
from typing import Final, NamedTuple

from planwire.errors import DamagedJournal, JournalUnavailable, NewerJournal, NotAJournal
from planwire.journal.folder_times import is_settled
from planwire.journal.sqlite.beside import beside
from planwire.journal.sqlite.errors import translate_errors
from planwire.journal.sqlite.file import check_file
from planwire.journal.sqlite.log import (
    LOG_HEAD,
    FileState,
    file_state,
    frame_size,
    read_at,
    refuse_foreign_log,
    salts_of,
)
from planwire.journal.unusable import closed

#: Seconds until a reader notices that its file is gone. Checking at every read would cost a fifth of its time.
NOTICE: Final = 0.05

# The head of the shared memory: https://www.sqlite.org/walformat.html#the_wal_index_file_format
_MEMORY_HEAD: Final = 48
#: The number of pages in the log, the checksum of all of them, and the salts of its current round.
_LOG_PAGES: Final = slice(16, 20)
_LOG_SUM: Final = slice(24, 32)
_LOG_SALTS: Final = slice(32, 40)
#: A checksum in the shared memory is in the order of the machine, and one in the log is not.
_SUM_HERE, _SUM_IN_LOG = Struct("=2I"), Struct(">2I")
_READ: Final = os.O_RDONLY | getattr(os, "O_BINARY", 0)


class _Shared:
    """Handles on a file and its shared memory, for all journals of this process in that file. The last of them closes
    them all. Otherwise the first to close its own would drop all of the process's locks there, SQLite's included. A
    journal that is opened while the last one closes may get new shared memory, and so another handle on it."""

    def __init__(self, file: int) -> None:
        self.file = file
        self.memories: dict[tuple[int, int], int] = {}
        self.users = 0


class _Watched(NamedTuple):
    """What a guard looks through: handles on a journal's folder, its log, its shared memory and its file."""

    folder: int | None
    log: int
    memory: int
    shared: _Shared


class FileGuard(translate_errors):
    """A context for every use of the file: the journal is open, the file still the same, and errors say what to do."""

    def __init__(self, path: Path, *, has_log: bool = True) -> None:
        super().__init__(path)
        self.closed = False
        self._names = list(map(str, beside(path))) if has_log else [str(path)]
        self._files = self._identify()
        self._seen = monotonic()
        self._trouble = ""  # not empty: the journal must be opened again
        self._watched: _Watched | None = None
        self._folder_time = 0
        self._file_time = path.stat().st_mtime_ns
        self._file_size = 0
        self._resting: tuple[bytes, FileState | None] | None = None  # how shared memory and file were with an empty log

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
        self.look_at_rest()

    def let_go(self) -> None:
        watched, self._watched = self._watched, None
        if watched is not None:
            _let_go(watched)

    def in_place(self) -> bool:
        try:
            return self._is_in_place()
        except NewerJournal:
            return True

    def _is_in_place(self) -> bool:
        """Whether the files are those that were opened; `NewerJournal` if a newer planwire has changed the format."""
        try:
            has_log = self._watched is None or _has_its_log(self._watched)
            return has_log and self._has_names() and self._is_ours(self._path.stat().st_mtime_ns)
        except OSError:
            return False
        except sqlite3.OperationalError:  # no telling now, for instance because too many files are open
            return True

    def check_before(self, writer: sqlite3.Cursor, is_alone: bool) -> None:
        """Refuse a transaction that has just begun, if what it builds on is gone. `is_alone`: nobody else has written
        since the last one."""
        watched = self._watched
        assert watched is not None
        if watched.folder is None or fstat(watched.folder).st_mtime_ns != self._folder_time:
            self._look_at_names(watched.folder)
        if not _has_its_log(watched):
            raise self._cut(self._names[1])
        found = fstat(watched.shared.file)
        if found.st_size < self._file_size and not self._may_be(writer, found.st_size, is_alone):
            raise self._cut(self._names[0])
        if found.st_mtime_ns != self._file_time and not self._is_ours(found.st_mtime_ns):
            raise self._replaced()
        self._file_size = found.st_size

    def look_at_rest(self) -> bool:
        """Remember the state of a file whose log is empty. Returns whether it is the one that was remembered before,
        unless something has gone through the log since."""
        assert self._watched is not None
        known, state = read_at(self._watched.memory, 0, _MEMORY_HEAD), file_state(self._path)
        if any(known[_LOG_PAGES]) or known != read_at(self._watched.memory, 0, _MEMORY_HEAD):
            return True
        if self._resting is not None and self._resting[0] == known:
            return self._resting[1] == state
        self._resting = known, state
        return True

    def _look_at_names(self, folder: int | None) -> None:
        """Check the names, and remember when their folder was last changed. A change so recent that another one could
        fall into the same tick of the system's clock is not remembered."""
        changed = 0 if folder is None else fstat(folder).st_mtime_ns
        settled = is_settled(changed)
        if not self._has_names():
            raise self._replaced()
        self._folder_time = changed if settled else 0

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
                if self._watched is not None and not self.look_at_rest():
                    return False
            except (DamagedJournal, NotAJournal):
                return False
            except sqlite3.DatabaseError as error:
                if isinstance(error, sqlite3.OperationalError):
                    raise
                return False
            self._file_time = changed
        return True

    def _may_be(self, writer: sqlite3.Cursor, size: int, is_alone: bool) -> bool:
        """Whether a file may rightly have become shorter: a checkpoint cuts it after a session was forgotten."""
        if not is_alone:
            return size > 0
        (pages,) = writer.execute("PRAGMA page_count").fetchone()
        (page_size,) = writer.execute("PRAGMA page_size").fetchone()
        return size >= int(pages) * int(page_size)

    def _identify(self) -> list[tuple[int, int]]:
        """What identifies the files whatever their names. They stay the same files while any connection is open."""
        return [_identity(Path(name)) for name in self._names]

    def _replaced(self) -> JournalUnavailable:
        return self._lost(
            f"the journal {self._path}, or its -wal or -shm file, was deleted or replaced while it was open, and what "
            "was written last may be gone with it: open it again"
        )

    def _cut(self, name: str) -> JournalUnavailable:
        return self._lost(
            f"{name} was cut short or written over by another program while the journal was open: nothing was written "
            "after that, and what is gone from it is lost. End everything that uses the journal, then check what is "
            "left with planwire journal verify, or restore a backup with planwire journal restore"
        )

    def _lost(self, trouble: str) -> JournalUnavailable:
        self._trouble = trouble
        return JournalUnavailable(trouble)


def _has_its_log(watched: _Watched) -> bool:
    """Whether the log is the one that SQLite knows. Another process may move on in the middle of the look; then the
    shared memory has changed as well."""
    while True:
        known = read_at(watched.memory, 0, _MEMORY_HEAD)
        pages = int.from_bytes(known[_LOG_PAGES], sys.byteorder)
        if not pages or _ends_as_known(watched.log, pages, known):
            return True
        if known == read_at(watched.memory, 0, _MEMORY_HEAD):
            return False


def _ends_as_known(log: int, pages: int, known: bytes) -> bool:
    head = read_at(log, 0, LOG_HEAD)
    if salts_of(head) != known[_LOG_SALTS]:
        return False
    size = frame_size(head)
    last = read_at(log, LOG_HEAD + (pages - 1) * size, size)
    is_whole = len(last) == size and last[8:16] == known[_LOG_SALTS]
    return is_whole and _SUM_IN_LOG.unpack(last[16:24]) == _SUM_HERE.unpack(known[_LOG_SUM])


def _watch(path: Path) -> _Watched:
    _, log, memory = beside(path)
    key, shared = _identity(memory), _share(path)
    with _sharing:
        if key not in shared.memories:
            shared.memories[key] = os.open(memory, _READ)
    return _Watched(_opened_folder(path.parent), os.open(log, _READ), shared.memories[key], shared)


def _let_go(watched: _Watched) -> None:
    _give_back(watched.shared)
    os.close(watched.log)
    if watched.folder is not None:
        os.close(watched.folder)


@contextmanager
def holding(path: Path) -> Iterator[None]:
    """A context in which to open a journal: this process's other journals in the file don't drop its locks if they are
    closed meanwhile."""
    shared = _share(path)
    try:
        yield
    finally:
        _give_back(shared)


def _share(path: Path) -> _Shared:
    key = _identity(path)
    with _sharing:
        shared = _shared.get(key) or _Shared(os.open(path, _READ))
        shared.users += 1
        _shared[key] = shared
    return shared


def _give_back(shared: _Shared) -> None:
    with _sharing:
        shared.users -= 1
        if not shared.users:
            del _shared[next(key for key, each in _shared.items() if each is shared)]
            for handle in (shared.file, *shared.memories.values()):
                os.close(handle)


def _identity(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_dev, found.st_ino


def _opened_folder(folder: Path) -> int | None:
    """A handle on a folder, or None on systems where a program can't open one."""
    try:
        return os.open(folder, _READ)
    except OSError:
        return None


_sharing: Final = Lock()
_shared: Final[dict[tuple[int, int], _Shared]] = {}
