"""Thoughts in a SQLite file of their own, next to the journal that they belong to. Only its owner can read it.

The first thought creates the file, whole from the start as a journal is; readers never create one. Any number of
processes may use it at once. A person may delete it at any time, so each use checks whether the file is still the same.
"""

import os
import sqlite3
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Lock
from typing import Final

from planwire.errors import JournalUnavailable
from planwire.journal.protocol import Thought
from planwire.journal.spool_append import make_folder
from planwire.journal.sqlite.drafts import JournalDraft, sweep_drafts
from planwire.journal.sqlite.errors import not_a_journal, translate_errors
from planwire.journal.sqlite.file import connect, file_alone, resolved, scrub, transaction
from planwire.journal.sqlite.rows import bindable
from planwire.journal.sqlite.unwritable import UnwritableFile, is_writable
from planwire.journal.thoughts import too_old

#: "plwt" in ASCII.
APPLICATION_ID: Final = 0x706C7774
#: Seconds to wait for other processes: few, since an event waits for its thought, and more to forget thoughts for a
#: person.
PATIENCE: Final = 1.0
FORGET_PATIENCE: Final = 30.0
_TABLE: Final = (
    """CREATE TABLE IF NOT EXISTS thoughts (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        session TEXT NOT NULL,
        digest TEXT NOT NULL,
        size INTEGER NOT NULL,
        salt TEXT NOT NULL,
        text TEXT NOT NULL,
        UNIQUE (session, digest)
    )""",
    "CREATE INDEX IF NOT EXISTS sizes ON thoughts (session, number, size)",
    f"PRAGMA application_id = {APPLICATION_ID}",
)
_KEEP: Final = "INSERT OR REPLACE INTO thoughts (session, digest, size, salt, text) VALUES (?, ?, ?, ?, ?)"
_FIND: Final = "SELECT salt, text FROM thoughts WHERE session = ? AND digest = ?"
_SIZES: Final = "SELECT number, size FROM thoughts WHERE session = ? ORDER BY number DESC"


class FileThoughts:
    """The `Thoughts` in a file, which need not exist."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = Lock()
        self._connection: sqlite3.Connection | None = None
        self._file: UnwritableFile | None = None  # the owner of the connection, if the file can only be read
        self._opened: object = None  # the file and the process of the connection
        self._openings = 0
        self._forgets = 0

    def keep(self, session: str, thought: Thought) -> None:
        with self._using(create=True) as connection:
            assert connection is not None
            with transaction(connection, PATIENCE) as writer:
                name = bindable(session)
                size = len(thought.text.encode())
                writer.execute(_KEEP, (name, thought.digest, size, thought.salt, thought.text))
                old = too_old(writer.execute(_SIZES, (name,)).fetchall())
                writer.executemany("DELETE FROM thoughts WHERE number = ?", ((number,) for number in old))

    def find(self, session: str, digests: Collection[str]) -> dict[str, Thought]:
        found: dict[str, Thought] = {}
        if digests:
            with self._using() as connection:
                for digest in digests:
                    row = connection.execute(_FIND, (bindable(session), digest)).fetchone() if connection else None
                    if row is not None:
                        found[digest] = Thought(digest, *row)
        return found

    def forget(self, *sessions: str) -> None:
        self._forget("DELETE FROM thoughts WHERE session = ?", [(bindable(session),) for session in sessions])

    def forget_all(self) -> None:
        self._forget("DELETE FROM thoughts", [()])

    def glance(self) -> object:
        with self._using() as connection:
            changes = connection.execute("PRAGMA data_version").fetchone() if connection else None
            return changes, self._openings, self._forgets

    def close(self) -> None:
        with self._lock:
            self._let_go()

    def _forget(self, statement: str, of: list[tuple[str | bytes, ...]]) -> None:
        with self._using() as connection:
            if connection is None:
                return
            with transaction(connection, FORGET_PATIENCE) as writer:
                writer.executemany(statement, of)
            self._forgets += 1
            trouble = scrub(connection, FORGET_PATIENCE)
        if trouble:
            raise JournalUnavailable(
                f"the thoughts are gone, but traces may be left in {self.path} and its -wal file ({trouble}): forget "
                "them again once that is fixed"
            )

    @contextmanager
    def _using(self, *, create: bool = False) -> Iterator[sqlite3.Connection | None]:
        with self._lock, translate_errors(self.path):
            is_current = self._file is None or self._file.is_current
            if self._connection is None or not is_current or self._opened != self._identity():
                self._let_go()
                self._open(create=create)
                self._openings += self._connection is not None
            yield self._connection

    def _open(self, *, create: bool) -> None:
        if not create and self.path.is_file() and not is_writable(self.path):
            self._file = UnwritableFile(self.path, PATIENCE)
            self._connection, self._opened = self._file.connection, self._identity()
            return
        if create:
            resolved(self.path)
            make_folder(str(self.path.parent))
            if not self.path.exists():
                _create(self.path)
        elif not self.path.exists():
            return
        sweep_drafts(self.path)
        connection = connect(self.path, PATIENCE)
        try:
            _check(connection, self.path)
            connection.execute("PRAGMA synchronous = NORMAL")  # a power cut costs thoughts, and no more
        except BaseException:
            connection.close()
            raise
        self._connection, self._opened = connection, self._identity()

    def _identity(self) -> object:
        """Which file has the name now, and which process this is: a connection must not cross a fork."""
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return None
        return found.st_dev, found.st_ino, os.getpid()

    def _let_go(self) -> None:
        connection, self._connection = self._connection, None
        file, self._file = self._file, None
        if connection is not None and isinstance(self._opened, tuple) and self._opened[-1] == os.getpid():
            if file is not None:
                file.close()
            connection.close()


def check_thoughts(path: Path) -> None:
    """Refuse a file that does not hold thoughts, without changing it."""
    with translate_errors(path):
        if not path.is_file() or not path.stat().st_size:
            raise not_a_journal(path, "it does not hold what agents thought")
        with file_alone(path) as connection:
            if connection.execute("PRAGMA application_id").fetchone() != (APPLICATION_ID,):
                raise not_a_journal(path, "it is a SQLite database of another program")


def _create(path: Path) -> None:
    with JournalDraft(path) as draft:
        with closing(connect(draft.path, 0)) as connection:
            _check(connection, path)
        draft.take_name()


def _check(connection: sqlite3.Connection, path: Path) -> None:
    """Prepare an empty file for thoughts, and refuse one of another program."""
    (application_id,) = connection.execute("PRAGMA application_id").fetchone()
    if application_id != APPLICATION_ID:
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if application_id or tables:
            raise not_a_journal(path, "it is a SQLite database of another program")
        connection.execute("PRAGMA journal_mode = WAL")
        with transaction(connection, PATIENCE) as writer:
            for statement in _TABLE:
                writer.execute(statement)
