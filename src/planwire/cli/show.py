"""`planwire show`: the plans of a session, as they are or as they were."""

import argparse
from time import time_ns

from planwire.cli.argument_types import revision
from planwire.cli.input_output import print_json
from planwire.cli.pager import add_pager_option, paged
from planwire.cli.session_argument import (
    add_journal_option,
    add_session_argument,
    choose_plan,
    choose_session,
    named_session,
    state_of,
)
from planwire.journal import open_journal
from planwire.readmodel.documents import record_json
from planwire.readmodel.overview import overview

__all__ = ["DESCRIPTION", "EXAMPLES", "add_arguments", "run"]

DESCRIPTION = "Show a session's plans with their progress, the why, notes, suggestions and the last review."

EXAMPLES = """\
examples:
  planwire show                    the plans of the latest session of this folder
  planwire show 3f2a91bc           those of another session (planwire sessions lists them)
  planwire show --plan main        one plan, even one that was removed
  planwire show --at 12            the plans as they were after event 12 (planwire log has the numbers)
  planwire show --json             the same for a program
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_session_argument(parser)
    parser.add_argument("--plan", metavar="PLAN", help="only this plan")
    parser.add_argument("--at", metavar="SEQ", type=revision, help="as it was after the event with that number")
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_pager_option(parser)
    add_journal_option(parser)


def run(arguments: argparse.Namespace) -> int:
    with open_journal(arguments.journal, create=False) as journal:
        known = choose_session(journal, named_session(arguments))
        state = state_of(journal, known, arguments.at)
        last_at = known.last_at
        if arguments.at is not None:
            last_at = next(journal.read(known.id, arguments.at - 1, arguments.at)).at
    glance = overview(state, known.first_at, last_at)
    only = arguments.plan is not None
    chosen = choose_plan(state.plans, arguments.plan) if only else None
    with paged(off=arguments.no_pager):
        if arguments.json:
            records = [state.plans[chosen]] if only else state.live().values()
            print_json({"session": glance, "plans": [record_json(record) for record in records]})
        else:
            from planwire.terminal.lines import new_console
            from planwire.terminal.records import session_record_view

            view = session_record_view(state, glance, time_ns() // 1_000_000, chosen=chosen, only=only)
            new_console(wide=False).print(view)
    return 0
