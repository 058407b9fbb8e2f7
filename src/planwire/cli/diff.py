"""`planwire diff`: what changed between two moments of a session, or between the plans of two sessions."""

import argparse
from collections.abc import Iterable

from planwire.cli.input_output import print_json
from planwire.cli.pager import add_pager_option, paged
from planwire.cli.session_argument import (
    add_journal_option,
    add_session_option,
    choose_plan,
    choose_session,
    session_at,
)
from planwire.errors import InputError
from planwire.hooks.drained import open_drained
from planwire.journal import Journal
from planwire.readmodel.as_json import difference_json
from planwire.readmodel.differences import PlanDifference
from planwire.readmodel.shown import ShownSession
from planwire.readmodel.timeline import compare_sessions, session_differences

DESCRIPTION = "Show what changed between two moments of a session, or between the plans of two sessions."

EXAMPLES = """\
examples:
  planwire diff 12                       from event 12 to now, in the latest session of this folder
  planwire diff 12 20                    from event 12 to event 20 (planwire log prints the numbers)
  planwire diff 3f2a 12 20               the same in another session
  planwire diff 3f2a 9c41                from the plans of one session to those of another
  planwire diff 3f2a@12 9c41@7           the same at earlier moments

A or B is the number of an event, `now`, a session (as it is now), or SESSION@NUMBER. B is `now` if it is left out.
To name a session whose id is a number, use --session.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = (
        "planwire diff [-h] [--session SESSION] [--plan PLAN] [--json] [--no-pager] [--journal URL] [SESSION] A [B]"
    )
    parser.add_argument("moments", metavar="[SESSION] A [B]", nargs="+", help="the earlier and the later moment")
    add_session_option(parser, "the session that plain numbers refer to")
    parser.add_argument("--plan", metavar="PLAN", help="only this plan")
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_pager_option(parser)
    add_journal_option(parser)


def run(arguments: argparse.Namespace) -> int:
    session, first, second = _operands(arguments.moments, arguments.session)
    with open_drained(arguments.journal) as journal:
        before = _session(journal, first, session)
        after = _session(journal, second, session) if second else _session(journal, "now", before.id)
    one, other = before.glance, after.glance
    if second is None and one.last_seq == other.last_seq:
        raise InputError(f"{first!r} is the latest event: pass an earlier one (planwire log) or another session")
    changes, plans = compare_sessions(before, after), session_differences(before, after)
    if arguments.plan is not None:
        cards = (*after.cards(), *after.dismissed()) or (*before.cards(), *before.dismissed())
        chosen = choose_plan(cards, arguments.plan)
        changes = [change for change in changes if change.id == chosen.id]
        plans = tuple(plan for plan in plans if plan.id == chosen.id)
    with paged(off=arguments.no_pager):
        if arguments.json:
            sides = [{"session": glance.id, "seq": glance.last_seq} for glance in (one, other)]
            print_json({"from": sides[0], "to": sides[1], "plans": [difference_json(change) for change in changes]})
        else:
            later = f"{other.last_seq}" if one.id == other.id else f"{other.id} at {other.last_seq}"
            _print_lines(f"{one.id} at {one.last_seq} → {later}", plans)
    return 0


def _print_lines(title: str, plans: Iterable[PlanDifference]) -> None:
    from planwire.terminal.change_lines import difference_lines
    from planwire.terminal.lines import new_console

    console = new_console()
    for line in difference_lines(title, plans):
        console.print(line)


def _operands(moments: list[str], session: str | None) -> tuple[str | None, str, str | None]:
    """The session of bare numbers, the earlier moment and the later one."""
    if len(moments) > 1 and not _is_moment(moments[0]) and _is_moment(moments[1]) and "@" not in moments[0]:
        first, *moments = moments
        if session not in (None, first):
            raise InputError(f"two sessions, {first!r} and --session {session!r}: pass only one of them")
        session = first
    if len(moments) > 2:
        raise InputError(f"only two moments can be compared, not {len(moments)}: planwire diff [SESSION] A [B]")
    return session, moments[0], moments[1] if len(moments) > 1 else None


def _session(journal: Journal, operand: str, session: str | None) -> ShownSession:
    name, at = session, operand
    if not _is_moment(operand):
        name, at = operand, "now"
        beginning, mark, end = operand.rpartition("@")
        if mark and _is_moment(end) and not any(known.id.startswith(operand) for known in journal.sessions()):
            name, at = beginning, end
    return session_at(journal, choose_session(journal, name), None if at == "now" else int(at))


def _is_moment(text: str) -> bool:
    return text == "now" or (text.isascii() and text.isdigit())
