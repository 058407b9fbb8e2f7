"""Backups of journals: each is a private SQLite file, whole and checked before it gets its name.

What agents thought goes into a file beside it, if at all; that file gets its name first. A backup replaces an earlier
backup if told to, and never any other file.

SQLite itself copies a SQLite journal, with what is in its log, while others write. An interrupted copy leaves a hidden
draft, which is swept away later. A journal of any other engine is copied event by event (`copying`) into a hidden file.
If that is interrupted, the next backup to the same place continues from the file.
"""

import os
import sqlite3
import stat
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple

from planwire.errors import DamagedJournal, JournalUnavailable, Refused
from planwire.journal.copying import copy_journal
from planwire.journal.protocol import Journal
from planwire.journal.spool_append import HAS_FLOCK, locked
from planwire.journal.sqlite.archive import ArchivedJournal, open_sqlite
from planwire.journal.sqlite.beside import beside, refuse_place
from planwire.journal.sqlite.drafts import JournalDraft, sweep_drafts
from planwire.journal.sqlite.errors import damaged, translate_errors
from planwire.journal.sqlite.file import check_file, connect, resolved, sync_folder
from planwire.journal.sqlite.journal import SqliteJournal
from planwire.journal.sqlite.unwritable import UnwritableFile, is_writable
from planwire.journal.thoughts_file import check_thoughts
from planwire.journal.verifying import Verified, verify

#: Pages that SQLite copies at a time, so that each time takes only a moment.
_PAGES: Final = 500
_PATIENCE: Final = 30.0
Heard = Callable[[str], None]


class BackedUp(NamedTuple):
    """A finished backup: the result of its check, which found nothing wrong, and whether thoughts lie beside it."""

    verified: Verified
    has_thoughts: bool


def back_up(
    journal: Journal, target: Path, heard: Heard = lambda _: None, *, replace: bool = False, thoughts: bool = False
) -> BackedUp:
    """Write a backup to a new file, or replace an earlier one, together with the thoughts beside it."""
    with translate_errors(target, "the backup {} can't be made"):
        target = resolved(target)
        source = _thoughts_of(journal) if thoughts else None
        _refuse_target(journal, target, replace=replace)
        _refuse_thoughts(target, replace=replace, are_asked_for=thoughts, are_there=source is not None)
        for place in (target, _thoughts_beside(target)):
            sweep_drafts(place)
        with JournalDraft(target) as draft:
            if isinstance(journal, SqliteJournal | ArchivedJournal):
                copy_file(journal.path, draft.path, heard)
                verified = _checked_copy(draft.path, target, heard)
            else:
                with _part_alone(target) as part:
                    _copy_events(journal, part, heard)
                    verified = _checked_part(part, target, heard)
                    part.replace(draft.path)
            with _thoughts_put_beside(target, source):
                _give_name(draft, target, replace=replace)
        sync_folder(target.parent)
    return BackedUp(verified, source is not None)


@contextmanager
def _thoughts_put_beside(target: Path, source: Path | None) -> Iterator[None]:
    """Name the file of thoughts before the backup gets its name. If the backup then fails, remove the file if it is
    new."""
    if source is None:
        yield
        return
    path = _thoughts_beside(target)
    is_new = not os.path.lexists(path)
    with JournalDraft(path) as draft:
        with (
            translate_errors(source, "what agents thought, in {}, can't be backed up"),
            _thoughts_reader(source) as reader,
            closing(connect(draft.path, _PATIENCE)) as writer,
        ):
            reader.backup(writer)
            writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            (found,) = writer.execute("PRAGMA integrity_check(1)").fetchone()
            if found != "ok":
                raise damaged(source, found.splitlines()[-1])
        sync_file(draft.path)
        _give_name(draft, path, replace=not is_new)
    try:
        yield
    except BaseException:
        if is_new:
            path.unlink()
        raise


def _give_name(draft: JournalDraft, name: Path, *, replace: bool) -> None:
    if replace and os.path.lexists(name):
        for leftover in beside(name)[1:]:  # an empty log, and shared memory that is not in use
            leftover.unlink(missing_ok=True)
        draft.path.replace(name)
    elif not draft.take_name():
        raise Refused(f"{name} was created in the meantime, and was left as it is: try again")


@contextmanager
def _part_alone(target: Path) -> Iterator[Path]:
    """The part of a backup, for one process at a time. Two would write to one file, and the first to end would take it
    away without the log that the other has open. A link or another user's file is none: what a backup should not hold
    would be deleted at the end of the link, and the other user could read the backup."""
    part = target.with_name(f".{target.name}.part")
    if not HAS_FLOCK:
        yield part
        return
    lock = part.with_name(f"{part.name}.lock")
    handle = locked(str(lock), os.O_CREAT, patience=0)
    if handle is None:
        raise Refused(f"another backup to {target} is being made: let it end, or name another file")
    try:
        if os.path.lexists(part):
            found = part.lstat()
            if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
                raise Refused(
                    f"{part} is no unfinished backup of yours, and was left as it is: delete it yourself, or name "
                    "another file for the backup"
                )
        yield part
    finally:
        lock.unlink(missing_ok=True)
        os.close(handle)


def _copy_events(journal: Journal, part: Path, heard: Heard) -> None:
    """Copy a journal into a file that may hold part of an earlier state of it."""
    there = {each.id for each in journal.sessions()}  # asked before anything is created: its server may be away
    with SqliteJournal(part) as copy:
        gone = {each.id for each in copy.sessions()} - there
        for _ in range(2):
            if gone:
                copy.forget(*gone)
            copied = copy_journal(journal, copy, lambda now: heard(f"{now.events:,} events"))
            gone = set(copied.refused)  # they began anew, or the part is of another journal
            if not gone:
                return
    session, reason = next(iter(copied.refused.items()))
    raise JournalUnavailable(
        f"there is no new backup: session {session!r} can't be copied, since {reason}. If it was forgotten meanwhile, "
        "repeat the command"
    )


def _checked_copy(copy: Path, target: Path, heard: Heard) -> Verified:
    sync_file(copy)
    return checked(copy, target, heard)


def _checked_part(part: Path, target: Path, heard: Heard) -> Verified:
    """Check a part that is whole. It keeps its name meanwhile, so that a backup interrupted here continues from it,
    too. A part that is not sound is deleted: the next backup can't use it."""
    try:
        return _checked_copy(part, target, heard)
    except DamagedJournal:
        for file in beside(part):
            file.unlink(missing_ok=True)
        raise


def _refuse_target(journal: Journal, target: Path, *, replace: bool) -> None:
    refuse_place(target)
    if os.path.lexists(target):
        source = getattr(journal, "path", None)
        if isinstance(source, Path) and source.samefile(target):
            raise Refused(f"{target} is the journal itself: name another file")
        if not replace:
            raise Refused(f"{target} exists already: name another file, or pass --force to replace an earlier backup")
        check_file(target)
        _refuse_other_journal(journal, target)
    for file in (target, _thoughts_beside(target)):
        _, log, _ = beside(file)
        if log.exists() and log.stat().st_size:
            why = "of a file in use" if os.path.lexists(file) else "of a file that is gone"
            raise Refused(f"{log} is the log {why}, and would be lost: name another file for the backup")


def _refuse_other_journal(journal: Journal, target: Path) -> None:
    """Backups look like journals: refuse to replace one that has sessions, but none of this journal's, or one that is
    ahead of this journal, as after the restore of an older backup."""
    try:
        with ArchivedJournal(target) as found:
            earlier = {(each.id, each.first_at): each.last_seq for each in found.sessions()}
    except DamagedJournal:
        raise Refused(
            f"{target} is damaged, so planwire can't tell whether it is an earlier backup: "
            "delete it yourself, or name another file"
        ) from None
    ours = {(each.id, each.first_at): each.last_seq for each in journal.sessions()}
    if earlier and earlier.keys().isdisjoint(ours):
        raise Refused(
            f"{target} has none of this journal's sessions, so it is not an earlier backup of it: "
            "delete it yourself, or name another file"
        )
    for (session, began), last in earlier.items():
        here = ours.get((session, began), last)
        if here < last:
            raise Refused(
                f"{target} has {last} events of session {session!r}, and this journal only {here}, so it is not an "
                "earlier backup of it: delete it yourself, or name another file"
            )


def _refuse_thoughts(target: Path, *, replace: bool, are_asked_for: bool, are_there: bool) -> None:
    """Refuse to lose the thoughts beside an earlier backup: only thoughts may replace them."""
    path = _thoughts_beside(target)
    if not os.path.lexists(path):
        return
    if not replace:
        raise Refused(f"{path} exists already, and would be taken for part of the backup: name another file")
    check_thoughts(path)
    if not are_there:
        lost = "and the journal has none now" if are_asked_for else "which would be lost"
        rest = "" if are_asked_for else "pass --thoughts to replace that file as well, "
        raise Refused(
            f"the earlier backup has what agents thought in {path}, {lost}: {rest}delete it yourself, or name another "
            "file for the backup"
        )


def _thoughts_beside(target: Path) -> Path:
    return target.with_name(f"{target.name}.thoughts")


def _thoughts_of(journal: Journal) -> Path | None:
    """The file with what agents thought, if there is one."""
    path = getattr(journal.thoughts, "path", None)
    return path if isinstance(path, Path) and path.is_file() else None


@contextmanager
def _thoughts_reader(source: Path) -> Iterator[sqlite3.Connection]:
    if is_writable(source):
        with closing(connect(source, _PATIENCE, "ro")) as connection:
            yield connection
    else:
        with closing(UnwritableFile(source, _PATIENCE)) as file:  # it may read a private copy, which `close` deletes
            yield file.connection


def copy_file(source: Path, target: Path, heard: Heard) -> None:
    """Copy a SQLite file and everything in its log, as of this moment, into an empty file."""

    def progress(_: int, left: int, pages: int) -> None:
        heard(f"{(pages - left) * 100 // max(pages, 1)} %")

    with (
        open_sqlite(source) as journal,
        closing(_reader(source, journal)) as reader,
        closing(connect(target, _PATIENCE)) as writer,
    ):
        with translate_errors(source):
            reader.execute("BEGIN")  # from here on it sees one state, even while others write
            reader.execute("SELECT count(*) FROM sqlite_master").fetchone()
        reader.backup(writer, pages=_PAGES, progress=progress)
        with suppress(sqlite3.OperationalError):  # there is no such table before the first lease
            writer.execute("DELETE FROM leases")
        writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _reader(source: Path, journal: Journal) -> sqlite3.Connection:
    if isinstance(journal, ArchivedJournal):
        return journal.take_reader()
    return connect(source, _PATIENCE, "ro")


def checked(draft: Path, name: Path, heard: Heard) -> Verified:
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


def sync_file(path: Path) -> None:
    handle = os.open(path, os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
