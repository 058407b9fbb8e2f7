"""Puts a backup in the place of a SQLite journal. The journal that was there is kept aside, with its log.

The swap is one step where the file system has hard links: at every moment one of the journals has the name, and no
process that starts meanwhile creates a new one.
"""

import os
import sqlite3
from contextlib import closing
from itertools import chain, count
from pathlib import Path

from planwire.errors import DamagedJournal, Refused
from planwire.journal.backup import Heard, checked, copy_file, sync_file
from planwire.journal.protocol import Journal
from planwire.journal.sqlite.beside import beside, refuse_place
from planwire.journal.sqlite.drafts import JournalDraft, sweep_drafts
from planwire.journal.sqlite.errors import translate_errors
from planwire.journal.sqlite.file import make_folders, resolved, sync_folder
from planwire.journal.sqlite.mixture import refuse_mixture
from planwire.journal.thoughts import keep_all
from planwire.model.event_why import why_in


def restore_file(backup: Path, path: Path, aside: str, heard: Heard = lambda _: None) -> Path | None:
    """Put a copy of a backup in the place of a SQLite journal. The old one, which no process may have open, is kept
    under another name with its log. Returns that name, or None if there was no journal."""
    with translate_errors(path):
        backup, path = resolved(backup), resolved(path)
        refuse_place(path)
        make_folders(path)
        sweep_drafts(path)
        with JournalDraft(path) as draft:
            copy_file(backup, draft.path, heard)
            sync_file(draft.path)
            checked(draft.path, backup, heard)
            if os.path.lexists(path):
                kept = _put_aside(path, draft, aside)
            else:
                kept = None
                _, log, memory = beside(path)
                if log.exists() and log.stat().st_size:  # the journal was lost, but a person may want its log
                    log.rename(beside(_free_name(path, aside))[1])
                memory.unlink(missing_ok=True)
                if not draft.take_name():
                    raise Refused(f"{path} was created in the meantime, and was left as it is: try again")
        sync_folder(path.parent)
    return kept


def restore_thoughts(backup: Journal, journal: Journal) -> bool:
    """Add what agents thought before the events of a backup. Returns whether there was anything."""
    has_any = False
    path = getattr(backup.thoughts, "path", None)
    if not isinstance(path, Path) or not path.is_file():
        return False
    for session in backup.sessions():
        digests = dict.fromkeys(filter(None, (why_in(each.event) for each in backup.read(session.id))))
        found = backup.thoughts.find(session.id, digests)
        has_any |= bool(found) and keep_all(journal, session.id, found.values())
    return has_any


def _put_aside(path: Path, draft: JournalDraft, ending: str) -> Path:
    """Give a journal that no process uses a second name, move its log there, and give its own name to the draft. Its
    shared memory is of no use any more, and removed."""
    _refuse_in_use(path)
    file, log, memory = beside(path)
    aside = _second_name(file, ending)
    if log.exists():
        log.rename(beside(aside)[1])
    memory.unlink(missing_ok=True)
    draft.path.replace(path)
    return aside


def _second_name(file: Path, ending: str) -> Path:
    while True:
        aside = _free_name(file, ending)
        try:
            aside.hardlink_to(file)
        except FileExistsError:  # another restore was faster
            continue
        except OSError:
            file.rename(aside)  # the file system has no hard links
        return aside


def _free_name(file: Path, ending: str) -> Path:
    """A name that no file, log or shared memory has: with a number, if need be."""
    endings = chain([ending], (f"{ending}-{number}" for number in count(2)))
    names = (file.with_name(f"{file.name}.{each}") for each in endings)
    return next(name for name in names if not any(map(os.path.lexists, beside(name))))


def _refuse_in_use(path: Path) -> None:
    """Refuse if another process has the file open: SQLite then grants no exclusive use of it."""
    try:
        refuse_mixture(path, 0)  # else SQLite would write the log into the file
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
