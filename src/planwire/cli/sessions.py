"""`planwire sessions`: every session in the journal, at a glance."""

import argparse
import sys
from time import time_ns
from typing import Final

from planwire.cli.input_output import print_json
from planwire.cli.offered_ids import plain_ids
from planwire.cli.session_argument import add_journal_option, this_folder
from planwire.hooks.drained import open_drained
from planwire.journal import Journal
from planwire.readmodel.as_json import session_json
from planwire.readmodel.folders import is_of_folder, newest_first, short_ids
from planwire.readmodel.followed_files import FilePlans
from planwire.readmodel.overview import Overview, waiting_first
from planwire.readmodel.sessions import load_session
from planwire.readmodel.shown import ShownSession
from planwire.readmodel.states import holds_of
from planwire.session.lapses import end_lapsed

__all__ = ["DESCRIPTION", "EXAMPLES", "add_arguments", "run"]

DESCRIPTION = "List the sessions in the journal: first those that need you, then the latest."

EXAMPLES = """\
examples:
  planwire sessions                   the latest sessions: questions, current steps, progress, agents, folders
  planwire sessions --all             all of them
  planwire sessions --here            those in this folder
  planwire sessions --json            the same for a program
  planwire show 3f2a91bc              one of them; any unique beginning of an id will do
"""

#: Sessions that fit on a screen. Programs get all of them.
LATEST: Final = 12


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--all", action="store_true", help=f"all of them (on a terminal the latest {LATEST} are shown)")
    parser.add_argument("--here", action="store_true", help="only sessions in this folder")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--json", action="store_true", help="print JSON")
    how.add_argument("--ids", action="store_true", help="print only the ids, one per line")
    add_journal_option(parser)


def run(arguments: argparse.Namespace) -> int:
    with open_drained(arguments.journal) as journal:
        if arguments.ids:
            _print_ids(journal)
        else:
            _print_sessions(journal, arguments)
    return 0


def _print_ids(journal: Journal) -> None:
    for session in plain_ids(session.id for session in newest_first(journal)):
        print(session)


def _print_sessions(journal: Journal, arguments: argparse.Namespace) -> None:
    on_terminal = sys.stdout.isatty() and not arguments.json
    most = LATEST if on_terminal and not arguments.all else None
    folder = this_folder() if arguments.here else None
    holds = holds_of(end_lapsed(journal))
    files, known = FilePlans(), newest_first(journal)
    every = [load_session(journal, each, files, holds=holds) for each in known]
    asking = {each.id: each for each in every if each.glance.asked}
    glances = waiting_first((each.glance for each in every), time_ns() // 1_000_000)
    shown = [glance for glance in glances if folder is None or is_of_folder(glance.cwd, folder)]
    if arguments.json:
        print_json({"sessions": [session_json(glance) for glance in shown]})
    else:
        _print_for_people(shown[:most], len(shown), short_ids(session.id for session in known), folder, asking)


def _print_for_people(
    shown: list[Overview], count: int, short: dict[str, str], folder: str | None, asking: dict[str, ShownSession]
) -> None:
    from planwire.terminal.lines import new_console
    from planwire.terminal.plan_questions import answer_hint
    from planwire.terminal.session_lines import sessions_lines, sessions_list

    console, now = new_console(), time_ns() // 1_000_000
    if not shown:
        where = "in the journal" if folder is None else "in this folder"
        console.print(f"No sessions {where} yet: run an agent behind planwire (planwire relay -- AGENT).", style="dim")
        return
    if not console.is_terminal:
        for line in sessions_lines(shown, short, now):
            console.print(line, markup=False, emoji=False)
        return
    cards = {each.id: next((card for card in each.cards() if card.needs_you), None) for each in asking.values()}
    hints = {session: answer_hint(card, short[session]) for session, card in cards.items() if card is not None}
    console.print(sessions_list(shown, short, now, hints))
    if count > len(shown):
        console.print(f"… and {count - len(shown)} more: planwire sessions --all", style="dim")
