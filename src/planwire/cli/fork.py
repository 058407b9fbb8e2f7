"""`planwire fork`: begin a session with another one's past."""

import argparse
from typing import Final

from planwire.cli.argument_types import revision
from planwire.cli.input_output import print_json
from planwire.cli.session_argument import add_journal_option, add_session_argument, choose_session, named_session
from planwire.hooks.drained import open_drained
from planwire.readmodel.plain_text import one_line
from planwire.session.forks import fork_session

#: The author of a fork, which is no person's act on a plan.
_BY: Final = "planwire"

DESCRIPTION = (
    "Begin a session with another one's past: the same plans, step ids, open remarks and chat. Both go their own way "
    "from there, and each names the other."
)

EXAMPLES = """\
examples:
  planwire fork                      the latest session of this folder
  planwire fork 3f2a91bc --at 12     as it was after event 12 (planwire log prints the numbers)
  planwire fork --as second-try      under an id of your own

An existing session is never overwritten.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_session_argument(parser)
    parser.add_argument("--as", metavar="ID", dest="new_id", help="the id of the new session (default: one is made up)")
    parser.add_argument("--at", metavar="SEQ", type=revision, help="with the past up to this event (default: all)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_journal_option(parser)


def run(arguments: argparse.Namespace) -> int:
    with open_drained(arguments.journal) as journal:
        known = choose_session(journal, named_session(arguments))
        name = fork_session(journal, known.id, arguments.new_id or None, arguments.at, _BY)
    if arguments.json:
        print_json({"session": name, "forked_from": known.id})
    else:
        print(f"Forked {one_line(known.id)} as {one_line(name)}.")
    return 0
