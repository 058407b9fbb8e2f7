"""`planwire demo`: an agent behind the relay, its plans live in the terminal."""

import argparse
import shutil
import sys

from planwire.cli.argument_types import number
from planwire.cli.board_process import board_process
from planwire.cli.session_argument import choose_session, session_at
from planwire.cli.show import print_session
from planwire.demo.client import DemoConversation, project_folder
from planwire.journal import open_journal

__all__ = ["DESCRIPTION", "EXAMPLES", "add_arguments", "run"]

DESCRIPTION = (
    "Start a small agent behind the relay and watch its plans, live in the terminal. Halfway through, the agent loses\n"
    "its context, and the relay reminds it of the plan. It takes 20 seconds."
)

EXAMPLES = """\
examples:
  planwire demo
  planwire demo --speed 4               four times as fast
  planwire demo --journal ./plans.db    keep the plans in another file
"""

_NEXT = """
Everything is in the journal now. Try next:
  planwire show {session:<24} the plans as they are now
  planwire log {session:<25} every change, by whom and when
  planwire board                         every session and its history in the browser
  planwire relay -- AGENT ARGUMENTS      the same for your own agent
  planwire setup zed -- AGENT ARGUMENTS  what to put into your editor's settings
"""


_speed = number("a number above 0", float, lambda speed: 0 < speed < float("inf"))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--speed", type=_speed, default=1.0, metavar="X", help="run X times as fast (default: 1)")
    parser.add_argument("--journal", metavar="URL", help="where the plans are kept: a path, or sqlite:PATH")


def run(arguments: argparse.Namespace) -> int:
    from planwire.terminal.play import play

    conversation = DemoConversation(arguments.speed, arguments.journal, project_folder())
    with board_process(arguments.journal, _tell) as told:
        told.join()
        play(conversation, captions=True, ending=False)
    with open_journal(arguments.journal, create=False) as journal:
        print_session(session_at(journal, choose_session(journal, conversation.session)))
    print(_NEXT.format(session=conversation.session), *_provisos(arguments.journal), sep="\n")
    return 0


def _provisos(journal: str | None) -> list[str]:
    """Conditions for the commands above to work here."""
    unfound = shutil.which("planwire") is None and sys.argv[0].endswith("planwire")
    return [
        *([f"planwire is not on your PATH: write {sys.argv[0]}"] if unfound else []),
        *([f"These plans are in a journal of their own: add --journal {journal}"] if journal else []),
    ]


def _tell(address: str | None) -> None:
    if address:
        print(f"The same on the board, while the demo runs: {address}\n", flush=True)
