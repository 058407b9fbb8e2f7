"""`planwire show`: the plans of a session, as they are or as they were."""

import argparse
from time import time_ns
from typing import Any

from planwire.cli.command import new_command
from planwire.cli.journals import add_journal_option, journal_to_read
from planwire.cli.session_argument import SESSION_HELP, choose_plan, choose_session, revision, state_of

__all__ = ["add_parser", "run"]

_EXAMPLES = """\
examples:
  planwire show                    the plans of the latest session of this folder
  planwire show 3f2a91bc           those of another session (planwire sessions lists them)
  planwire show --plan main        one plan; one that was removed, too
  planwire show --at 12            the plans as they were after event 12 (planwire log has the numbers)
  planwire show --json             the same for a program
"""


def add_parser(commands: Any) -> None:
    parser = new_command(
        commands,
        "show",
        run,
        summary="show the plans of a session",
        description="Show a session's plans with their progress, the why, notes, wishes and the last review.",
        examples=_EXAMPLES,
    )
    parser.add_argument("session", metavar="SESSION", nargs="?", help=SESSION_HELP)
    parser.add_argument("--plan", metavar="ID", help="only this plan")
    parser.add_argument("--at", metavar="SEQ", type=revision, help="as it was after the event with that number")
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_journal_option(parser)


def run(arguments: argparse.Namespace) -> int:
    from planwire.readmodel.overview import overview  # noqa: PLC0415

    with journal_to_read(arguments) as journal:
        known = choose_session(journal, arguments.session)
        state = state_of(journal, known, arguments.at)
        last_at = known.last_at
        if arguments.at is not None:
            last_at = next(journal.read(known.id, arguments.at - 1, arguments.at)).at
    glance = overview(state, known.first_at, last_at)
    only = arguments.plan is not None
    chosen = choose_plan(state, arguments.plan) if only else None
    if arguments.json:
        from planwire.cli.json_output import print_json  # noqa: PLC0415
        from planwire.cli.plan_json import record_value  # noqa: PLC0415

        records = [state.plans[chosen]] if only else state.live().values()
        print_json({"session": glance, "plans": [record_value(record) for record in records]})
        return 0
    from planwire.terminal.console import new_console  # noqa: PLC0415
    from planwire.terminal.records import session_record_view  # noqa: PLC0415

    new_console(wide=False).print(session_record_view(state, glance, time_ns() // 1_000_000, chosen=chosen, only=only))
    return 0
