"""Facts about the file of a SQLite journal."""

import sqlite3
import stat
from pathlib import Path
from typing import Final

PROMISE: Final = (
    "an append is on this machine's disk before it is acknowledged (write-ahead log, fsync at every commit)"
)


def file_facts(connection: sqlite3.Connection, path: Path) -> dict[str, str]:
    log = Path(f"{path}-wal")
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    size = path.stat().st_size + (log.stat().st_size if log.exists() else 0)
    return {
        "format": str(version),
        "SQLite": sqlite3.sqlite_version,
        "size": f"{size:,} bytes, with its log",
        "mode": stat.filemode(path.stat().st_mode),
    }
