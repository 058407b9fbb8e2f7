"""The leases of a SQLite journal: rows that name their holders, and lock files that say which holders are alive.

Each opened journal that takes a lease makes one lock file in the folder `JOURNAL-leases` (see `lock_files`), and its
rows name that file. The file is locked before a row names it, and the rows are deleted before the file is. So a row
without a locked file is a lease that lapsed. The row of a lease taken for another process names that process instead.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from planwire.journal.codec import decode_terms
from planwire.journal.lock_files import LockFile, is_locked, sweep
from planwire.journal.processes import is_running
from planwire.journal.protocol import KnownLease
from planwire.journal.sqlite.rows import Executor, bindable

_KEEP: Final = """INSERT INTO leases (name, session, holder, terms) VALUES (?, ?, ?, ?)
    ON CONFLICT (name) DO UPDATE SET terms = excluded.terms"""
#: Precedes the name of a process in a row whose lease that process holds.
_PROCESS: Final = "process:"


class LeaseRow(NamedTuple):
    """A lease as it is stored."""

    name: str
    session: str
    holder: str
    terms: str


class Leases:
    """What a journal knows of leases: those in its file, and its own lock file once it has taken one.

    The journal passes its connection to every method, and lets only one thread write at a time.
    """

    def __init__(self, path: Path) -> None:
        self._folder = Path(f"{path}-leases")
        self._lock_file: LockFile | None = None

    @property
    def are_held(self) -> bool:
        """Whether this journal may have leases of its own."""
        return self._lock_file is not None

    def keep(self, writer: Executor, name: str, session: str, terms: str, process: str) -> None:
        """Write a lease, new or with other terms, even if a `forget` has removed it meanwhile. It is this journal's
        own, or that of a `process` if one is named."""
        if not process and self._lock_file is None:
            sweep(self._folder)
            self._lock_file = LockFile(self._folder)
        holder = f"{_PROCESS}{process}" if self._lock_file is None or process else self._lock_file.name
        writer.execute(_KEEP, LeaseRow(name, session, holder, terms))

    def rows(self, reader: Executor) -> list[LeaseRow]:
        found = reader.execute("SELECT name, session, holder, terms FROM leases ORDER BY number").fetchall()
        return [LeaseRow(*row) for row in found]

    def known(self, rows: Sequence[LeaseRow]) -> list[KnownLease]:
        """The leases of rows. Call it without a lock: finding out which ones are held takes longer than reading."""
        held = {holder: self._is_held(holder) for holder in {row.holder for row in rows}}
        return [KnownLease(row.session, row.name, decode_terms(row.terms), held[row.holder]) for row in rows]

    def release(self, writer: Executor, name: str) -> None:
        writer.execute("DELETE FROM leases WHERE name = ?", (name,))

    def end(self, writer: Executor, name: str) -> bool:
        """Remove the row of a lease, unless it is held. Says whether it did."""
        found = writer.execute("SELECT holder FROM leases WHERE name = ?", (name,)).fetchone()
        if found is None or self._is_held(found[0]):
            return False
        self.release(writer, name)
        sweep(self._folder)
        return True

    def forget(self, writer: Executor, sessions: Iterable[str]) -> None:
        writer.executemany("DELETE FROM leases WHERE session = ?", ((bindable(session),) for session in sessions))

    def release_all(self, writer: Executor) -> None:
        """Remove the rows of this journal's own leases."""
        if self._lock_file is not None:
            writer.execute("DELETE FROM leases WHERE holder = ?", (self._lock_file.name,))

    def close(self) -> None:
        """Remove the lock file of this journal. Any rows that are left have lapsed then."""
        if self._lock_file is not None:
            self._lock_file.remove()
            self._lock_file = None

    def _is_held(self, holder: str) -> bool:
        if self._lock_file is not None and holder == self._lock_file.name:
            return True
        if holder.startswith(_PROCESS):
            return is_running(holder.removeprefix(_PROCESS))
        return is_locked(self._folder, holder)
