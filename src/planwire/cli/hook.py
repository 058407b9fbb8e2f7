"""`planwire hook`: what an agent in its own terminal calls on its events."""

import argparse
import os
import sys
from contextlib import suppress
from typing import Final

from planwire.cli.journal_option import add_journal_option
from planwire.errors import InputError
from planwire.hooks.agents import HOOKED_AGENTS, read_hook
from planwire.hooks.drained import folder_of_hooks
from planwire.hooks.happenings import Chance
from planwire.hooks.thin_hook import serve

DESCRIPTION = (
    "Take an event of an agent that runs in its own terminal, as JSON on standard input, and print what the agent is "
    "to be told, in its own dialect."
)

EXAMPLES = """\
examples:
  planwire setup claude-code                         installs all hooks of an agent, which is easier
  planwire hook < payload.json                       the payload tells which agent it is
  planwire hook --agent qwen < payload.json          if it does not
  {"type": "command", "command": "planwire hook"}    in a hooks file of your own

Whatever is wrong, a hook that an agent calls ends with exit code 0 and prints nothing: an agent takes everything else
for a veto.
"""

#: The role of a hook by what its answer can do.
_ROLES: Final = {Chance.START: "tell", Chance.PROMPT: "tell", Chance.TOOL: "tell", Chance.CALL: "call"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--agent", metavar="NAME", help=f"the agent that calls: {', '.join(HOOKED_AGENTS)}")
    parser.add_argument("--review", action="store_true", help="hold plans back until a person has decided")
    add_journal_option(parser)


def run(arguments: argparse.Namespace) -> int:
    if sys.stdin.isatty():
        raise InputError("an agent calls this, with its event on standard input: see planwire hook --help")
    with suppress(Exception):  # whatever it is, the agent goes on
        body = sys.stdin.buffer.read()
        folder = folder_of_hooks(arguments.journal)
        payload = read_hook(body, arguments.agent, os.environ)
        if folder is not None and payload is not None:
            moment = payload.heard.moment
            role = "ask" if moment is Chance.REVIEW and arguments.review else _ROLES.get(moment, "record")
            serve(role, str(folder), payload.agent.name, body)
    return 0
