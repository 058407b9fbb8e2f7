"""`planwire watch`: plans while they change."""

import argparse
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cache, partial

from planwire.cli.acting_person import add_person_options, steering_person
from planwire.cli.input_output import json_line, write_text
from planwire.cli.session_argument import (
    add_journal_option,
    add_session_argument,
    choose_session,
    named_session,
    this_folder,
)
from planwire.errors import InputError
from planwire.hooks.drained import open_followed
from planwire.journal import Journal
from planwire.readmodel.as_json import entry_json
from planwire.readmodel.folders import is_here, is_of_folder, is_run_in
from planwire.readmodel.followed_files import FilePlans
from planwire.readmodel.history import HistoryEntry
from planwire.readmodel.timeline import news

DESCRIPTION = "Follow plans while they change: live on a terminal, else one line per change."

EXAMPLES = """\
examples:
  planwire watch                   the plans in this folder, live; new sessions appear by themselves
  planwire watch 3f2a91bc          one session
  planwire watch --all             every session in the journal
  planwire watch > changes.txt     without a terminal: one line per change
  planwire watch --json            one JSON object per change, for a program

On a terminal: x ticks the step under the cursor, e rewords it, a adds one, c comments on it, v reviews the plan or
answers the agent, t tells it now what people said, S stops it. m lists all acts, Esc the sessions, h opens the history,
? shows all keys, q or Ctrl+C quits.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_session_argument(parser, "a session's id, or the beginning of it (default: all sessions of this folder)")
    parser.add_argument("--all", action="store_true", help="every session in the journal")
    parser.add_argument("--json", action="store_true", help="print one JSON object per change")
    add_journal_option(parser)
    add_person_options(parser, yes="with --as: let people steer although an agent starts it")


def run(arguments: argparse.Namespace) -> int:
    name = named_session(arguments)
    if arguments.all and name is not None:
        raise InputError(f"both {name!r} and --all: pass only one of them")
    by = steering_person(arguments)
    with open_followed(arguments.journal) as journal:
        session = None if name is None else choose_session(journal, name).id
        folder = None if arguments.all or session is not None else this_folder()
        if arguments.json:
            _print_json(_moments(journal, session, folder))
        elif _on_a_terminal():
            return _watch_live(journal, session, folder, by)
        else:
            _print_lines(_moments(journal, session, folder), several=session is None)
    return 0


def _on_a_terminal() -> bool:
    streams = (sys.stdin, sys.stdout, sys.stderr)  # the app draws on the last of them
    return all(each.isatty() for each in streams) and os.environ.get("TERM") not in ("dumb", "unknown")


def _watch_live(journal: Journal, session: str | None, folder: str | None, by: str | None) -> int:
    from planwire.terminal.watch_app import watch

    if folder is None:
        return watch(journal, session, None, by)
    here = cache(lambda cwd: is_of_folder(cwd, folder))
    return watch(journal, None, lambda glance: is_here(glance.host) and here(glance.cwd), by)


def _moments(journal: Journal, session: str | None, folder: str | None) -> Iterator[HistoryEntry]:
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    wanted = (lambda state: session in (None, state.id)) if folder is None else partial(is_run_in, folder=folder)
    return news(journal, wanted, FilePlans().of)


def _print_json(moments: Iterator[HistoryEntry]) -> None:
    with suppress(KeyboardInterrupt):
        for moment in moments:
            write_text(json_line(entry_json(moment)), now=True)


def _print_lines(moments: Iterator[HistoryEntry], *, several: bool) -> None:
    from planwire.terminal.history_lines import moment_line
    from planwire.terminal.lines import line_printer, new_console

    console = new_console()
    write = line_printer(console)
    with suppress(KeyboardInterrupt):
        for moment in moments:
            if moment.words:
                write(moment_line(moment, session=moment.session if several else None))
                console.file.flush()
