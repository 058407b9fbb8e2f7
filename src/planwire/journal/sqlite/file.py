"""The file of a SQLite journal: born whole, and checked before anything touches it.

`PRAGMA application_id` marks a file as a journal; `PRAGMA user_version` is the number of its format (`format`). A file
that is not a journal of that format must not be changed. So its first page is read by a connection that takes no locks
and writes nothing, not even what a crash left in the write-ahead log; only then does planwire open the file for use. A
new journal is made under another name and takes its own once it is whole: no process ever meets half of one.
"""

import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Final, Literal

from planwire.errors import JournalUnavailable, NoJournal
from planwire.journal.format import FORMAT, development, newer
from planwire.journal.sqlite.drafts import JournalDraft, sweep_drafts
from planwire.journal.sqlite.errors import damaged, not_a_journal
from planwire.journal.sqlite.rows import Executor

#: "plan" in ASCII; "plwr" in development versions.
APPLICATION_ID: Final = 0x706C616E
OLD_APPLICATION_ID: Final = 0x706C7772

#: AUTOINCREMENT, because no session may get the number of a forgotten one: a read under way would go on in the wrong
#: session.
_TABLES: Final = (
    "CREATE TABLE sessions (number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE)",
    """CREATE TABLE events (
        position INTEGER PRIMARY KEY,
        session INTEGER NOT NULL REFERENCES sessions,
        seq INTEGER NOT NULL,
        at INTEGER NOT NULL,
        by TEXT NOT NULL,
        event TEXT NOT NULL,
        checksum INTEGER NOT NULL,
        link BLOB,
        UNIQUE (session, seq)
    )""",
    """CREATE TABLE once (
        session INTEGER NOT NULL REFERENCES sessions,
        source TEXT NOT NULL,
        n INTEGER NOT NULL,
        after INTEGER NOT NULL,
        last INTEGER NOT NULL,
        checksum INTEGER NOT NULL,
        PRIMARY KEY (session, source, n)
    ) WITHOUT ROWID""",
    """CREATE TABLE snapshots (
        session INTEGER NOT NULL REFERENCES sessions,
        name TEXT NOT NULL,
        seq INTEGER NOT NULL,
        data BLOB NOT NULL,
        PRIMARY KEY (session, name)
    )""",
    """CREATE TABLE leases (
        number INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        session TEXT NOT NULL,
        holder TEXT NOT NULL,
        terms TEXT NOT NULL
    )""",
    f"PRAGMA application_id = {APPLICATION_ID}",
    f"PRAGMA user_version = {FORMAT}",
)

_PRIVATE_FOLDER: Final = 0o700
#: The size to which SQLite cuts the log back after something large went through it.
LOG_BYTES: Final = 16 * 1024 * 1024
#: Memory for pages, per connection. Little is enough: writers work at the end of a journal, and readers read once.
CACHE_KIB: Final = 128
NAP: Final = 0.01
_SETTINGS: Final = (
    "synchronous = FULL",
    "fullfsync = ON",
    "secure_delete = ON",
    f"journal_size_limit = {LOG_BYTES}",
    f"cache_size = -{CACHE_KIB}",
)


def resolved(path: Path) -> Path:
    """The file itself, with all links resolved. A link that leads nowhere is refused: its maker may want a journal to
    appear in a place of their choice."""
    found = Path(os.path.realpath(path))
    if path.is_symlink() and not os.path.lexists(found):
        raise NoJournal(
            f"there is no journal at {path}: it is a link to {found}, and nothing is there. Nothing was created: name "
            "the journal by its own path, or remove the link"
        )
    return found


def find_file(path: Path) -> None:
    """Make sure that there is a journal of a format that this planwire knows. Creates one if there is no file."""
    if not os.path.lexists(path):
        _create(path)
    check_file(path)


def open_file(path: Path, patience: float) -> sqlite3.Connection:
    """The connection that writes to an existing journal."""
    sweep_drafts(path)
    connection = connect(path, patience)
    try:
        refuse_newer(connection, path)
        if not _log_ahead(connection):
            raise JournalUnavailable(
                f"the journal {path} is on a file system without shared memory: choose a folder on a local disk"
            )
        connection.execute("SELECT 1 FROM events").fetchone()  # from here on there is a log
        be_patient(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def be_patient(connection: Executor, seconds: float = NAP) -> None:
    """Set how long a statement waits for locks of other connections before it fails."""
    connection.execute(f"PRAGMA busy_timeout = {round(seconds * 1_000)}").fetchall()  # a row left would keep it open


def connect(path: Path, patience: float, mode: Literal["rw", "ro"] = "rw") -> sqlite3.Connection:
    """A connection to an existing file. Its commits are on disk when they return."""
    connection = sqlite3.connect(
        f"{path.as_uri()}?mode={mode}", uri=True, timeout=patience, isolation_level=None, check_same_thread=False
    )
    try:
        for setting in _SETTINGS:
            connection.execute(f"PRAGMA {setting}")
    except BaseException:
        connection.close()
        raise
    return connection


def scrub(connection: Executor, patience: float) -> str:
    """Rewrite the file, without a trace of the rows that were deleted. Returns what prevented that, or "".

    `secure_delete` overwrites what is deleted, but not the copies that SQLite left behind wherever it had moved a row
    from page to page: only a file that is written anew has none of those.
    """
    be_patient(connection, patience)
    give_up = monotonic() + patience
    try:
        connection.execute("VACUUM")
        while connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
            if monotonic() > give_up:
                return "another process keeps the log in use"
            sleep(NAP)  # SQLite does not wait for the checkpoint of another process
        return ""
    except sqlite3.OperationalError as error:
        return str(error)
    finally:
        be_patient(connection)


class transaction:  # noqa: N801  (it reads like a function)
    """A context for transactions that have the right to write from the beginning.

    SQLite waits for that right in ever longer naps, and latecomers overtake it. So this asks for short naps only, again
    and again. Every transaction uses the one cursor that `with` gives: a new cursor for each statement would cost an
    append as much as its checksum and its JSON.
    """

    def __init__(self, connection: sqlite3.Connection, patience: float) -> None:
        self._connection = connection
        self._cursor = connection.cursor()
        self._patience = patience

    def __enter__(self) -> sqlite3.Cursor:
        if self._connection.in_transaction:  # left by an interrupt that could not be caught
            self._cursor.execute("ROLLBACK")
        give_up: float | None = None
        while True:
            try:
                return self._cursor.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                give_up = give_up or monotonic() + self._patience
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or monotonic() > give_up:
                    raise
            except BaseException:  # an interrupt while SQLite waits is raised only once it has begun
                if self._connection.in_transaction:
                    self._cursor.execute("ROLLBACK")
                raise

    def __exit__(self, kind: object, *_: object) -> None:
        try:
            if kind is None:
                self._cursor.execute("COMMIT")
        finally:
            if self._connection.in_transaction:
                self._cursor.execute("ROLLBACK")


def refuse_newer(connection: Executor, path: Path) -> None:
    """Raise `NewerJournal` if a newer planwire changed the format, which it may do while this one has the file open."""
    if (version := _version(connection)) > FORMAT:
        raise newer(f"the journal {path}", version)


@contextmanager
def file_alone(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that sees a file without its log, takes no locks and changes nothing.

    `writable_schema` lets it read a file whose checkpoint is unfinished: its first page tells of pages not there yet.
    """
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        yield connection


def check_file(path: Path) -> None:
    """Refuse a file that is not a journal, or that has a format which this planwire does not know.

    SQLite reads the first page, because closing any other handle would drop this process's locks on the file.
    """
    found = path.stat()
    if not stat.S_ISREG(found.st_mode):
        raise not_a_journal(path, "it is not a regular file")
    if not found.st_size:
        raise damaged(path, "it is empty, which no journal ever is; if it never held anything, delete it")
    with file_alone(path) as connection:
        (application_id,) = connection.execute("PRAGMA application_id").fetchone()
        if application_id == OLD_APPLICATION_ID:
            raise development(f"the journal {path}", "move that file away, or name another one")
        if application_id != APPLICATION_ID:
            raise not_a_journal(path, "it is a SQLite database of another program")
        if _version(connection) < 1:
            raise damaged(path, f"it says that its format is {_version(connection)}")
        refuse_newer(connection, path)


def _create(path: Path) -> None:
    """Create a journal without events that only its owner can read, in folders that only its owner can enter."""
    make_folders(path)
    with JournalDraft(path) as draft:
        with closing(connect(draft.path, 0)) as connection:
            with transaction(connection, 0) as writer:
                for statement in _TABLES:
                    writer.execute(statement)
            _log_ahead(connection)
        draft.take_name()
    sync_folder(path.parent)


def make_folders(path: Path) -> None:
    """Make the missing folders around a new journal, so that only their owner can enter them."""
    missing = [folder for folder in path.parents if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir(_PRIVATE_FOLDER, exist_ok=True)
        sync_folder(folder.parent)


def sync_folder(folder: Path) -> None:
    """Write a new name in a folder to the disk, on systems where a program can open a folder for that."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _log_ahead(connection: sqlite3.Connection) -> bool:
    return bool(connection.execute("PRAGMA journal_mode = WAL").fetchone() == ("wal",))


def _version(connection: Executor) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])
