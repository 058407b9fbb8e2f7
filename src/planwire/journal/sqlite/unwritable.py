"""SQLite files that can be read but not written: on a read-only file system, or in another user's folder.

To read a file with a write-ahead log, SQLite has to write beside it: shared memory, and the log. Where nothing can be
written, a file without a log is read by itself. If there is a log, another process may be writing, and then SQLite can
join it through the shared memory that is there. A log without shared memory is in use by no process, but may hold the
newest events: then file and log are read in a private copy.
"""

import os
import shutil
import sqlite3
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

_AS_OURSELVES: Final = os.access in os.supports_effective_ids
_MOST_TRIES: Final = 20
#: A log of this size is empty.
_LOG_HEAD: Final = 32


def is_writable(path: Path) -> bool:
    """Whether SQLite can write to an existing file, and to what it needs beside it."""
    beside = [Path(f"{path}{ending}") for ending in ("-wal", "-shm")]
    return _can_write(path) and (_can_write(path.parent) or all(map(_can_write, beside)))


class UnwritableFile:
    """A connection to a file that can't be written, and the state of the file when the connection was made."""

    def __init__(self, path: Path, patience: float) -> None:
        self._path = path
        self._log = Path(f"{path}-wal")
        self._patience = patience
        self._copy: TemporaryDirectory[str] | None = None
        self._seen = self._sight()
        self.connection = self._connected()

    @property
    def is_current(self) -> bool:
        """Whether a new connection would see the same. A connection that joined a writer is always current."""
        return self._seen is None or self._seen == self._sight()

    def close(self) -> None:
        self.connection.close()
        if self._copy is not None:
            self._copy.cleanup()

    def _connected(self) -> sqlite3.Connection:
        if _size(self._log) <= _LOG_HEAD:
            return self._connect(self._path, "&immutable=1")
        with suppress(sqlite3.OperationalError):
            connection = self._connect(self._path, "")
            self._seen = None
            return connection
        return self._connect(self._private_copy(), "")

    def _connect(self, path: Path, how: str) -> sqlite3.Connection:
        name = f"{path.as_uri()}?mode=ro{how}"
        connection = sqlite3.connect(
            name, uri=True, timeout=self._patience, isolation_level=None, check_same_thread=False
        )
        try:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except BaseException:
            connection.close()
            raise
        return connection

    def _private_copy(self) -> Path:
        self._copy = TemporaryDirectory(prefix="planwire-")
        copied = Path(self._copy.name) / self._path.name
        copied_log = Path(f"{copied}-wal")
        for _ in range(_MOST_TRIES):
            before = self._sight()
            shutil.copyfile(self._path, copied)
            copied_log.unlink(missing_ok=True)
            with suppress(FileNotFoundError):  # the last writer closed the journal, which removes the log
                shutil.copyfile(self._log, copied_log)
            if self._sight() == before:
                self._seen = before
                return copied
        raise OSError(f"{self._path} keeps changing, so it can't be copied to be read")

    def _sight(self) -> object:
        return [(each.st_mtime_ns, each.st_size, each.st_ino) for each in _stats(self._path, self._log)]


def _stats(*paths: Path) -> list[os.stat_result]:
    found = []
    for path in paths:
        with suppress(OSError):
            found.append(path.stat())
    return found


def _size(path: Path) -> int:
    return sum(each.st_size for each in _stats(path))


def _can_write(path: Path) -> bool:
    return os.access(path, os.W_OK, effective_ids=True) if _AS_OURSELVES else os.access(path, os.W_OK)
