"""A journal in a SQLite file, which many processes may write and follow at once.

The write-ahead log with `synchronous=FULL` makes every commit durable while readers go on reading. All writes of this
process share one connection and its commits (see `group_commit`); reads have another one (see `reading`).

A connection must not cross a fork. A journal that did says so instead of working: open another one in the child.
"""

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Final

from planwire.errors import Conflict, JournalUnavailable, NewerJournal
from planwire.journal.chain import ChainEnd
from planwire.journal.codec import encode, refuse_unless_next
from planwire.journal.forks import forks
from planwire.journal.group_commit import Append, GroupCommit, Outcome
from planwire.journal.held_lease import HeldLease
from planwire.journal.polling import PolledJournal
from planwire.journal.protocol import JournalFacts, KnownLease, Once, Stamped, StoredAppend, Terms
from planwire.journal.sqlite import keys, rows
from planwire.journal.sqlite.chain import chain_end
from planwire.journal.sqlite.errors import translate_errors
from planwire.journal.sqlite.facts import PROMISE, file_facts
from planwire.journal.sqlite.file import connect, find_file, open_file, refuse_newer, resolved, scrub, transaction
from planwire.journal.sqlite.guard import Newest, WriterGuard, mend_memory
from planwire.journal.sqlite.mixture import refuse_mixture
from planwire.journal.sqlite.reading import SqliteReading
from planwire.model.events import Recorded

#: Seconds that a writer waits for writers of other processes before it gives up.
PATIENCE: Final = 30.0
#: The most that it waits to release leases, which would lapse anyway, or to end lapsed ones.
PARTING: Final = 1.0


class SqliteJournal(SqliteReading, PolledJournal):
    """A `Journal` in a file. It waits up to `patience` seconds for the writers of other processes."""

    _guard: WriterGuard

    def __init__(self, path: str | os.PathLike[str], patience: float = PATIENCE) -> None:
        with translate_errors(Path(path)):
            super().__init__(resolved(Path(path)))
        self._group = GroupCommit(self._commit)
        with translate_errors(self.path):
            find_file(self.path)
            mend_memory(self.path)
            refuse_mixture(self.path, patience)
            with ExitStack() as opened:
                self._writer = opened.enter_context(closing(open_file(self.path, patience)))
                self._guard = WriterGuard(self.path, self._writer)
                self._reader = connect(self.path, patience, "ro")
                opened.pop_all()
        self._transaction = transaction(self._writer, patience)
        self._parting = transaction(self._writer, min(patience, PARTING))
        self._patience = patience
        self._known: dict[str, ChainEnd] = {}  # valid until another process writes

    def append(
        self, session: str, events: Sequence[Stamped], expected_seq: int | None = None, once: Once | None = None
    ) -> tuple[Recorded, ...]:
        self._check_process()
        return tuple(self._group.append(Append(session, encode(session, events), expected_seq, once)))

    def keep_snapshot(self, session: str, seq: int, data: bytes, name: str = "state") -> None:
        self._check_process()
        with self._group.turn, self._guard, self._writes() as writer:
            rows.keep_snapshot(writer, session, seq, data, name)

    def lease(self, session: str, terms: Terms = Terms()) -> HeldLease:
        return HeldLease(session, terms, self._keep_lease, self._release_lease)

    def end_lease(self, known: KnownLease, events: Sequence[Stamped] = (), expected_seq: int | None = None) -> None:
        self._check_process()
        session, new = known.session, encode(known.session, events)
        with self._group.turn, self._guard, self._writes(self._parting) as writer:
            if not self._leases.end(writer, known.name):
                return
            end = chain_end(writer, session)
            if expected_seq is not None and expected_seq != end.last:
                raise Conflict(session, expected_seq, end.last)
            if new:
                rows.insert(writer, session, end, new)
        self._ring()

    def store(self, session: str, appends: Sequence[StoredAppend]) -> None:
        self._check_process()
        with self._group.turn, self._guard, self._writes() as writer:
            end = chain_end(writer, session)
            refuse_unless_next(session, end.last, appends)
            for append in (each for each in appends if each.events):
                after = end.last
                end = rows.insert_stored(writer, session, end, append.events)
                if append.once is not None:
                    keys.keep(writer, end.number, append.once, keys.Written(after, end.last))
        self._ring()

    def facts(self) -> JournalFacts:
        with self._reads() as reader:
            return JournalFacts(
                "sqlite", str(self.path), PROMISE, {**file_facts(reader, self.path), "access": "read and write"}
            )

    def forget(self, *sessions: str) -> None:
        self._check_process()
        self.thoughts.forget(*sessions)  # first: nobody could name the sessions afterwards
        with self._group.turn, self._guard:
            with self._writes() as writer:
                rows.delete_sessions(writer, sessions)
                keys.delete_orphans(writer)
                self._leases.forget(writer, sessions)
            trouble = scrub(writer, self._patience)
            self._guard.wrote()
            self._guard.look_at_file()
            if trouble:
                raise JournalUnavailable(
                    f"the sessions are gone, but traces may be left in {self.path} and its -wal file ({trouble}): "
                    "forget them again once that is fixed"
                )

    def close(self) -> None:
        if self._owner != forks():
            return
        self.thoughts.close()
        with self._group.turn, self._reading:
            if not self._guard.closed:
                self._close()
        self._ring()

    def _close(self) -> None:
        """Close the connections. The last one writes the log into the file and deletes it. A reader can't, so the
        reader must be the last if the files are not those that were opened."""
        self._give_leases_back()
        self._guard.closed = True
        in_place = self._guard.is_in_place(self._writer)
        for connection in (self._reader, self._writer) if in_place else (self._writer, self._reader):
            connection.close()
        self._guard.close()

    def _commit(self, batch: list[Append]) -> list[Outcome]:
        """Write a batch in one transaction. `GroupCommit` calls this while it holds the turn."""
        with self._guard, self._transaction as writer:
            if not self._guard.check_before(writer):  # another process has written, or the last transaction failed
                refuse_newer(writer, self.path)
                self._known.clear()
            self._newest = self._guard.newest
            outcomes = [self._write_append(writer, append) for append in batch]
        self._guard.wrote(self._newest)
        self._ring()
        return outcomes

    def _write_append(self, writer: sqlite3.Cursor, append: Append) -> Outcome:
        session, expected = append.session, append.expected
        known = self._known.get(session) or chain_end(writer, session)
        if append.once is not None and (written := keys.find(writer, known.number, append.once, self.path)):
            return self._pages(session, known.number, written.after, written.last)
        if expected is not None and expected != known.last:
            return Conflict(session, expected, known.last)
        if not append.rows:
            return ()
        end, recorded = rows.insert(writer, session, known, append.rows)
        self._known[session] = end
        assert writer.lastrowid is not None
        assert end.number is not None
        self._newest = Newest(writer.lastrowid, end.number, end.link)
        if append.once is not None:
            keys.keep(writer, end.number, append.once, keys.Written(known.last, end.last))
        return recorded

    def _keep_lease(self, name: str, session: str, terms: str, process: str) -> None:
        self._check_process()
        with self._group.turn, self._guard, self._writes() as writer:
            self._leases.keep(writer, name, session, terms, process)

    def _release_lease(self, name: str) -> None:
        if self._owner == forks() and not self._guard.closed:
            with self._group.turn, self._guard, self._writes() as writer:
                self._leases.release(writer, name)

    def _give_leases_back(self) -> None:
        """Release all leases. A journal that can't be written now can be closed all the same."""
        if self._leases.are_held and self._guard.is_in_place(self._writer):
            with suppress(sqlite3.Error, NewerJournal), self._parting as writer:
                refuse_newer(writer, self.path)
                self._leases.release_all(writer)
        self._leases.close()

    @contextmanager
    def _writes(self, begun: transaction | None = None) -> Iterator[sqlite3.Cursor]:
        """A transaction for any write other than an append. What the journal knew of the file no longer holds."""
        self._known.clear()
        with begun or self._transaction as writer:
            if not self._guard.check_before(writer):
                refuse_newer(writer, self.path)
            yield writer
        self._guard.wrote()
