"""A journal in a SQLite file, which many processes may write and follow at once.

The write-ahead log with `synchronous=FULL` makes every commit durable while readers go on reading. All writes of this
process share one connection and its commits (see `group_commit`); reads have another one that can do nothing else, and
take a page at a time: no reader keeps SQLite from cutting the log back, or a forgotten session from leaving the file.

A connection must not cross a fork. A journal that did says so instead of working: open another one in the child.
"""

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import Final

from planwire.errors import Conflict, JournalUnavailable
from planwire.journal import sqlite_keys as keys
from planwire.journal import sqlite_rows as rows
from planwire.journal.codec import encode
from planwire.journal.group_commit import Append, GroupCommit, Outcome
from planwire.journal.polling import Found, PolledJournal
from planwire.journal.protocol import KnownLease, KnownSession, Once, Snapshot, Stamped, Terms
from planwire.journal.sqlite_errors import translate_errors
from planwire.journal.sqlite_file import connect, open_file, refuse_newer, scrub, transaction
from planwire.journal.sqlite_leases import Leases, SqliteLease
from planwire.journal.sqlite_log import add_link, room_in_log
from planwire.journal.thoughts_file import FileThoughts
from planwire.model.events import Recorded

__all__ = ["SqliteJournal"]

#: Seconds that a writer waits for those of other processes before it gives up.
PATIENCE: Final = 30.0
#: And no longer than this to give leases back, which lapse without it, too, or to end those that did.
PARTING: Final = 1.0
#: Upper bounds: pages of tables and indexes that a new row changes, and characters that fill no more than a page. To
#: look at the log before every append would cost a tenth of its time: so the journal counts, and looks 20 times a log.
PAGES_PER_ROW: Final = 8
CHARACTERS_PER_PAGE: Final = 1_000
#: Seconds until a journal notices that its file is gone. To look after every append would cost a fifth of its time.
NOTICE: Final = 0.05


class SqliteJournal(PolledJournal):
    """A `Journal` in a file. It waits `patience` seconds for the writers of other processes."""

    def __init__(self, path: str | os.PathLike[str], patience: float = PATIENCE) -> None:
        super().__init__()
        self.path = Path(os.path.realpath(path))
        self.thoughts = FileThoughts(self.path.with_name(f"{self.path.name}.thoughts"))
        self._log_path = f"{self.path}-wal"
        self._owner = os.getpid()
        self._group = GroupCommit(self._commit)
        self._reading = Lock()
        with translate_errors(self.path):
            self._writer = open_file(self.path, patience)
            try:
                self._guard = _FileGuard(self.path)
                self._reader = connect(self.path, patience, "ro")
                self._log = FileIO(self._log_path)
            except BaseException:
                self._writer.close()
                raise
        self._transaction = transaction(self._writer, patience)
        self._parting = transaction(self._writer, min(patience, PARTING))
        self._patience = patience
        self._leases = Leases(self.path)
        self._known: dict[str, rows.SessionEnd] = {}  # valid as long as no one else has written
        self._others: int | None = None
        self._is_linked = False  # this round of the log has a link
        self._has_keys = False  # the file has a table of keys, for sure
        self._room = 0  # pages that may go into the log before the next look at its length

    def append(
        self, session: str, events: Sequence[Stamped], expected_seq: int | None = None, once: Once | None = None
    ) -> tuple[Recorded, ...]:
        self._check_process()
        append = Append(session, encode(session, events), expected_seq, once)
        if once is not None and not self._has_keys:
            self._prepare_keys()
        return tuple(self._group.append(append))

    def read(self, session: str, after: int = 0, upto: int | None = None) -> Iterator[Recorded]:
        with self._reads() as reader:
            number, last = rows.find(reader, session)
        return self._pages(session, number, max(after, 0), last if upto is None else min(last, upto))

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

    def keep_snapshot(self, session: str, seq: int, data: bytes, name: str = "state") -> None:
        self._check_process()
        with self._group.turn, self._guard, self._linked() as writer:
            rows.keep_snapshot(writer, session, seq, data, name)

    def lease(self, session: str, terms: Terms = Terms()) -> SqliteLease:
        return SqliteLease(session, terms, self._keep_lease, self._release_lease)

    def leases(self) -> list[KnownLease]:
        with self._reads() as reader:
            return self._leases.known(reader)

    def end_lease(self, known: KnownLease, events: Sequence[Stamped] = (), expected_seq: int | None = None) -> None:
        self._check_process()
        session, new = known.session, encode(known.session, events)
        with self._group.turn, self._guard, self._linked(self._parting) as writer:
            if not self._leases.end(writer, known.name):
                return
            found = rows.find(writer, session)
            if expected_seq is not None and expected_seq != found.last:
                raise Conflict(session, expected_seq, found.last)
            if new:
                rows.insert(writer, session, found, new)
        self._ring()

    def forget(self, *sessions: str) -> None:
        self._check_process()
        self.thoughts.forget(*sessions)  # before the sessions, which a person could not name any more
        with self._group.turn, self._guard:
            with self._linked() as writer:
                rows.delete_sessions(writer, sessions)
                keys.delete_orphans(writer)
                self._leases.forget(writer, sessions)
            trouble = scrub(writer, self._patience)
            if trouble:
                raise JournalUnavailable(
                    f"the sessions are gone, but traces may be left in {self.path} and its -wal file ({trouble}): "
                    "forget them again once that is fixed"
                )

    def close(self) -> None:
        if self._owner != os.getpid():
            return
        self.thoughts.close()
        with self._group.turn, self._reading:
            self._give_leases_back()
            self._guard.closed = True
            self._log.close()
            # The last one to go deletes the log, by its name. A reader can't, and so must be the last if that name
            # belongs to another journal by now.
            for connection in (self._reader, self._writer) if self._guard.in_place() else (self._writer, self._reader):
                connection.close()
        self._ring()

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
        """Every commit writes to the log first."""
        try:
            found = os.stat(self._log_path)  # noqa: PTH116  (it is done fifty times a second)
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino

    def _commit(self, batch: list[Append]) -> list[Outcome]:
        """One transaction for all of them. `GroupCommit` calls this, and holds the turn."""
        with self._guard, self._transaction as writer:
            (others,) = writer.execute("PRAGMA data_version").fetchone()
            if others != self._others:  # someone else has written, or the last transaction came to nothing
                refuse_newer(writer, self.path)
                self._known.clear()
                self._is_linked = False
            elif self._room <= 0:
                self._room = room_in_log(self._log)
                self._is_linked &= self._room > 0  # a longer log may start over with this transaction
            self._others = None
            outcomes = [self._write(writer, append) for append in batch]
        self._others = others
        self._ring()
        return outcomes

    def _write(self, writer: sqlite3.Cursor, append: Append) -> Outcome:
        session, expected = append.session, append.expected
        known = self._known.get(session) or rows.find(writer, session)
        if append.once is not None and (written := keys.find(writer, known.number, append.once, self.path)):
            return self._pages(session, known.number, written.after, written.last)
        if expected is not None and expected != known.last:
            return Conflict(session, expected, known.last)
        if not append.rows:
            return ()
        if not self._is_linked:
            add_link(writer)
            self._is_linked = True
            self._room = 0
        for row in append.rows:
            self._room -= PAGES_PER_ROW + len(row.text) // CHARACTERS_PER_PAGE
        self._known[session], recorded = rows.insert(writer, session, known, append.rows)
        if append.once is not None:
            self._room -= PAGES_PER_ROW + len(append.once.source) // CHARACTERS_PER_PAGE
            keys.keep(writer, self._known[session].number, append.once, keys.Written(known.last, recorded[-1].seq))
        return recorded

    def _prepare_keys(self) -> None:
        with self._reads() as reader:
            self._has_keys = keys.has_table(reader)
        if not self._has_keys:
            with self._group.turn, self._guard, self._linked() as writer:
                keys.create_table(writer)
            self._has_keys = True

    def _keep_lease(self, name: str, session: str, terms: str, process: str) -> None:
        self._check_process()
        with self._group.turn, self._guard, self._linked() as writer:
            self._leases.keep(writer, name, session, terms, process)

    def _release_lease(self, name: str) -> None:
        if self._owner == os.getpid() and not self._guard.closed:
            with self._group.turn, self._guard, self._linked() as writer:
                self._leases.release(writer, name)

    def _give_leases_back(self) -> None:
        """A journal that can't be written now must be closed all the same."""
        if self._leases.are_held and self._guard.in_place():
            with suppress(sqlite3.Error), self._parting as writer:
                add_link(writer)
                self._leases.release_all(writer)
        self._leases.close()

    def _pages(self, session: str, number: int | None, after: int, last: int) -> Iterator[Recorded]:
        while after < last:
            with self._reads() as reader:
                page = rows.page_of_session(reader, number, after, last)
                if not page and rows.find(reader, session).number != number:
                    return  # it was forgotten meanwhile
            yield from rows.recorded_in_order(page, session, after, self.path)
            after += len(page)

    @contextmanager
    def _linked(self, begun: transaction | None = None) -> Iterator[sqlite3.Cursor]:
        """A transaction that is no mere append. What the journal knows of the file holds no longer."""
        self._others = None
        with begun or self._transaction as writer:
            refuse_newer(writer, self.path)
            add_link(writer)
            yield writer

    @contextmanager
    def _reads(self) -> Iterator[sqlite3.Connection]:
        self._check_process()
        with self._reading, self._guard:
            refuse_newer(self._reader, self.path)
            yield self._reader

    def _check_process(self) -> None:
        if self._owner != os.getpid():
            raise JournalUnavailable(
                f"the journal {self.path} was opened before this process was forked off: open it again here"
            )


class _FileGuard(translate_errors):
    """Around every use of the file: it is open, it is still the same file, and its errors say what to do."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.closed = False
        self._log = f"{path}-wal"
        self._files = self._identify()
        self._seen = monotonic()

    def __enter__(self) -> None:
        if self.closed:
            raise JournalUnavailable(f"the journal {self._path} is closed: open it again")

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is not None:
            super().__exit__(kind, error, trace)
        elif monotonic() - self._seen > NOTICE:
            if not self.in_place():
                raise JournalUnavailable(
                    f"the journal {self._path} or its -wal file was deleted or replaced while it was open, and what "
                    "was written last may be gone with it: open it again"
                )
            self._seen = monotonic()

    def in_place(self) -> bool:
        try:
            return self._identify() == self._files
        except OSError:
            return False

    def _identify(self) -> list[tuple[int, int]]:
        """The files themselves, under whatever name. The log stays the same file as long as anyone has a connection."""
        found = [Path(name).stat() for name in (self._path, self._log)]
        return [(each.st_dev, each.st_ino) for each in found]
