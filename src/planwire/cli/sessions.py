"""`planwire sessions`: every session in the journal, at a glance."""

import argparse
import sys
from collections.abc import Iterable
from time import time_ns
from typing import Final, NamedTuple

from planwire.cli.exit_codes import DONE, NOT_DONE
from planwire.cli.input_output import note, print_json
from planwire.cli.offered_ids import plain_ids
from planwire.cli.session_argument import add_journal_option, this_folder
from planwire.hooks.drained import open_drained
from planwire.journal import Journal
from planwire.readmodel.as_json import session_json
from planwire.readmodel.away_words import go_by_last_known, last_known_words
from planwire.readmodel.facets import FACETS, GROUPS, Group, grouped, has_all, varied
from planwire.readmodel.folders import is_here, is_of_folder, newest_first, short_ids
from planwire.readmodel.followed_files import FilePlans
from planwire.readmodel.overview import Overview, waiting_first
from planwire.readmodel.plain_text import one_line
from planwire.readmodel.sessions import load_sessions
from planwire.readmodel.shown import ShownSession
from planwire.readmodel.states import holds_of
from planwire.session.lapses import end_lapsed

DESCRIPTION = "List the sessions in the journal: first those that need you, then the latest."

EXAMPLES = """\
examples:
  planwire sessions                   the latest sessions: questions, current steps, progress, agents, folders
  planwire sessions --all             all of them
  planwire sessions --here            those in this folder
  planwire sessions --host devbox     those on another machine, of a team's journal (also --user, --repository)
  planwire sessions --group-by user   all sessions of each user together
  planwire sessions --json            the same for a program
  planwire show 3f2a91bc              one of them; any unique beginning of an id will do
"""

#: The facets by which sessions can be selected.
_FACETS: Final = {"host": "on this machine", "user": "of this user", "repository": "that work on this repository"}
#: Sessions that fit on a screen. Programs get all of them.
LATEST: Final = 12
_MATCH: Final = "that match"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--all", action="store_true", help=f"all of them (on a terminal the latest {LATEST} are shown)")
    parser.add_argument("--here", action="store_true", help="only sessions in this folder")
    for facet, what in _FACETS.items():
        parser.add_argument(f"--{facet}", metavar=facet.upper(), help=f"only sessions {what}")
    groups = " | ".join(GROUPS)
    parser.add_argument("--group-by", metavar="FACET", choices=list(GROUPS), help=f"groups of sessions: {groups}")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--json", action="store_true", help="print JSON")
    how.add_argument("--ids", action="store_true", help="print only the ids, one per line")
    add_journal_option(parser)


def run(arguments: argparse.Namespace) -> int:
    with open_drained(arguments.journal) as journal:
        go_by_last_known(journal)
        narrowed = arguments.here or any(getattr(arguments, each) for each in FACETS)
        if arguments.ids and not narrowed:  # for completion, which must not wait for every session to be read
            _print_ids(session.id for session in newest_first(journal))
            return DONE
        return _print_sessions(journal, arguments)


def _print_ids(sessions: Iterable[str]) -> None:
    for session in plain_ids(sessions):
        print(session)


def _print_sessions(journal: Journal, arguments: argparse.Namespace) -> int:
    """Print the sessions that can be read. Returns the exit code."""
    on_terminal = sys.stdout.isatty() and not arguments.json
    most = LATEST if on_terminal and not arguments.all else None
    folder = this_folder() if arguments.here else None
    holds = holds_of(end_lapsed(journal))
    known = newest_first(journal)
    note(last_known_words(journal))
    every, troubles = load_sessions(journal, known, FilePlans(), holds)
    if troubles and not every:
        raise troubles[0]
    for trouble in troubles:
        note(str(trouble))
    code = NOT_DONE if troubles else DONE
    asking = {each.id: each for each in every if each.glance.asked}
    glances = waiting_first((each.glance for each in every), time_ns() // 1_000_000)
    wanted = {facet: getattr(arguments, facet) or "" for facet in FACETS}
    here = (each for each in glances if folder is None or (is_here(each.host) and is_of_folder(each.cwd, folder)))
    shown = [each for each in here if has_all(each, wanted)]
    if arguments.ids:
        _print_ids(glance.id for glance in shown)
        return code
    if arguments.json:
        ordered = [each for group in _groups(shown, arguments.group_by) for each in group.sessions]
        print_json({"sessions": [session_json(glance) for glance in ordered]})
        return code
    facets = tuple(each for each in varied(glances) if not wanted[each] and each != arguments.group_by)
    where = "in this folder" if folder is not None else _MATCH if any(wanted.values()) else ""
    listed = _ListedSessions(shown[:most], len(shown), short_ids(session.id for session in known), where, facets)
    _print_for_people(listed, asking, arguments.group_by)
    return code


def _groups(shown: list[Overview], facet: str | None) -> list[Group]:
    return grouped(shown, facet) if facet else [Group("", tuple(shown))]


class _ListedSessions(NamedTuple):
    """Sessions to list, out of `among`; `where` they were looked for, and the facets in which they differ."""

    shown: list[Overview]
    among: int
    short: dict[str, str]
    where: str
    facets: tuple[str, ...]


def _print_for_people(listed: _ListedSessions, asking: dict[str, ShownSession], facet: str | None) -> None:
    from planwire.terminal.lines import new_console
    from planwire.terminal.plan_questions import answer_hint
    from planwire.terminal.session_lines import sessions_lines, sessions_list

    shown, count, short, where, facets = listed
    console, now = new_console(), time_ns() // 1_000_000
    if not shown:
        how = "run an agent behind planwire (planwire relay -- AGENT)"
        no_match = "No sessions match: planwire sessions --all lists every one."
        where = where or "in the journal"
        console.print(no_match if where == _MATCH else f"No sessions {where} yet: {how}.", style="dim")
        return
    cards = {each.id: next((card for card in each.cards() if card.needs_you), None) for each in asking.values()}
    hints = {session: answer_hint(card, short[session]) for session, card in cards.items() if card is not None}
    for number, group in enumerate(_groups(shown, facet)):
        if facet:
            name = one_line(group.name) or GROUPS[facet]
            console.print("\n" * bool(number) + name, markup=False, emoji=False, highlight=False, style="bold")
        if console.is_terminal:
            console.print(sessions_list(group.sessions, short, now, hints, facets))
        else:
            for line in sessions_lines(group.sessions, short, now, facets):
                console.print(line, markup=False, emoji=False)
    if count > len(shown):
        console.print(f"… and {count - len(shown)} more: planwire sessions --all", style="dim")
