"""`planwire comment`: a comment on a plan, or on a step of it."""

import argparse

from planwire.cli.argument_types import revision
from planwire.cli.steered_plan import REVISION_HELP, add_target, find_target, write
from planwire.journal import open_journal
from planwire.model.events import Comment
from planwire.readmodel.plain_text import one_line
from planwire.steering.commands import comment

__all__ = ["DESCRIPTION", "EXAMPLES", "add_arguments", "run"]

DESCRIPTION = "Comment on a plan, or on a step of it. The agent sees the comment."

EXAMPLES = """\
examples:
  planwire comment "do not touch the importer"       on the plan of this folder's latest session
  planwire comment --step s3 "use the old fixture"   on a step (planwire show has the ids)

The agent sees it with its next prompt, or at once if it is waiting for a review.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", metavar="TEXT", help="the comment")
    parser.add_argument("--step", metavar="STEP", help="the step to comment on")
    parser.add_argument("--revision", metavar="N", type=revision, help=REVISION_HELP)
    add_target(parser, asks=False)


def run(arguments: argparse.Namespace) -> int:
    words = [Comment(arguments.text, arguments.step)]
    with open_journal(arguments.journal, create=False) as journal:
        target = find_target(journal, arguments)
        write(journal, target, lambda state: comment(state, target.plan_id, arguments.revision, words))
    about = one_line(arguments.step or target.plan_id or "the plan")
    print(f"Comment added to {about}. The agent will see it with its next prompt.")
    return 0
