"""`planwire select`: run these steps, and no others for now."""

import argparse

from planwire.cli.steered_plan import add_target, confirm, find_target, write
from planwire.journal import open_journal
from planwire.readmodel.plain_text import one_line
from planwire.steering.commands import select

__all__ = ["DESCRIPTION", "EXAMPLES", "add_arguments", "run"]

DESCRIPTION = "Approve some steps of a plan: the agent is told to run these, and no others for now."

EXAMPLES = """\
examples:
  planwire select s1 s3 --revision 17     steps of the plan that you saw (planwire show has ids and revision)
  planwire select s1 s3                   shows the plan first, and asks

The agent is told to run these steps and no others for now.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("steps", metavar="STEP", nargs="+", help="ids of steps")
    add_target(parser)


def run(arguments: argparse.Namespace) -> int:
    with open_journal(arguments.journal, create=False) as journal:
        target = find_target(journal, arguments)
        seen = confirm(target, arguments, f"Run {', '.join(arguments.steps)} only?")
        write(journal, target, lambda state: select(state, target.plan_id, seen, arguments.steps))
    steps, plan = ", ".join(dict.fromkeys(arguments.steps)), one_line(target.plan_id or "the plan")
    print(f"to run: {steps} of {plan}, revision {seen}")
    return 0
