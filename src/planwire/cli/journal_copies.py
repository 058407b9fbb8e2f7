"""`planwire journal backup`, `restore` and `copy`."""

import argparse
import os
from pathlib import Path
from time import strftime

from planwire.cli.exit_codes import DONE, NOT_DONE
from planwire.cli.file_argument import file_argument
from planwire.cli.input_output import print_json
from planwire.cli.journal_secrets import warn_of_secret
from planwire.cli.open_modes import warn_of_open_modes
from planwire.cli.progress_line import ProgressLine
from planwire.errors import DamagedJournal, InputError, JournalUnavailable, NoJournal, NotFound, Refused
from planwire.journal import Journal, open_journal
from planwire.journal.backup import back_up
from planwire.journal.copying import CopiedJournal, copy_journal
from planwire.journal.engines import file_of, require_folder, shared_url
from planwire.journal.restoring import restore_file, restore_thoughts
from planwire.journal.shown_urls import shown_url
from planwire.journal.sqlite.beside import refuse_place
from planwire.journal.sqlite.errors import translate_errors
from planwire.journal.verifying import verify
from planwire.readmodel.plain_text import counted, one_line


def run(arguments: argparse.Namespace) -> int:
    return {"backup": _backup, "restore": _restore, "copy": _copy}[arguments.command](arguments)


def _backup(arguments: argparse.Namespace) -> int:
    target = file_argument(arguments.target, "a backup", ", or copy the journal with planwire journal copy FROM TO")
    with translate_errors(target, "the backup {} can't be made"):
        if not target.absolute().parent.is_dir():
            raise InputError(f"there is no folder {target.absolute().parent} for the backup: make it first")
    with (
        open_journal(arguments.journal, create=False) as journal,
        ProgressLine("Backing up", "there is no new backup: repeat the command") as line,
    ):
        verified, thoughts = back_up(journal, target, line.show, replace=arguments.force, thoughts=arguments.thoughts)
    events = sum(each.events for each in verified.sessions)
    if arguments.json:
        print_json(
            {
                "backup": str(target),
                "sessions": len(verified.sessions),
                "events": events,
                "thoughts": thoughts,
            }
        )
        return DONE
    with_thoughts = f" What agents thought is in {target}.thoughts." if thoughts else ""
    left_out = "" if arguments.thoughts else " What agents thought is not in it (--thoughts)."
    counts = f"{counted(len(verified.sessions), 'session')} with {counted(events, 'event')}"
    print(one_line(f"Backed up and checked {counts}: {target}.{with_thoughts}{left_out}"))
    return DONE


def _restore(arguments: argparse.Namespace) -> int:
    backup = file_argument(arguments.backup, "a backup", ", or copy that journal with planwire journal copy FROM TO")
    with translate_errors(backup, "the backup {} can't be read"):
        if not backup.is_file():
            raise NotFound(
                f"there is no backup at {backup}: look for a typing error, or where planwire journal backup put it"
            )
    url = _lasting(arguments.journal)
    with open_journal(backup, create=False) as source:
        with ProgressLine("Checking the backup", "nothing was changed") as line:
            found = verify(source, heard=lambda check: line.show(f"{check.events:,} events"))
        if found.troubles:
            raise DamagedJournal(
                f"the backup {backup} is not sound ({one_line(found.troubles[0].words)}): nothing was done"
            )
        path = file_of(url)
        if path is None:
            return _restore_to_server(source, url, arguments)
    if _is_same_file(path, backup):
        raise InputError(f"{backup} is the journal itself: name a backup, or another journal with --journal")
    require_folder(path)
    _refuse_full(url, force=arguments.force)
    with ProgressLine("Restoring", "the journal is the old one or the backup, and whole") as line:
        aside = restore_file(backup, path, strftime("before-%Y%m%d-%H%M%S"), line.show)
        with open_journal(backup, create=False) as source, open_journal(url) as journal:
            thoughts = restore_thoughts(source, journal)
    if arguments.json:
        print_json(
            {
                "restored": str(path),
                "kept": str(aside) if aside else None,
                "sessions": len(found.sessions),
                "thoughts": thoughts,
            }
        )
    else:
        with_thoughts = ", with what agents thought" if thoughts else ""
        kept = f" The old one is {aside}." if aside else ""
        print(one_line(f"Restored {counted(len(found.sessions), 'session')} to {path}{with_thoughts}.{kept}"))
    return DONE


def _is_same_file(one: Path | None, other: Path | None) -> bool:
    try:
        return one is not None and other is not None and one.samefile(other)
    except OSError:
        return False


def _refuse_full(url: str, *, force: bool) -> None:
    try:
        with open_journal(url, create=False) as journal:
            sessions = len(journal.sessions())
    except NoJournal:
        return
    except DamagedJournal as error:
        if not force:
            raise Refused(f"{error}. To put the backup in its place and keep it aside: --force") from None
        return
    if sessions and not force:
        raise Refused(
            f"the journal {shown_url(url)} has {counted(sessions, 'session')}: pass --force to put the backup in its "
            "place (the old one is kept aside), or name another journal"
        )


def _restore_to_server(source: Journal, url: str, arguments: argparse.Namespace) -> int:
    with open_journal(url) as target:
        sessions = len(target.sessions())
        if sessions and not arguments.force:
            raise Refused(
                f"the journal {shown_url(url)} has {counted(sessions, 'session')}: pass --force to add those of the "
                "backup, or name an empty one"
            )
        left = "the same command, with --force, goes on from here"
        code = _copied(source, target, shown_url(url), left, as_json=arguments.json)
        restore_thoughts(source, target)
        return code


def _copy(arguments: argparse.Namespace) -> int:
    for name, url in (("FROM", arguments.source), ("TO", arguments.to)):
        warn_of_secret(url, name)
        warn_of_open_modes(url)
    source_url, target_url = (_lasting(each) for each in (arguments.source, arguments.to))
    target_file = file_of(target_url)
    if source_url == target_url or _is_same_file(file_of(source_url), target_file):
        raise InputError("FROM and TO are the same journal: name another one")
    if target_file is not None:
        with translate_errors(target_file):
            refuse_place(Path(os.path.realpath(target_file)))
    with _opened_source(arguments.source) as source:
        source.last_position()  # fails if its server is away, before anything is created
        with open_journal(arguments.to) as target:
            left = "the same command goes on from here"
            return _copied(source, target, shown_url(arguments.to), left, as_json=arguments.json)


def _opened_source(url: str) -> Journal:
    try:
        return open_journal(url, create=False)
    except NoJournal:
        raise NoJournal(
            f"there is no journal at {shown_url(url)}: look for a typing error in FROM. Nothing was created"
        ) from None


def _lasting(url: str | None) -> str:
    """The URL of a journal that outlives this command."""
    found = shared_url(url)
    if found is None:
        raise InputError("a journal in memory ends with this command: name another one")
    return found


def _copied(source: Journal, target: Journal, name: str, left: str, *, as_json: bool) -> int:
    events = 0

    def heard(now: CopiedJournal) -> None:
        nonlocal events
        events = now.events
        line.show(f"{now.events:,} events" + (f", {now.compared:,} compared" if now.compared else ""))

    try:
        with ProgressLine("Copying", left) as line:
            copied = copy_journal(source, target, heard)
    except JournalUnavailable as error:
        if not events:
            raise
        there = f"What was copied before that ({counted(events, 'event')}) stays"
        raise JournalUnavailable(f"{error}. {there}: {left}") from error
    if as_json:
        print_json({"sessions": copied.sessions, "events": copied.events, "refused": copied.refused})
    else:
        counts = f"{counted(copied.sessions, 'session')}, {counted(copied.events, 'new event')}"
        print(one_line(f"Copied to {name} and compared: {counts}."))
        for session, reason in copied.refused.items():
            print(one_line(f"Session {session} was not copied: {reason}."))
        if copied.refused:
            print("If what the target has of a session may go, forget it there, and copy again.")
    return NOT_DONE if copied.refused else DONE
