"""`planwire journal verify`: whether a journal is as it was written."""

import argparse
import os
from pathlib import Path

import msgspec

from planwire.cli.exit_codes import DAMAGED, DONE
from planwire.cli.file_argument import file_argument
from planwire.cli.file_swap import read_bytes, swap_bytes
from planwire.cli.input_output import indented_json, opened, print_json
from planwire.cli.progress_line import ProgressLine
from planwire.cli.session_argument import choose_session
from planwire.errors import DamagedJournal, InputError, Refused, reason
from planwire.journal import open_journal
from planwire.journal.checked import Trouble
from planwire.journal.sqlite.beside import refuse_place
from planwire.journal.verifying import JournalNote, SessionCheck, Verified, verify
from planwire.readmodel.plain_text import counted, one_line


class _KindOfFile(msgspec.Struct):
    """The kind that a file claims to be."""

    kind: str


def run(arguments: argparse.Namespace) -> int:
    if arguments.session and (arguments.note or arguments.against):
        raise InputError("a note is about all sessions: name none with --note and --against")
    for name in filter(None, (arguments.note, arguments.against)):
        file_argument(name, "a note")
    note = _read_note(arguments.against) if arguments.against else None
    if arguments.note:
        _note_before(Path(arguments.note))  # a check takes minutes: report now what would be in the way
    try:
        verified = _verified(arguments, note)
    except DamagedJournal as error:  # so much that nothing can be read
        verified = Verified([], [Trouble(str(error))], [])
    troubles = verified.troubles
    if arguments.note:
        if troubles:
            raise Refused(f"no note was made, since the journal is not sound: {one_line(troubles[0].words)}")
        _write_note(Path(arguments.note), verified.note())
    if arguments.json:
        print_json(_as_json(verified))
    else:
        for sentence in sentences(verified):
            print(one_line(sentence))
    return DAMAGED if troubles else DONE


def _verified(arguments: argparse.Namespace, note: JournalNote | None) -> Verified:
    with (
        open_journal(arguments.journal, create=False) as journal,
        ProgressLine("Checking", "nothing was changed") as line,
    ):
        sessions = [choose_session(journal, name).id for name in arguments.session] or None

        def heard(check: SessionCheck) -> None:
            line.show(f"{one_line(check.session)[:40]}, {check.events:,} events")

        return verify(journal, sessions, note, heard)


def sentences(verified: Verified) -> list[str]:
    """The findings in sentences for people."""
    events = sum(each.events for each in verified.sessions)
    said = [f"{trouble.words}." for trouble in verified.troubles]
    more = sum(each.unnamed for each in verified.sessions)
    if more:
        said.append(f"And {counted(more, 'problem')} more.")
    if verified.gone:
        names = ", ".join(verified.gone[:5]) + (" …" if len(verified.gone) > 5 else "")
        said.append(
            f"{counted(len(verified.gone), 'session')} of the note not there any more, forgotten or lost: {names}."
        )
    found = (
        "nothing is wrong" if not verified.troubles else f"{counted(len(verified.troubles) + more, 'problem')} found"
    )
    said.append(f"Checked {counted(len(verified.sessions), 'session')} with {counted(events, 'event')}: {found}.")
    return said


def _as_json(verified: Verified) -> dict[str, object]:
    return {
        "sound": not verified.troubles,
        "problems": [msgspec.to_builtins(each) for each in verified.troubles],
        "gone": verified.gone,
        "sessions": [
            {
                "id": each.session,
                "events": each.events,
                "last_link": each.end.link if each.end else None,
                "problems": len(each.troubles) + each.unnamed,
            }
            for each in verified.sessions
        ],
    }


def _read_note(name: str) -> JournalNote:
    with opened(name) as file:
        try:
            note = msgspec.json.decode(file.read(), type=JournalNote)
        except (ValueError, msgspec.MsgspecError) as error:
            raise InputError(f"{name} is no note of planwire journal verify --note: {error}") from None
    return note


def _note_before(path: Path) -> bytes | None:
    """The note that a new one replaces, if there is one. Any other file is refused."""
    try:
        place = Path(os.path.realpath(path))
        refuse_place(place)
        if not place.parent.is_dir():
            raise InputError(f"there is no folder {place.parent} for the note: make it first")
        if not os.path.lexists(place):
            return None
        before = read_bytes(place) if place.is_file() else None
    except OSError as error:
        raise InputError(f"{path} can't be written: {reason(error)}") from None
    if before is None or not _is_note(before):
        raise Refused(f"{path} is no note of planwire's, and was left as it is: name another file")
    return before


def _is_note(text: bytes) -> bool:
    try:
        msgspec.json.decode(text, type=JournalNote)
        return msgspec.json.decode(text, type=_KindOfFile).kind == JournalNote({}).kind
    except (ValueError, msgspec.MsgspecError):
        return False


def _write_note(path: Path, note: JournalNote) -> None:
    swap_bytes(path, _note_before(path), f"{indented_json(note)}\n".encode())
