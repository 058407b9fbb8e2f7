"""SQLite's errors turned into a journal's: what each means, and what to do about it."""

import errno
import os
import sqlite3
from pathlib import Path
from typing import Final

from planwire.errors import DamagedJournal, JournalError, JournalUnavailable, NotAJournal, reason

#: The statements are planwire's own and the schema is known, so an error in a statement means that the file is not what
#: it was: SQLITE_ERROR and SQLITE_CONSTRAINT are damage. An error without a code comes from text that is not UTF-8.
_DAMAGE: Final = {
    None,
    sqlite3.SQLITE_ERROR,
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_CONSTRAINT,
    sqlite3.SQLITE_MISMATCH,
}
_TROUBLE: Final = {
    sqlite3.SQLITE_BUSY: "another process has kept it locked for too long: end that process, or wait and try again",
    sqlite3.SQLITE_LOCKED: "it is locked: try again",
    sqlite3.SQLITE_FULL: "the disk is full, and this was not written: make room and try again",
    sqlite3.SQLITE_READONLY: "it can't be written: check who owns the file and its folder, and their modes",
    sqlite3.SQLITE_PERM: "access was denied: check who owns the file and its folder, and their modes",
    sqlite3.SQLITE_CANTOPEN: "it can't be opened: check that the folder is there and can be written",
    sqlite3.SQLITE_IOERR: "the disk failed or is full: check it before trying again",
}
_PRIMARY: Final = 0xFF
_NO_ROOM: Final = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}


class translate_errors:  # noqa: N801  (it reads like a function)
    """A context that turns errors of SQLite and of the system into `JournalError`s that say what to do. Unless the
    file is damaged or is no journal, the message begins with `failure`."""

    def __init__(self, path: Path, failure: str = "the journal {} can't be used") -> None:
        self._path = path
        self._failure = failure

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, sqlite3.Error):
            raise _explained(error, self._path, self._failure) from error
        if isinstance(error, UnicodeDecodeError):  # SQLite's own message quotes text that is not UTF-8
            raise damaged(self._path, error) from error
        if isinstance(error, OSError):
            what_to_do = (
                "make room and try again" if error.errno in _NO_ROOM else "check the path, and who owns its folder"
            )
            words = f"{self._failure.format(self._path)} ({_reason(error, self._path)}): {what_to_do}"
            raise JournalUnavailable(words) from error


def damaged(path: Path, why: object) -> DamagedJournal:
    return DamagedJournal(
        f"the journal {path} is damaged ({why}). It was left as it is: restore it from a backup, or move it away "
        "(with its -wal file) and let `sqlite3 FILE .recover` save what can be saved"
    )


def not_a_journal(path: Path, why: str) -> NotAJournal:
    return NotAJournal(f"{path} is not a planwire journal: {why}. It was left as it is: name another file")


def _explained(error: sqlite3.Error, path: Path, failure: str) -> JournalError:
    code: int | None = getattr(error, "sqlite_errorcode", None)
    primary = None if code is None else code & _PRIMARY
    if primary == sqlite3.SQLITE_NOTADB:
        return not_a_journal(path, "it is not a SQLite database")
    if primary in _DAMAGE:
        return damaged(path, error)
    what_to_do = _TROUBLE.get(primary or 0, "check the file and its disk, then try again")
    return JournalUnavailable(f"{failure.format(path)} ({error}): {what_to_do}")


def _reason(error: OSError, path: Path) -> str:
    """Why the system refused, and the name of the file unless it is the journal's own or that of its draft."""
    name = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes | Path) else ""
    is_known = name in ("", str(path)) or Path(name).name.startswith(f".{path.name}.")
    return reason(error) if is_known else f"{reason(error)}: {name}"
