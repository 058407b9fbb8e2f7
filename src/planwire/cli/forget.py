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
from planwire.hooks.drained import open_drained
from planwire.journal import Journal
from planwire.readmodel.folders import KnownSession, newest_first
from planwire.readmodel.plain_text import counted

DESCRIPTION = (
    "Delete sessions from the journal: their events, and every trace of them in the file. Or only what agents thought, "
    "which lies beside it."
)

EXAMPLES = """\
examples:
  planwire forget 3f2a91bc                  asks first
  planwire forget 3f2a 9c41 --yes           two sessions, without asking
  planwire forget --older-than 30d --yes    every session without an event for 30 days (m, h, d, w)
  planwire forget --thoughts 3f2a91bc       what its agent thought, and nothing else
  planwire forget --thoughts --all --yes    what all agents thought

This can't be undone: plans, history and messages are gone. To keep a copy: planwire export --format json. Without
thoughts, a session keeps all of these.
"""

_UNITS: Final = {"m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 7 * 86_400_000}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_session_argument(parser, "ids of sessions, or their beginnings", several=True)
    parser.add_argument("--older-than", metavar="TIME", type=duration, help="all sessions without an event since then")
    parser.add_argument("--thoughts", action="store_true", help="only what their agents thought; the sessions stay")
    parser.add_argument("--all", action="store_true", help="with --thoughts: those of all sessions")
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
    if arguments.all and not arguments.thoughts:
        raise InputError("--all needs --thoughts: sessions themselves are named, or go with --older-than")
    if bool(names) + (arguments.older_than is not None) + arguments.all != 1:
        either = "pass either sessions (planwire sessions lists them) or --older-than, such as 30d"
        raise InputError(f"{either}, or --all" if arguments.thoughts else either)
    with open_drained(arguments.journal) as journal:
        doomed = newest_first(journal) if arguments.all else _doomed(journal, names, arguments.older_than)
        is_wanted = bool(doomed) or arguments.all
        what = f"{'what the agents thought in ' if arguments.thoughts else ''}{counted(len(doomed), 'session')}"
        if is_wanted and not arguments.yes and not _asked(journal, doomed, what, as_json=arguments.json):
            raise Refused("nothing was deleted")
        if is_wanted:
            _forget(journal, doomed, arguments)
    if arguments.json:
        print_json({"forgotten": [session.id for session in doomed]})
    else:
        print(f"Deleted {what}." if is_wanted else "No session is that old. Nothing was deleted.")
    return DONE


def _forget(journal: Journal, doomed: list[KnownSession], arguments: argparse.Namespace) -> None:
    sessions = [session.id for session in doomed]
    if not arguments.thoughts:
        journal.forget(*sessions)
    elif arguments.all:
        journal.thoughts.forget_all()
    else:
        journal.thoughts.forget(*sessions)


def _doomed(journal: Journal, names: list[str], older_than: int | None) -> list[KnownSession]:
    if older_than is not None:
        limit = time_ns() // 1_000_000 - older_than
        return [session for session in newest_first(journal) if session.last_at < limit]
    chosen = [choose_session(journal, name) for name in names]
    return list({session.id: session for session in chosen}.values())


def _asked(journal: Journal, doomed: list[KnownSession], what: str, *, as_json: bool) -> bool:
    if as_json or not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise InputError(f"this deletes {what} for good: pass --yes to confirm")

    print(short_list(journal, doomed))
    return agreed(f"Delete {what} for good?")
