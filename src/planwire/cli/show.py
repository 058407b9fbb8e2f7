"""`planwire show`: the plans of a session, as they are or as they were."""

import argparse
from collections.abc import Mapping
from time import time_ns

from msgspec.structs import replace

from planwire.cli.argument_types import revision
from planwire.cli.input_output import note, print_json
from planwire.cli.pager import add_pager_option, paged
from planwire.cli.session_argument import (
    add_journal_option,
    add_session_argument,
    choose_plan,
    choose_session,
    named_session,
    session_at,
)
from planwire.hooks.drained import open_drained
from planwire.readmodel.as_json import plan_json, session_json
from planwire.readmodel.away_words import go_by_last_known, is_away, last_known_words
from planwire.readmodel.card import PlanCard, PlanId
from planwire.readmodel.folders import short_ids
from planwire.readmodel.rationale import Reasons
from planwire.readmodel.shown import ShownSession

DESCRIPTION = (
    "Show a session's plans: progress, reasons, and what people said of them: open remarks and suggestions with their "
    "ids (r3), their authors, and whether the agent has seen them."
)

EXAMPLES = """\
examples:
  planwire show                    the plans of the latest session of this folder
  planwire show 3f2a91bc           another session (planwire sessions lists them)
  planwire show --plan main        one plan, even one that ended or was removed
  planwire show --all              with earlier proposals, and with remarks that are closed
  planwire show --at 12            the plans as they were after event 12 (planwire log prints the numbers)
  planwire show --json             the same for a program
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_session_argument(parser)
    parser.add_argument("--plan", metavar="PLAN", help="only this plan")
    parser.add_argument("--all", action="store_true", help="earlier proposals and closed remarks, too")
    parser.add_argument("--at", metavar="SEQ", type=revision, help="as it was after this event")
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_pager_option(parser)
    add_journal_option(parser)


def run(arguments: argparse.Namespace) -> int:
    with open_drained(arguments.journal) as journal:
        go_by_last_known(journal)
        session = session_at(journal, choose_session(journal, named_session(arguments)), arguments.at)
        name = short_ids({session.id, *(each.id for each in journal.sessions())})[session.id]
        note(last_known_words(journal))
        thinking = {} if arguments.json or is_away(journal) else Reasons(journal).of(session.journalled)
    cards = (*session.cards(), *session.dismissed())
    chosen = None if arguments.plan is None else choose_plan(cards, arguments.plan)
    with paged(off=arguments.no_pager):
        if arguments.json:
            value = session_json(session)
            print_json(value if chosen is None else replace(value, plans=(plan_json(chosen),)))
        else:
            name = "" if arguments.at else name
            print_session(session, chosen, everything=arguments.all, name=name, thinking=thinking)
    return 0


def print_session(
    session: ShownSession,
    chosen: PlanCard | None = None,
    *,
    everything: bool = False,
    name: str = "",
    thinking: Mapping[PlanId, str] | None = None,
) -> None:
    """Print a session for people, or one plan of it. Its `name` adds the commands that answer it, and `thinking` adds
    the agent's thoughts to each plan."""
    from planwire.terminal.lines import new_console
    from planwire.terminal.records import session_record_view

    only, now = chosen is not None, time_ns() // 1_000_000
    plan = chosen.id if chosen else None
    view = session_record_view(
        session, now, chosen=plan, only=only, everything=everything, name=name, thinking=thinking
    )
    new_console().print(view)
