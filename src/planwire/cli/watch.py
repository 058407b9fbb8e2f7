"""`planwire watch`: plans while they change."""

import argparse
import os
import signal
import sys
from contextlib import suppress
from functools import cache
from typing import Final

from planwire.cli.command import describe
from planwire.cli.journals import add_journal_option, journal_to_read
from planwire.cli.json_output import json_line, write_text
from planwire.cli.session_argument import choose_session, is_of_folder, newest_first, this_folder
from planwire.errors import MissingExtra
from planwire.journal import Journal
from planwire.model.fold import SessionState
from planwire.readmodel.watching import SessionWatch as Watcher

__all__ = ["add_arguments", "run"]

_EXAMPLES = """\
examples:
  planwire watch                   the plans of this folder, live; a session that begins later, too
  planwire watch 3f2a91bc          one session
  planwire watch --all             every session in the journal
  planwire watch > changes.txt     without a terminal: a line a change
  planwire watch --json            a JSON object a change, for a program

On a terminal: x ticks the step under the cursor, e rewords it, a adds one, c comments on it, v reviews the plan, m is
the rest. Esc lists the sessions, h is the history, ? shows all keys, q or Ctrl-C ends it.
"""


#: Limits the sessions on the screen at once, with --all.
AT_ONCE: Final = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    describe(
        parser,
        run,
        "Follow plans while they change: live on a terminal, a line a change without one.",
        _EXAMPLES,
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument("session", metavar="SESSION", nargs="?", help="a session's id, or the beginning of it")
    which.add_argument("--all", action="store_true", help="every session in the journal")
    parser.add_argument("--json", action="store_true", help="print a JSON object a change")
    add_journal_option(parser)


def run(arguments: argparse.Namespace) -> int:
    with journal_to_read(arguments) as journal:
        if arguments.json:
            _print_json(_watcher(journal, arguments))
        elif _on_a_terminal():
            _watch_live(journal, arguments)
        else:
            from planwire.terminal.live import follow_in_lines

            follow_in_lines(_watcher(journal, arguments), several=arguments.session is None)
    return 0


def _on_a_terminal() -> bool:
    streams = (sys.stdin, sys.stdout, sys.stderr)  # the app draws on the last of them
    return all(each.isatty() for each in streams) and os.environ.get("TERM") not in ("dumb", "unknown")


def _watch_live(journal: Journal, arguments: argparse.Namespace) -> None:
    """The app, or plain views without Textual."""
    import planwire.terminal  # noqa: F401  (without Rich there is nothing to show)

    try:
        from planwire.terminal.watch_app import watch
    except MissingExtra as missing:
        from planwire.terminal.live import watch_live

        watch_live(_watcher(journal, arguments), AT_ONCE if arguments.all else 1)
        print(f"planwire: {missing}", file=sys.stderr)
        return
    if arguments.session is not None:
        watch(journal, choose_session(journal, arguments.session).id, None)
    elif arguments.all:
        watch(journal, None, None)
    else:
        folder = this_folder()
        here = cache(lambda cwd: is_of_folder(cwd, folder))
        watch(journal, None, lambda glance: here(glance.cwd))


def _watcher(journal: Journal, arguments: argparse.Namespace) -> Watcher:

    signal.signal(signal.SIGTERM, signal.default_int_handler)  # SIGTERM restores the terminal too
    if arguments.session is not None:
        chosen = choose_session(journal, arguments.session).id
        return Watcher(journal, lambda state: state.id == chosen, (chosen,))
    latest = tuple(session.id for session in reversed(newest_first(journal)))
    if arguments.all:
        return Watcher(journal, lambda state: True, latest[-AT_ONCE:])
    folder = this_folder()

    def is_here(state: SessionState) -> bool:
        return state.opened is not None and is_of_folder(state.opened.cwd, folder)

    return Watcher(journal, is_here, latest)


def _print_json(watcher: Watcher) -> None:
    with suppress(KeyboardInterrupt):
        for moment in watcher.news():
            write_text(json_line(moment), now=True)
