"""A store in a SQLite file, which many processes may write and follow at once.

The write-ahead log with `synchronous=FULL` makes every commit durable while readers go on reading. All writes of this
process share one connection. Reads have another one, which can do nothing else, and take a page at a time: so no reader
keeps SQLite from cutting the log back, or a forgotten session from leaving the file.

A writer's end of a session holds as long as no other process writes: its `place` is the number of writes by others that
this store has noticed. After one of them, each append looks its end up again.

Holders are known by lock files in the folder `JOURNAL-leases` (see `lock_files`): a store has one, once it is told that
its holder is alive.
"""

import os
import sqlite3
import stat
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from threading import Lock
from typing import Final, NoReturn

from planwire.errors import JournalUnavailable
from planwire.journal.bell import Bell
from planwire.journal.checked import Trouble
from planwire.journal.companion_files import beside as companions
from planwire.journal.lock_files import LockFile, is_locked, sweep
from planwire.journal.polling import polled
from planwire.journal.protocol import JournalFacts
from planwire.journal.sqlite import checks, rows
from planwire.journal.sqlite.errors import translate_errors
from planwire.journal.sqlite.file import (
    check_file,
    connect,
    find_file,
    open_file,
    refuse_newer,
    resolved,
    scrub,
    transaction,
)
from planwire.journal.sqlite.guard import FileGuard, WriterGuard, mend_memory
from planwire.journal.sqlite.mixture import MixedJournal, refuse_mixture
from planwire.journal.sqlite.unwritable import UnwritableFile, is_writable
from planwire.journal.store import (
    ANY,
    AnyValue,
    Append,
    Appended,
    KeySpan,
    SessionEnd,
    StoredPage,
    StoreEntry,
    TailPage,
)

#: Seconds that a writer waits for writers of other processes before it gives up.
PATIENCE: Final = 30.0
#: The most that it waits in haste: for what would happen anyway, such as the end of a lease.
HASTE: Final = 1.0


def open_store(path: str | os.PathLike[str], patience: float = PATIENCE) -> "SqliteStore | ArchivedStore":
    """The store in a file: to read and write if the file can be written, else to read."""
    with translate_errors(Path(path)):
        found = resolved(Path(path))
        is_archive = found.is_file() and not is_writable(found)
    if is_archive:
        return ArchivedStore(found)
    try:
        return SqliteStore(found, patience)
    except MixedJournal as error:
        return ArchivedStore(found, mixture=error)


class SqliteReading:
    """The reading half of a store in a file."""

    has_clock = False
    _guard: FileGuard
    _reader: sqlite3.Connection

    def __init__(self, path: Path) -> None:
        self.path = path
        self.where = str(path)
        self.thoughts = f"{path}.thoughts"
        self.is_hasty = False
        self._log_path = f"{path}-wal"
        self._locks = Path(f"{path}-leases")
        self._lock_file: LockFile | None = None
        self._reading = Lock()
        self._bell = Bell()

    def read(self, end: SessionEnd, after: int, upto: int, *, keys: bool = False) -> StoredPage:
        with self._reads() as reader:
            page = rows.read(reader, end, after, upto, self.path)
            return StoredPage(
                page, rows.keys_between(reader, end.number, page[0].seq, page[-1].seq) if keys and page else []
            )

    def tail(self, after: int | None) -> Generator[TailPage, None, None]:
        if after is None:
            with self._reads() as reader:
                after = rows.last_position(reader)
            yield TailPage([], after, is_end=True)
        yield from polled(after, self._look, self._glance, self._bell)

    def ends(self, session: str | None = None) -> list[SessionEnd]:
        with self._reads() as reader:
            if session is None:
                return rows.all_ends(reader)
            end = rows.end_of(reader, session)
        return [end] if end.last else []

    def last_positions(self, beginning: str) -> dict[str, int]:
        with self._reads() as reader:
            return rows.last_positions(reader, beginning)

    def get(self, kind: str, session: str | None = None, name: str | None = None) -> list[StoreEntry]:
        with self._reads() as reader:
            return [*rows.entries(reader, kind, session, name)]

    def troubles(self) -> Iterator[Trouble]:
        """What is wrong with the file (see `checked`)."""
        return checks.troubles(self._reads)

    def _facts(self) -> dict[str, str]:
        with self._reads() as reader:
            (version,) = reader.execute("PRAGMA user_version").fetchone()
        sizes = [each.stat().st_size for each in companions(self.path)[:2] if each.exists()]
        return {
            "format": str(version),
            "SQLite": sqlite3.sqlite_version,
            "size": f"{sum(sizes):,} bytes, with its log",
            "mode": stat.filemode(self.path.stat().st_mode),
        }

    def _is_locked(self, holder: str) -> bool:
        is_own = self._lock_file is not None and self._lock_file.name == holder
        return is_own or (holder.isalnum() and is_locked(self._locks, holder))

    def _look(self, after: int) -> TailPage | None:
        try:
            with self._reads() as reader:
                last = rows.last_position(reader)
                page = rows.tail(reader, after, last) if last > after else []
        except JournalUnavailable:
            if self._guard.closed:
                return None
            raise
        return TailPage(page, page[-1].position if page else max(last, after), is_end=not page)

    def _glance(self) -> object:
        """What changes with every commit: the time, size and inode of the log, which is written first."""
        try:
            found = os.stat(self._log_path)  # noqa: PTH116  (it is done fifty times a second)
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino

    @contextmanager
    def _reads(self) -> Iterator[sqlite3.Connection]:
        with self._reading, self._guard:
            refuse_newer(self._reader, self.path)
            yield self._reader


class SqliteStore(SqliteReading):
    """A `Store` in a file. It waits up to `patience` seconds for the writers of other processes."""

    _guard: WriterGuard

    def __init__(self, path: Path, patience: float = PATIENCE) -> None:
        super().__init__(path)
        self._writing = Lock()
        with translate_errors(path):
            find_file(path)
            mend_memory(path)
            refuse_mixture(path, patience)
            with ExitStack() as opened:
                self._writer = opened.enter_context(closing(open_file(path, patience)))
                self._guard = WriterGuard(path, self._writer)
                self._reader = connect(path, patience, "ro")
                opened.pop_all()
        self._patience = patience
        self._transaction = transaction(self._writer, patience)
        self._hasty_transaction = transaction(self._writer, min(patience, HASTE))
        self._round = 0

    def append(self, appends: Sequence[Append]) -> list[Appended | Exception]:
        with self._writing, self._guard, self._begun() as writer:
            if not self._guard.check_before(writer):  # another process has written, or the last transaction failed
                refuse_newer(writer, self.path)
                self._round += 1
            self._newest = self._guard.newest
            appended: list[Appended | Exception] = [self._append(writer, each) for each in appends]
        self._guard.wrote(self._newest)
        self._bell.ring()
        return appended

    def delete(self, sessions: Sequence[str]) -> None:
        with self._writing, self._guard:
            with self._writes() as writer:
                rows.delete_sessions(writer, sessions)
            trouble = scrub(writer, self._patience)
            self._guard.wrote()
            self._guard.look_at_file()
            if trouble:
                raise JournalUnavailable(
                    f"the sessions are gone, but traces may be left in {self.path} and its -wal file ({trouble}): "
                    "forget them again once that is fixed"
                )

    def put(
        self, kind: str, session: str, name: str, value: bytes | None, instead: bytes | AnyValue | None = ANY
    ) -> bool:
        with self._writing, self._guard, self._writes() as writer:
            if instead is not ANY:
                found = next(rows.entries(writer, kind, session, name), None)
                if instead != (found.value if found else None):
                    return False
            rows.put_entry(writer, kind, session, name, value)
            return True

    def alive(self, holder: str, seconds: float | None = None) -> bool:
        with self._writing, self._guard:
            if seconds and self._lock_file is None:
                sweep(self._locks)
                self._lock_file = LockFile(self._locks, holder)
            elif seconds == 0 and self._lock_file is not None:
                self._lock_file.remove()
                self._lock_file = None
            return self._is_locked(holder)

    def facts(self) -> JournalFacts:
        promise = (
            "an append is on this machine's disk before it is acknowledged (write-ahead log, fsync at every commit)"
        )
        return JournalFacts("sqlite", self.where, promise, {**self._facts(), "access": "read and write"})

    def close(self) -> None:
        """Close the connections. The last one writes the log into the file and deletes it. A reader can't, so the
        reader must be the last if the files are not those that were opened."""
        with self._writing, self._reading:
            self._guard.closed = True
            if self._lock_file is not None:
                self._lock_file.remove()
            in_place = self._guard.is_in_place(self._writer)
            for connection in (self._reader, self._writer) if in_place else (self._writer, self._reader):
                connection.close()
            self._guard.close()
        self._bell.ring()

    def _append(self, writer: sqlite3.Cursor, append: Append) -> Appended:
        end = after = append.after
        if after.place != self._round or not after.number:
            end = rows.end_of(writer, append.session, self._round)
        for key in append.keys:
            if (written := rows.find_key(writer, end.number, key.once, self.path)) is not None:
                return self._refused(writer, append, written)
        if not append.rows or (end.last, end.link) != (after.last, after.link):
            return self._refused(writer, append)
        try:
            end = rows.insert(writer, end, append.rows, self._round)
        except sqlite3.IntegrityError:
            if end is not after:
                raise
            return self._refused(writer, append)  # the writer had missed an append of this process
        for key in append.keys:
            rows.keep_key(writer, end.number, key)
        self._newest = end
        return Appended(end, True)

    def _refused(self, writer: sqlite3.Cursor, append: Append, key: KeySpan | None = None) -> Appended:
        """The outcome of an append that was not written. Those behind it that build on it look their ends up, too."""
        self._round += 1
        return Appended(rows.end_of(writer, append.session, self._round), keyed=key)

    def _begun(self) -> transaction:
        return self._hasty_transaction if self.is_hasty else self._transaction

    @contextmanager
    def _writes(self) -> Iterator[sqlite3.Cursor]:
        """A transaction for any write other than an append. What writers knew of the file no longer holds."""
        self._round += 1
        with self._begun() as writer:
            if not self._guard.check_before(writer):
                refuse_newer(writer, self.path)
            yield writer
        self._guard.wrote()


class ArchivedStore(SqliteReading):
    """A store that can be read but not written: an archive, another user's, one on a read-only file system, or a
    mixture of two journals. It refuses every write, except that it keeps no entries, silently: snapshots are a cache,
    and no holder of a lease is alive here."""

    def __init__(self, path: Path, mixture: MixedJournal | None = None) -> None:
        super().__init__(path)
        self._mixture = mixture
        with translate_errors(path):
            check_file(path)
            self._guard = FileGuard(path)
            self._file = UnwritableFile(path, PATIENCE)
            self._reader = self._file.connection

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        if self._mixture is not None:
            raise JournalUnavailable(str(self._mixture))
        raise JournalUnavailable(
            f"the journal {self.path} is read-only, and nothing was written: the file or its folder can't be written. "
            "Check who owns them, their modes and the file system; or name another journal"
        )

    append = delete = _refuse

    def put(self, *_: object) -> bool:
        return False

    def alive(self, holder: str, seconds: float | None = None) -> bool:
        if seconds:
            self._refuse()
        return self._is_locked(holder)

    def facts(self) -> JournalFacts:
        promise = "it can be read only: nothing is appended"
        return JournalFacts("sqlite", self.where, promise, {**self._facts(), "access": "read-only"})

    def troubles(self) -> Iterator[Trouble]:
        if self._mixture is not None:
            yield Trouble(str(self._mixture))
        yield from super().troubles()

    def take_reader(self) -> sqlite3.Connection:
        """The connection itself, for copying the whole file. The caller closes it; the store can't be used after."""
        return self._reader

    def close(self) -> None:
        with self._reading:
            self._guard.closed = True
            self._file.close()
        self._bell.ring()

    @contextmanager
    def _reads(self) -> Iterator[sqlite3.Connection]:
        with self._reading, self._guard:
            if not self._file.is_current:
                self._file.close()
                self._file = UnwritableFile(self.path, PATIENCE)
                self._reader = self._file.connection
            refuse_newer(self._reader, self.path)
            yield self._reader
