"""`planwire demo`: an agent behind the relay, its plans live in the terminal and on the board."""

import argparse
import shutil
import sys
from contextlib import ExitStack, suppress

from planwire.cli.argument_types import number
from planwire.cli.board_process import board_process
from planwire.cli.journal_option import add_journal_option
from planwire.cli.journal_secrets import shown_journal
from planwire.cli.session_argument import choose_session, session_at
from planwire.cli.show import print_session
from planwire.demo.client import DemoConversation, project_folder
from planwire.demo.keys import Keys
from planwire.journal import open_journal
from planwire.readmodel.replay import replayed

DESCRIPTION = (
    "Start a small agent behind the relay and watch its plans, live in the terminal and on the board. It asks you to\n"
    "approve its proposal: answer with a key, on the board, or not at all. Then its context is compacted; the relay\n"
    "reminds it of its plan, and tells it what you said about it. This takes half a minute. In a terminal, the agent\n"
    "and the board stay until you press Enter."
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
  planwire watch {session:<23} follow and steer them in the terminal
  planwire approve                       answer an agent that asks
  planwire board                         every session, live in the browser
  planwire relay -- AGENT ARGUMENTS      the same for your own agent
  planwire setup zed -- AGENT ARGUMENTS  what to put into your editor's settings
  planwire setup claude-code             for an agent in its own terminal"""


_speed = number("a number above 0", float, lambda speed: 0 < speed < float("inf"))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--speed", type=_speed, default=1.0, metavar="X", help="run X times as fast (default: 1)")
    add_journal_option(parser)


def run(arguments: argparse.Namespace) -> int:
    from planwire.terminal.stage import stage

    addresses: list[str | None] = []
    with ExitStack() as open_now:
        told = open_now.enter_context(board_process(arguments.journal, addresses.append))
        keys = open_now.enter_context(Keys())
        told.join()
        address = addresses[0] if addresses else None
        view = stage(address)
        conversation = open_now.enter_context(
            DemoConversation(arguments.speed, arguments.journal, project_folder(), view, keys)
        )
        with view.playing():
            for frame in replayed(conversation.story()):
                view.show(frame)
        _print_ending(arguments.journal, conversation.session)
        if keys.are_there:
            _linger(conversation, keys, address)
    return 0


def _print_ending(journal: str | None, session: str) -> None:
    """Print the final plans, and what to try with them."""
    with open_journal(journal, create=False) as opened:
        print_session(session_at(opened, choose_session(opened, session)))
    print(_NEXT.format(session=session), *_provisos(journal), sep="\n", flush=True)


def _linger(conversation: DemoConversation, keys: Keys, address: str | None) -> None:
    """Wait for Enter, so that the board stays and the agent hears what people say there."""
    from planwire.terminal.stage import stay

    if address:
        print("\nThe agent is still there: comment or add a step on the board, and it answers.")
    keys.forget()
    last = f"The board is at {address}\nPress Enter to end." if address else "Press Enter to end."
    with suppress(KeyboardInterrupt):  # as good as Enter
        stay(replayed(conversation.afterwards(keys.has_enter)), last)


def _provisos(journal: str | None) -> list[str]:
    """Conditions for the commands above to work here."""
    unfound = shutil.which("planwire") is None and sys.argv[0].endswith("planwire")
    return [
        *([f"\nplanwire is not on your PATH: write {sys.argv[0]}"] if unfound else []),
        *([f"\nThese plans are in a journal of their own: add --journal {shown_journal(journal)}"] if journal else []),
    ]
