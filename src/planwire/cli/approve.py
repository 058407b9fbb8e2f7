"""`planwire approve`: a person's verdict on a plan."""

import argparse

from planwire.cli.steered_plan import add_target, confirm, find_target, write
from planwire.journal import open_journal
from planwire.model.events import APPROVED, CHANGES_REQUESTED, Comment
from planwire.readmodel.history import plan_name
from planwire.readmodel.plain_text import one_line
from planwire.steering.commands import review

__all__ = ["DESCRIPTION", "EXAMPLES", "add_arguments", "run"]

DESCRIPTION = "Approve a plan as you saw it, or request changes. If it has changed since, you see how."

EXAMPLES = """\
examples:
  planwire approve                                     shows the plan of this folder's latest session, and asks
  planwire approve --revision 17                       the plan that you saw, and no other
  planwire approve --revision 17 --comment "go ahead"  with a comment
  planwire approve --changes --comment "smaller steps" request changes instead

The agent sees it with its next prompt, or at once if it is waiting for a review.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--changes", action="store_true", help="request changes instead")
    parser.add_argument("--comment", metavar="TEXT", action="append", default=[], help="a comment on the plan")
    add_target(parser)


def run(arguments: argparse.Namespace) -> int:
    verdict = CHANGES_REQUESTED if arguments.changes else APPROVED
    comments = [Comment(text) for text in arguments.comment]
    with open_journal(arguments.journal, create=False) as journal:
        target = find_target(journal, arguments)
        seen = confirm(target, arguments, "Request changes?" if arguments.changes else "Approve this?")
        write(journal, target, lambda state: review(state, target.plan_id, seen, verdict, comments))
    print(f"{verdict.replace('_', ' ')}: {one_line(plan_name(target.plan_id))}, revision {seen}")
    return 0
