"""The file of a catalogue: a row per session of a journal, and the words of each. It lies beside the journal's
thoughts, on this machine, and only its owner can read it.

Nothing in it is the only copy of anything. So a file that is damaged, or of another version, is thrown away; and where
a file can't be written, or another process keeps it locked, one in memory takes its place, for as long as this process
needs it. It knows nothing of what the rows mean (`readmodel.catalogue`).
"""

import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple, Self
from zlib import crc32

from planwire.errors import JournalUnavailable
from planwire.journal.companion_files import beside
from planwire.journal.drafts import JournalDraft, sweep_drafts
from planwire.journal.protocol import Journal
from planwire.journal.spool_append import make_folder
from planwire.journal.sqlite.errors import is_damage
from planwire.journal.sqlite.file import connect, scrub, transaction
from planwire.model.event_words import Word

#: "plct" in ASCII.
APPLICATION_ID: Final = 0x706C6374
#: Seconds to wait for other processes, which write for a fraction of one at a time.
PATIENCE: Final = 1.0
#: The row in `traces` says that what was removed may have left some.
_TABLES: Final = (
    """CREATE TABLE sessions (
        number INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        position INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        last_at INTEGER NOT NULL,
        link BLOB,
        data BLOB NOT NULL,
        checksum INTEGER NOT NULL,
        words INTEGER NOT NULL DEFAULT 0
    )""",
    """CREATE TABLE words (
        session INTEGER NOT NULL,
        kind TEXT NOT NULL,
        plan TEXT NOT NULL,
        place TEXT NOT NULL,
        text TEXT NOT NULL,
        seq INTEGER NOT NULL,
        checksum INTEGER NOT NULL,
        PRIMARY KEY (session, kind, plan, place, text)
    ) WITHOUT ROWID""",
    "CREATE TABLE traces (number INTEGER PRIMARY KEY)",
    f"PRAGMA application_id = {APPLICATION_ID}",
)
_ROWS: Final = "SELECT id, position, seq, last_at, link, data, checksum FROM sessions"
_PUT: Final = """INSERT INTO sessions (id, position, seq, last_at, link, data, checksum) VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET position = excluded.position, seq = excluded.seq, last_at = excluded.last_at,
    link = excluded.link, data = excluded.data, checksum = excluded.checksum"""
_WORDS: Final = """SELECT kind, plan, place, text, words.seq, words.checksum
    FROM words JOIN sessions ON number = session WHERE id = ? ORDER BY words.seq, kind, plan, place, text"""
_ADD: Final = "INSERT OR IGNORE INTO words VALUES ((SELECT number FROM sessions WHERE id = ?), ?, ?, ?, ?, ?, ?)"
#: What the words of a session sum up to. What is added to them changes that by as much, and hides no loss.
_TOTAL: Final = "(SELECT coalesce(sum(checksum), 0) FROM words WHERE session = number)"
_BEFORE: Final = f"UPDATE sessions SET words = words - {_TOTAL} WHERE id = ?"  # noqa: S608
_AFTER: Final = f"UPDATE sessions SET words = words + {_TOTAL} WHERE id = ?"  # noqa: S608
_IS_SHORT: Final = f"SELECT 1 FROM sessions WHERE id = ? AND words <> {_TOTAL}"  # noqa: S608
_REMOVE: Final = (
    "DELETE FROM words WHERE session = (SELECT number FROM sessions WHERE id = ?)",
    "DELETE FROM sessions WHERE id = ?",
)
_MOST: Final = 2**32 - 1


class CatalogueRow(NamedTuple):
    """A session whose last event has this position in the journal; what is catalogued ends with its event `seq`, at the
    time `last_at`. `link` is that of this event, if it has one."""

    id: str
    position: int
    seq: int
    last_at: int
    link: bytes | None
    data: bytes
    checksum: int = 0

    @property
    def sum(self) -> int:
        """The checksum of a row that is to be written."""
        return crc32(self.data, crc32(self.id.encode()) ^ ((self.position ^ self.seq ^ self.last_at) & _MOST))


class CatalogueError(Exception):
    """The file can't be used: `recover`, and begin again. `is_damage`: nor will it ever be."""

    def __init__(self, error: sqlite3.Error | OSError) -> None:
        super().__init__(str(error))
        self.is_damage = isinstance(error, sqlite3.Error) and is_damage(error)


def catalogue_path(journal: Journal) -> Path | None:
    """The file for the catalogue of a journal; None for one that ends with its process."""
    path = getattr(journal.thoughts, "path", None)
    return path.with_suffix(".catalogue") if isinstance(path, Path) else None


class CatalogueFile:
    """A catalogue, for one thread. Every call may raise `CatalogueError`. `version` is that of the rows; `path` is None
    for a catalogue in memory, which keeps no words."""

    def __init__(self, path: Path | None, version: int) -> None:
        self.path = path
        self._version = version
        self._open: sqlite3.Connection | None = None
        self._is_new = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._open is not None:
            self._open.close()

    def recover(self, error: CatalogueError) -> None:
        """Go on after an error: with a new file if this one is damaged, else in memory, with the rows that it has."""
        if self.path is None:
            raise JournalUnavailable(f"sessions can't be listed: {error}") from error
        before, self._open = self._open, None
        if error.is_damage and not self._is_new:
            self._is_new = True
            if before is not None:
                before.close()
            with suppress(OSError):
                for each in beside(self.path):
                    each.unlink(missing_ok=True)
                return
        self.path, self._open = None, _in_memory(None if error.is_damage else before)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """A transaction: all of it is written, or nothing. Other processes wait for its end."""
        with self._using() as connection, transaction(connection, PATIENCE):
            yield

    def rows(self, session: str | None = None) -> list[CatalogueRow]:
        """All rows, or the one of a session."""
        with self._using() as connection:
            query, values = (_ROWS, ()) if session is None else (f"{_ROWS} WHERE id = ?", (session,))
            found = connection.execute(query, values).fetchall()
            try:
                is_sound = all(
                    crc32(data, crc32(name.encode()) ^ ((position ^ seq ^ at) & _MOST)) == check
                    for name, position, seq, at, _, data, check in found
                )
            except (AttributeError, TypeError):  # SQLite takes values of any type
                is_sound = False
            return [*map(CatalogueRow._make, _sound(found, is_sound=is_sound))]

    def words(self, session: str) -> list[Word]:
        """The words of a session, in the order of their events."""
        with self._using() as connection:
            found = connection.execute(_WORDS, (session,)).fetchall()
            is_whole = connection.execute(_IS_SHORT, (session,)).fetchone() is None
            is_sound = is_whole and all(row[-1] == _sum(row[:-1]) for row in found)
            return [Word(*row[:-1]) for row in _sound(found, is_sound=is_sound)]

    def put(self, row: CatalogueRow, words: Iterable[Word]) -> None:
        """Put a row in place of an older one, and add words."""
        with self._using() as connection:
            connection.execute(_PUT, (*row[:-1], row.sum))
            if self.path is not None:
                connection.execute(_BEFORE, (row.id,))
                connection.executemany(_ADD, ((row.id, *word, _sum(word)) for word in words))
                connection.execute(_AFTER, (row.id,))

    def remove(self, sessions: Iterable[str]) -> None:
        """Remove sessions and their words. Traces of them may be left."""
        with self._using() as connection:
            connection.execute("INSERT OR IGNORE INTO traces VALUES (1)")
            for session in sessions:
                for statement in _REMOVE:
                    connection.execute(statement, (session,))

    def scrub(self) -> None:
        """Rewrite the file without traces of what was removed, if there may be any, unless another process prevents
        that now."""
        with self._using() as connection:
            if self.path and connection.execute("SELECT 1 FROM traces").fetchone() and not scrub(connection, PATIENCE):
                connection.execute("DELETE FROM traces")

    @contextmanager
    def _using(self) -> Iterator[sqlite3.Connection]:
        try:
            if self._open is None:
                self._open = _opened(self.path, self._version) if self.path else _in_memory(None)
            yield self._open
        except (sqlite3.Error, OSError) as error:
            raise CatalogueError(error) from error


def _sound(found: list[Any], *, is_sound: bool) -> list[Any]:
    if not is_sound:
        raise sqlite3.DatabaseError("it is not as it was written")
    return found


def _sum(word: Iterable[object]) -> int:
    return crc32(repr(tuple(word)).encode())


def _opened(path: Path, version: int) -> sqlite3.Connection:
    if path.is_symlink():
        raise FileExistsError(f"{path} is a link")
    if not path.exists():
        make_folder(str(path.parent))
        if hasattr(os, "geteuid") and path.parent.stat().st_uid != os.geteuid():
            raise PermissionError(f"{path.parent} is another user's, who could not use a file of ours there")
        sweep_drafts(path)
        with JournalDraft(path) as draft:
            with closing(connect(draft.path, 0)) as connection:
                connection.execute("PRAGMA journal_mode = WAL").fetchone()
                _make_tables(connection, version)
            draft.take_name()
    connection = connect(path, PATIENCE)
    try:
        connection.execute("PRAGMA synchronous = NORMAL")  # a power cut costs the newest rows, which are made again
        (application_id,) = connection.execute("PRAGMA application_id").fetchone()
        (found,) = connection.execute("PRAGMA user_version").fetchone()
        if application_id == APPLICATION_ID and found > version:
            raise FileExistsError(f"{path} is a newer planwire's")
        _sound([], is_sound=(application_id, found) == (APPLICATION_ID, version))
    except BaseException:
        connection.close()
        raise
    return connection


def _in_memory(before: sqlite3.Connection | None) -> sqlite3.Connection:
    """A catalogue in memory, with the rows of another one, as far as these can be read."""
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    _make_tables(connection, 0)
    if before is not None:
        with closing(before), suppress(sqlite3.Error):
            connection.executemany(_PUT, before.execute(_ROWS).fetchall())
    return connection


def _make_tables(connection: sqlite3.Connection, version: int) -> None:
    with transaction(connection, PATIENCE) as writer:
        for statement in (*_TABLES, f"PRAGMA user_version = {version}"):
            writer.execute(statement)
