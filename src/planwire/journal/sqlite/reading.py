"""The reading half of a SQLite journal, whether or not the journal can be written.

Reads have a connection that can do nothing else, and take a page at a time. So no reader keeps SQLite from cutting the
log back, or a forgotten session from leaving the file.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

from planwire.errors import JournalUnavailable
from planwire.journal.checked import Trouble
from planwire.journal.forks import forks
from planwire.journal.polling import Found
from planwire.journal.protocol import KnownLease, KnownSession, Snapshot, StoredAppend
from planwire.journal.sqlite import checks, rows
from planwire.journal.sqlite.chain import stored_pages
from planwire.journal.sqlite.file import refuse_newer
from planwire.journal.sqlite.guard import FileGuard
from planwire.journal.sqlite.leases import Leases
from planwire.journal.stored_pages import by_keys
from planwire.journal.thoughts_file import FileThoughts
from planwire.journal.unusable import forked
from planwire.model.events import Recorded


class SqliteReading:
    """The reading half of a `Journal` in a file. `path` is the file that a person named, `_log_path` its log."""

    path: Path
    thoughts: FileThoughts
    _log_path: str
    _guard: FileGuard
    _reader: sqlite3.Connection

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self.thoughts = FileThoughts(path.with_name(f"{path.name}.thoughts"))
        self._log_path = f"{path}-wal"
        self._owner = forks()
        self._reading = Lock()
        self._leases = Leases(path)

    def read(self, session: str, after: int = 0, upto: int | None = None) -> Iterator[Recorded]:
        with self._reads() as reader:
            number, last = rows.find(reader, session)
        return self._pages(session, number, max(after, 0), last if upto is None else min(last, upto))

    def stored(self, session: str, after: int = 0) -> Iterator[StoredAppend]:
        return by_keys(stored_pages(self._reads, self.path, session, max(after, 0)))

    def last_seq(self, session: str) -> int:
        with self._reads() as reader:
            return rows.find(reader, session).last

    def last_position(self) -> int:
        with self._reads() as reader:
            return rows.last_position(reader)

    def sessions(self) -> list[KnownSession]:
        with self._reads() as reader:
            return rows.known_sessions(reader)

    def snapshot(self, session: str, name: str = "state") -> Snapshot | None:
        with self._reads() as reader:
            return rows.snapshot(reader, session, name)

    def leases(self) -> list[KnownLease]:
        with self._reads() as reader:
            found = self._leases.rows(reader)
        return self._leases.known(found)

    def troubles(self) -> Iterator[Trouble]:
        """What is wrong with the file (see `checked`)."""
        return checks.troubles(self._reads)

    def _look(self, position: int, session: str | None) -> Found | None:
        try:
            with self._reads() as reader:
                last = rows.last_position(reader)
                page = rows.page_behind(reader, position, last, session) if last > position else []
        except JournalUnavailable:
            if self._guard.closed:
                return None
            raise
        found = rows.followed(page, self.path)
        return Found(found, found[-1].position if found else max(last, position))

    def _glance(self) -> object:
        """What changes with every commit: the time, size and inode of the log, which is written first."""
        try:
            found = os.stat(self._log_path)  # noqa: PTH116  (it is done fifty times a second)
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino

    def _pages(self, session: str, number: int | None, after: int, last: int) -> Iterator[Recorded]:
        while after < last:
            with self._reads() as reader:
                page = rows.page_of_session(reader, number, after, last)
                if not page and rows.find(reader, session).number != number:
                    return  # the session was forgotten meanwhile
            yield from rows.recorded_in_order(page, session, after, self.path)
            after += len(page)

    @contextmanager
    def _reads(self) -> Iterator[sqlite3.Connection]:
        self._check_process()
        with self._reading, self._guard:
            refuse_newer(self._reader, self.path)
            yield self._reader

    def _check_process(self) -> None:
        if self._owner != forks():
            raise forked(self.path)
