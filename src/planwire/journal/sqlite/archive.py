"""A SQLite journal that can be read but not written: an archive, another user's, one on a read-only file system, or a
mixture of two journals."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NoReturn

from planwire.errors import JournalUnavailable
from planwire.journal.checked import Trouble
from planwire.journal.forks import forks
from planwire.journal.polling import PolledJournal
from planwire.journal.protocol import Journal, JournalFacts
from planwire.journal.sqlite.errors import translate_errors
from planwire.journal.sqlite.facts import file_facts
from planwire.journal.sqlite.file import check_file, refuse_newer, resolved
from planwire.journal.sqlite.guard import FileGuard
from planwire.journal.sqlite.journal import PATIENCE, SqliteJournal
from planwire.journal.sqlite.mixture import MixedJournal
from planwire.journal.sqlite.reading import SqliteReading
from planwire.journal.sqlite.unwritable import UnwritableFile, is_writable

_PROMISE: Final = "it can be read only: nothing is appended"


def open_sqlite(path: str | os.PathLike[str]) -> Journal:
    """The journal in a file: to read and write if the file can be written, else to read."""
    with translate_errors(Path(path)):
        found = resolved(Path(path))
        is_archive = found.is_file() and not is_writable(found)
    if is_archive:
        return ArchivedJournal(found)
    try:
        return SqliteJournal(found)
    except MixedJournal as error:
        return ArchivedJournal(found, mixture=error)


class ArchivedJournal(SqliteReading, PolledJournal):
    """A `Journal` that refuses every write, except that it drops snapshots silently: they are only a cache."""

    def __init__(
        self, path: str | os.PathLike[str], patience: float = PATIENCE, mixture: MixedJournal | None = None
    ) -> None:
        super().__init__(Path(path))
        self._patience = patience
        self._mixture = mixture
        with translate_errors(self.path):
            check_file(self.path)
            self._guard = FileGuard(self.path)
            self._file = UnwritableFile(self.path, PATIENCE)
            self._reader = self._file.connection

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        if self._mixture is not None:
            raise JournalUnavailable(str(self._mixture))
        raise JournalUnavailable(
            f"the journal {self.path} is read-only, and nothing was written: the file or its folder can't be written. "
            "Check who owns them, their modes and the file system; or name another journal"
        )

    append = store = lease = end_lease = forget = _refuse

    def keep_snapshot(self, session: str, seq: int, data: bytes, name: str = "state") -> None: ...

    def facts(self) -> JournalFacts:
        with self._reads() as reader:
            return JournalFacts(
                "sqlite", str(self.path), _PROMISE, {**file_facts(reader, self.path), "access": "read-only"}
            )

    def troubles(self) -> Iterator[Trouble]:
        if self._mixture is not None:
            yield Trouble(str(self._mixture))
        yield from super().troubles()

    def take_reader(self) -> sqlite3.Connection:
        """The connection itself, for copying the whole file. The caller closes it; the journal can't be used after."""
        return self._reader

    def close(self) -> None:
        if self._owner != forks():
            return
        self.thoughts.close()
        with self._reading:
            if not self._guard.closed:
                self._guard.closed = True
                self._file.close()
        self._ring()

    @contextmanager
    def _reads(self) -> Iterator[sqlite3.Connection]:
        self._check_process()
        with self._reading, self._guard:
            if not self._file.is_current:
                self._file.close()
                self._file = UnwritableFile(self.path, PATIENCE)
                self._reader = self._file.connection
            refuse_newer(self._reader, self.path)
            yield self._reader
