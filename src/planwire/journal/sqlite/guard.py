"""The guard around a journal's files: it checks that they are those that were opened, and not cut or written over.

An open file is known by its device and inode, and by the newest event that this process knows. SQLite keeps pages in
memory, and knows the end of its log from memory that it shares with other processes. It would go on writing there even
if the log had been cut, and what it writes behind a hole is never read again. So before each transaction:

- If a name in the folder has changed, all files must still have theirs.
- The log is as long as the last transaction left it, unless another process wrote. If one did, or after a pause, the
  newest known event is read afresh: it must be as it was.
- If the file has changed, which only checkpoints do, it must have moved on and not back (see `mixture`).

Checking takes a few percent of an append, and must not take more.
"""

import os
import sqlite3
from contextlib import suppress
from os import fstat
from pathlib import Path
from time import monotonic
from typing import Final, NamedTuple

from planwire.errors import DamagedJournal, JournalUnavailable, NewerJournal, NotAJournal
from planwire.journal.folder_times import is_settled
from planwire.journal.sqlite.beside import beside
from planwire.journal.sqlite.errors import translate_errors
from planwire.journal.sqlite.file import check_file
from planwire.journal.sqlite.mixture import FileEnd, contradicts, file_end
from planwire.journal.sqlite.rows import Executor, last_position
from planwire.journal.unusable import closed

#: Seconds until a reader notices that its file is gone. Checking at every read would cost a fifth of its time.
NOTICE: Final = 0.05
#: Seconds without a transaction after which another program may have written over the log, or cut the memory. Asking
#: for the log's time would cost more: the system then notes the time of every write, and a commit takes a quarter more.
_PAUSE: Final = 0.001
#: No page of a SQLite file is smaller.
_SMALLEST_PAGE: Final = 512
_READ: Final = os.O_RDONLY | getattr(os, "O_BINARY", 0)


class Newest(NamedTuple):
    """The newest event that a process wrote or read: where it is, the number of its session, and its link."""

    position: int
    session: int
    link: bytes | None


class FileGuard:
    """A context for every use of the file: the journal is open, the file still the same, and errors say what to do."""

    def __init__(self, path: Path, *others: Path) -> None:
        self._path = path
        self._translation = translate_errors(path)
        self.closed = False
        self._names = [str(each) for each in (path, *others)]
        self._files = self._identify()
        self._seen = monotonic()
        self._trouble = ""  # not empty: the journal must be opened again

    def __enter__(self) -> None:
        if self.closed:
            raise closed(self._path)
        if self._trouble:
            raise JournalUnavailable(self._trouble)

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is not None:
            self._translation.__exit__(kind, error, trace)
        elif monotonic() - self._seen > NOTICE:
            self._check_names()
            self._seen = monotonic()

    def _check_names(self) -> None:
        try:
            is_same = self._identify() == self._files
        except OSError:
            is_same = False
        if not is_same:
            raise self._replaced()

    def _identify(self) -> list[tuple[int, int]]:
        """What identifies the files whatever their names. They stay the same files while any connection is open."""
        return [(found.st_dev, found.st_ino) for found in map(os.stat, self._names)]

    def _replaced(self) -> JournalUnavailable:
        self._trouble = (
            f"the journal {self._path}, or its -wal or -shm file, was cut short, written over, deleted or replaced "
            "while it was open, and what was written last may be gone with it: open it again, and see what is left "
            "with planwire journal verify"
        )
        return JournalUnavailable(self._trouble)


class WriterGuard(FileGuard):
    """The guard of a journal that is written. `close` it after the connections."""

    def __init__(self, path: Path, writer: sqlite3.Connection) -> None:
        super().__init__(path, *beside(path)[1:])
        last = "SELECT position, session, link FROM events ORDER BY position DESC LIMIT 1"
        self.newest = Newest(*(writer.execute(last).fetchone() or (0, 0, None)))
        self._others: int | None = None  # the version of the file that other processes wrote
        self._log_size: int | None = None  # after our last transaction, if it succeeded
        self._wrote_at = 0.0
        self._folder_time = 0
        self._log = os.open(self._names[1], _READ)  # SQLite has no locks on the log that closing this could drop
        self._folder: int | None = None
        with suppress(OSError):  # not every system lets a program open a folder
            self._folder = os.open(path.parent, _READ)
        self.look_at_file()

    def __enter__(self) -> None:
        super().__enter__()
        if monotonic() - self._wrote_at > _PAUSE:  # a busy writer would pay a twentieth of its time for each look
            mend_memory(self._path)

    def check_before(self, writer: Executor) -> bool:
        """Refuse a transaction that has just begun, if what it builds on is gone. Returns whether nobody else has
        written since the last one."""
        try:
            return self._check(writer)
        except (DamagedJournal, NotAJournal, sqlite3.DatabaseError) as error:
            is_short = getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_IOERR_SHORT_READ
            if isinstance(error, sqlite3.OperationalError) and not is_short:
                raise
            raise self._replaced() from error

    def wrote(self, newest: Newest | None = None) -> None:
        """Remember how a transaction left the log, and the newest event."""
        self._log_size = os.lseek(self._log, 0, os.SEEK_END)
        self._wrote_at = monotonic()
        self.newest = newest or self.newest

    def look_at_file(self) -> None:
        """Remember the file as it is."""
        found = self._path.stat()
        self._file_time, self._file_size = found.st_mtime_ns, found.st_size
        self._file = file_end(self._path) or FileEnd(0, 0, None)

    def is_in_place(self, writer: sqlite3.Connection) -> bool:
        """Whether the files are those that were opened, so that they may be written once more."""
        mend_memory(self._path)
        self._log_size = None
        try:
            self._check_names()
            return not self._trouble and self.check_before(writer) is not None
        except NewerJournal:
            return True
        except (JournalUnavailable, sqlite3.DatabaseError, OSError):
            return False

    def close(self) -> None:
        if not os.path.lexists(self._names[2]):  # the last one that used it has removed it
            _memories.pop(self._files[2], None)
        for handle in filter(None, (self._log, self._folder)):
            os.close(handle)

    def _check(self, writer: Executor) -> bool:
        changed = 0 if self._folder is None else fstat(self._folder).st_mtime_ns
        if not changed or changed != self._folder_time:
            settled = is_settled(changed)  # a later change would show another time
            self._check_names()
            self._folder_time = changed if settled else 0
        if (file := os.stat(self._names[0])).st_mtime_ns != self._file_time:  # noqa: PTH116  (before every append)
            self._check_file(writer, file)
        (others,) = writer.execute("PRAGMA data_version").fetchone()
        log, known, self._log_size = os.lseek(self._log, 0, os.SEEK_END), self._log_size, None
        is_alone = known is not None and others == self._others
        is_cut = is_alone and log < (known or 0)
        if not is_alone or log != known or monotonic() - self._wrote_at > _PAUSE:
            writer.execute("PRAGMA shrink_memory")  # so that the newest event is read from the log
            if is_cut or not self._has_newest(writer):
                raise self._replaced()
        self._others = others
        return is_alone

    def _has_newest(self, writer: Executor) -> bool:
        """Whether the newest event that this process knows is there, or was forgotten with its session."""
        position, session, link = self.newest
        found = writer.execute("SELECT session, link FROM events WHERE position = ?", (position,)).fetchone()
        if found is not None:
            return found in ((0, None), (session, link))
        is_known = writer.execute("SELECT 1 FROM sessions WHERE number = ?", (session,)).fetchone()
        return not is_known and last_position(writer) >= position

    def _check_file(self, writer: Executor, found: os.stat_result) -> None:
        check_file(self._path)
        end, before = file_end(self._path), self._file
        if found.st_size < self._file_size and (end is None or found.st_size % _SMALLEST_PAGE):
            raise self._replaced()
        if end is None:  # a checkpoint is under way
            return
        is_back = end.layout < before.layout or end.position < before.position
        is_other = end.position == before.position and None not in (end.link, before.link) and end.link != before.link
        if is_back or is_other or contradicts(writer, end):
            raise self._replaced()
        self._file, self._file_time, self._file_size = end, found.st_mtime_ns, found.st_size


def mend_memory(path: Path) -> None:
    """The system kills whoever touches shared memory that was cut short. SQLite makes memory that is filled up with
    zeros anew, from the log. The memory is cut by its name: closing a handle on it would drop this process's locks."""
    name = f"{path}-shm"
    with suppress(OSError):
        found = os.stat(name)  # noqa: PTH116  (before every read)
        key = found.st_dev, found.st_ino
        size = _memories.setdefault(key, found.st_size)
        if found.st_size > size:
            _memories[key] = found.st_size
        elif found.st_size < size:
            os.truncate(name, 0)
            os.truncate(name, size)


#: The sizes of the shared memories that this process uses, by device and inode.
_memories: Final[dict[tuple[int, int], int]] = {}
