"""`planwire relay`: run any agent behind planwire."""

import argparse
from contextlib import nullcontext
from typing import TYPE_CHECKING

from planwire.cli.argument_types import seconds
from planwire.cli.board_process import board_process
from planwire.cli.journal_option import add_journal_option
from planwire.errors import InputError
from planwire.relay.process import GRACE, end_like
from planwire.relay.run import relay, say

if TYPE_CHECKING:
    from planwire.journal import Journal
    from planwire.relay.handoffs import Handoffs

DESCRIPTION = "Run an ACP agent behind planwire. Use this wherever you would start the agent itself."

EXAMPLES = """\
examples:
  planwire relay -- claude-agent-acp                     in an editor's settings, in place of claude-agent-acp
  planwire relay --journal ./plans.db -- my-agent --acp  keep the plans in another file
  planwire relay --board -- my-agent                     with the board
  planwire relay --no-context -- my-agent                never add the plan to a prompt
  planwire relay --no-answers -- my-agent                leave answers and prompts to the editor
  planwire relay --tools -- my-agent                     give the agent tools for plans that outlive its context
  planwire relay --proxy                                 as a component of a proxy chain, for its conductor to start

The relay forwards every line unchanged, with two exceptions: plans are translated into the client's dialect, and the
plan is added to the next prompt after the agent's context was compacted, or after a person changed or reviewed the
plan. By itself it sends the agent only what a person says in planwire, when they say it: the answer to a question about
a plan, words to tell now, a stop. The editor then takes its question back, and shows the words as yours. --no-answers
turns that off. A broken journal never stops the traffic. With --tools every session gets planwire's MCP server as well;
plans that the agent makes with its tools appear in the client beside the agent's own.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = "planwire relay [options] -- AGENT [ARGUMENT ...]\n       planwire relay [options] --proxy"
    add_journal_option(parser)
    parser.add_argument("--no-context", action="store_true", help="never add the plan to a prompt")
    parser.add_argument(
        "--no-answers", action="store_true", help="let only the client answer and prompt the agent, not planwire"
    )
    parser.add_argument("--tools", action="store_true", help="give the agent the plan tools (see planwire tools)")
    parser.add_argument(
        "--proxy", action="store_true", help="run as a component of an ACP proxy chain; its conductor starts the agent"
    )
    parser.add_argument("--board", action="store_true", help="serve the board too; its address goes to stderr")
    parser.add_argument(
        "--grace",
        metavar="SECONDS",
        type=seconds,
        default=GRACE,
        help=f"how long a silent agent may ignore the end of its input ({GRACE:g})",
    )
    parser.add_argument("agent", metavar="-- AGENT ...", nargs=argparse.REMAINDER, help="the agent's command")


def run(arguments: argparse.Namespace) -> int:
    command = arguments.agent[1:] if arguments.agent[:1] == ["--"] else arguments.agent
    if not command and not arguments.proxy:
        raise InputError("the agent's command is missing: planwire relay -- AGENT ARGUMENTS")
    if command and arguments.proxy:
        raise InputError("with --proxy the conductor starts the agent: leave its command out, or leave --proxy out")
    with board_process(arguments.journal, _tell) if arguments.board else nullcontext():
        code = relay(
            command,
            lambda: _open_journal(arguments.journal),
            context=not arguments.no_context,
            steers=not arguments.no_answers,
            grace=arguments.grace,
            hand_over=(lambda: _handoffs(arguments.journal)) if arguments.tools else None,
        )
    return end_like(code)


# The relay calls the next two once the agent runs. Imported above, journal and handoffs would bring msgspec with them
# and let the agent start after 55 ms instead of 32.


def _open_journal(url: str | None) -> "Journal":
    from planwire.relay.journalled import open_for_recording  # noqa: PLC0415

    return open_for_recording(url)


def _handoffs(journal: str | None) -> "Handoffs":
    from planwire.relay.handoffs import Handoffs  # noqa: PLC0415

    return Handoffs(journal)


def _tell(address: str | None) -> None:
    say(f"the board is at {address}" if address else "the board did not start: `planwire board` says why")
