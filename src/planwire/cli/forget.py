"""`planwire forget`: delete sessions from the journal, for good."""

import argparse
import sys
from time import time_ns
from typing import Final

from planwire.cli.exit_codes import DONE
from planwire.cli.input_output import agreed, print_json
from planwire.cli.session_argument import (
    add_journal_option,
    add_session_argument,
    choose_session,
    named_sessions,
    short_list,
)
from planwire.errors import InputError, Refused
from planwire.journal import Journal, open_journal
from planwire.readmodel.folders import KnownSession, newest_first

__all__ = ["DESCRIPTION", "EXAMPLES", "add_arguments", "run"]

DESCRIPTION = "Delete sessions from the journal: their events, and every trace of them in the file."

EXAMPLES = """\
examples:
  planwire forget 3f2a91bc                  asks first
  planwire forget 3f2a 9c41 --yes           two sessions, without asking
  planwire forget --older-than 30d --yes    every session without an event for 30 days (m, h, d, w)

This can't be undone: plans, history and messages are gone. To keep a copy: planwire export --format json.
"""

_UNITS: Final = {"m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 7 * 86_400_000}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_session_argument(parser, "ids of sessions, or their beginnings", several=True)
    parser.add_argument("--older-than", metavar="TIME", type=duration, help="all sessions without an event since then")
    parser.add_argument("--yes", action="store_true", help="don't ask first")
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_journal_option(parser)


def duration(text: str) -> int:
    """`90m`, `12h`, `30d` or `4w`, in milliseconds."""
    number, unit = text[:-1], text[-1:]
    if not (number.isascii() and number.isdigit() and unit in _UNITS):
        raise argparse.ArgumentTypeError(f"expected a time such as 90m, 12h, 30d or 4w, found {text!r}")
    return int(number) * _UNITS[unit]


def run(arguments: argparse.Namespace) -> int:
    names = named_sessions(arguments)
    if bool(names) == (arguments.older_than is not None):
        raise InputError("pass either sessions (planwire sessions lists them) or --older-than, such as 30d")
    with open_journal(arguments.journal, create=False) as journal:
        doomed = _doomed(journal, names, arguments.older_than)
        if doomed and not arguments.yes and not _asked(journal, doomed, as_json=arguments.json):
            raise Refused("nothing was deleted")
        if doomed:
            journal.forget(*(session.id for session in doomed))
    if arguments.json:
        print_json({"forgotten": [session.id for session in doomed]})
    else:
        print(f"Deleted {_counted(doomed)}." if doomed else "No session is that old. Nothing was deleted.")
    return DONE


def _doomed(journal: Journal, names: list[str], older_than: int | None) -> list[KnownSession]:
    if older_than is not None:
        limit = time_ns() // 1_000_000 - older_than
        return [session for session in newest_first(journal) if session.last_at < limit]
    chosen = [choose_session(journal, name) for name in names]
    return list({session.id: session for session in chosen}.values())


def _asked(journal: Journal, doomed: list[KnownSession], *, as_json: bool) -> bool:
    if as_json or not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise InputError(f"this deletes {_counted(doomed)} for good: pass --yes to confirm")

    print(short_list(journal, doomed))
    return agreed(f"Delete {_counted(doomed)} for good?")


def _counted(sessions: list[KnownSession]) -> str:
    return f"{len(sessions)} session{'s' if len(sessions) != 1 else ''}"
