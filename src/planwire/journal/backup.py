"""Backups of journals: a SQLite file each, private, whole from the moment that it has its name, and checked.

A SQLite journal is copied by SQLite's own means, with what is in its log, while others write. A journal of any other
engine is copied event by event (`copying`). Whatever interrupts it leaves a hidden draft, which is swept away later.
"""

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final

from planwire.errors import DamagedJournal, JournalUnavailable, Refused
from planwire.journal.copying import CopiedJournal, copy_journal
from planwire.journal.protocol import Journal
from planwire.journal.sqlite import SqliteJournal
from planwire.journal.sqlite_archive import ArchivedJournal, open_sqlite
from planwire.journal.sqlite_drafts import JournalDraft, sweep_drafts
from planwire.journal.sqlite_errors import translate_errors
from planwire.journal.sqlite_file import connect, sync_folder
from planwire.journal.sqlite_log import refuse_foreign_log
from planwire.journal.sqlite_unwritable import UnwritableFile, is_writable
from planwire.journal.verifying import Verified, verify

__all__ = ["back_up", "back_up_thoughts", "restore_file"]

#: Pages that SQLite copies at a time: as many as take a moment.
_PAGES: Final = 500
_PATIENCE: Final = 30.0
Heard = Callable[[str], None]


def back_up(journal: Journal, target: Path, heard: Heard = lambda _: None, *, replace: bool = False) -> Verified:
    """Write a backup to a file that does not exist yet, or replace one. Returns what a check of it found: nothing."""
    target = Path(os.path.realpath(target))
    if os.path.lexists(target) and not replace:
        raise Refused(f"{target} exists already: name another file, or pass --force to replace it")
    if any(path.exists() and path.stat().st_size for path in _beside(target)[1:2]):
        raise Refused(f"{target} is a journal in use, with a log beside it: name another file")
    with translate_errors(target):
        sweep_drafts(target)
        with JournalDraft(target) as draft:
            if isinstance(journal, SqliteJournal | ArchivedJournal):
                copy_file(journal.path, draft.path, heard)
            else:
                draft.path.unlink()
                with SqliteJournal(draft.path) as copy:
                    copied = copy_journal(journal, copy, lambda now: heard(f"{now.events:,} events"))
                _refuse_half(copied)
            _sync(draft.path)
            verified = _checked(draft.path, target, heard)
            if replace:
                draft.path.replace(target)
            elif not draft.take_name():
                raise Refused(f"{target} appeared meanwhile, and was left as it is")
        sync_folder(target.parent)
    return verified


def back_up_thoughts(journal: Journal, target: Path) -> bool:
    """Write what agents thought to a file beside a backup, in place of what is there. Says whether there was any."""
    source = getattr(journal.thoughts, "path", None)
    if not isinstance(source, Path) or not source.is_file():
        return False
    path = target.with_name(f"{target.name}.thoughts")
    with translate_errors(path), JournalDraft(path) as draft:
        with _thoughts_reader(source) as reader, closing(connect(draft.path, _PATIENCE)) as writer:
            reader.backup(writer)
            writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        _sync(draft.path)
        draft.path.replace(path)
    return True


@contextmanager
def _thoughts_reader(source: Path) -> Iterator[sqlite3.Connection]:
    if is_writable(source):
        with closing(connect(source, _PATIENCE, "ro")) as connection:
            yield connection
    else:
        with closing(UnwritableFile(source, _PATIENCE)) as file:  # which may be a copy, for as long as it is there
            yield file.connection


def restore_file(backup: Path, path: Path, aside: str, heard: Heard = lambda _: None) -> Path | None:
    """Put a copy of a backup in the place of a SQLite journal. The old one, which nobody may have open, is kept under
    another name with its log; returns that name."""
    backup, path = (Path(os.path.realpath(each)) for each in (backup, path))
    with translate_errors(path):
        sweep_drafts(path)
        with JournalDraft(path) as draft:
            copy_file(backup, draft.path, heard)
            _sync(draft.path)
            _checked(draft.path, backup, heard)
            kept = _put_aside(path, aside)
            if not draft.take_name():
                raise Refused(f"{path} appeared meanwhile, and was left as it is: try again")
        sync_folder(path.parent)
    return kept


def copy_file(source: Path, target: Path, heard: Heard) -> None:
    """Copy a SQLite file with all that is in its log, as it is at this moment, into an empty file."""

    def progress(_: int, left: int, pages: int) -> None:
        heard(f"{(pages - left) * 100 // max(pages, 1)} %")

    with (
        open_sqlite(source) as journal,
        closing(_reader(source, journal)) as reader,
        closing(connect(target, _PATIENCE)) as writer,
    ):
        reader.execute("BEGIN")  # from here on it sees one state, whoever writes meanwhile
        reader.execute("SELECT count(*) FROM sqlite_master").fetchone()
        reader.backup(writer, pages=_PAGES, progress=progress)
        with suppress(sqlite3.OperationalError):  # there is no such table before the first lease
            writer.execute("DELETE FROM leases")
        writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _beside(path: Path) -> tuple[Path, ...]:
    """The files of a journal: itself, its log, its shared memory."""
    return path, Path(f"{path}-wal"), Path(f"{path}-shm")


def _reader(source: Path, journal: Journal) -> sqlite3.Connection:
    if isinstance(journal, ArchivedJournal):
        return journal.take_reader()
    return connect(source, _PATIENCE, "ro")


def _checked(draft: Path, name: Path, heard: Heard) -> Verified:
    heard("checking")
    with open_sqlite(draft) as copy:
        verified = verify(copy)
    if verified.troubles:
        words = "; ".join(each.words for each in verified.troubles[:3])
        raise DamagedJournal(
            f"{name} would not be a sound journal ({words}): nothing was put in its place. planwire journal verify "
            "says what is wrong with the original"
        )
    return verified


def _refuse_half(copied: CopiedJournal) -> None:
    for session, reason in copied.refused.items():
        raise JournalUnavailable(f"session {session!r} could not be copied: {reason}. Nothing was written")


def _put_aside(path: Path, ending: str) -> Path | None:
    """Give a journal that nobody uses another name, with its log. Its shared memory is of no use to anybody."""
    if not os.path.lexists(path):
        for leftover in _beside(path)[1:]:
            leftover.unlink(missing_ok=True)
        return None
    _refuse_in_use(path)
    aside = path.with_name(f"{path.name}.{ending}")
    file, log, memory = _beside(path)
    if log.exists():
        log.rename(f"{aside}-wal")
    file.rename(aside)
    memory.unlink(missing_ok=True)
    return aside


def _refuse_in_use(path: Path) -> None:
    """SQLite gives nobody the file alone while any process has it open."""
    try:
        refuse_foreign_log(path)  # which SQLite would apply
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=rw", uri=True, timeout=0, isolation_level=None)) as alone:
            alone.execute("PRAGMA locking_mode = EXCLUSIVE")
            alone.execute("BEGIN EXCLUSIVE")
            alone.execute("ROLLBACK")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise Refused(
                f"another process has the journal {path} open: end it first (a board, a relay, an agent with "
                "planwire's tools), then restore"
            ) from None
    except (sqlite3.DatabaseError, DamagedJournal):
        return  # it is damaged, and put aside for that


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
