"""The command line: one file a command. Each has `add_parser`, which teaches it, and `run`, which does it."""

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from io import TextIOWrapper
from typing import Final

from planwire.cli.command import ListFormatter
from planwire.errors import PlanwireError

__all__ = ["build_parser", "main"]

_DESCRIPTION = "The plan layer for AI agents: see, follow and translate the plans that agents send over ACP."

_EXAMPLES = """\
examples:
  planwire demo                                  watch a plan being worked off
  planwire relay -- my-agent                     run an agent with its plans kept, translated and told again
  planwire mcp                                   the plan tools for any MCP host
  planwire sessions                              the sessions in the journal, at a glance
  planwire show                                  the plans of the latest session of this folder
  planwire watch                                 the same, live
  planwire board                                 every plan and its history in the browser, live
  planwire replay session.jsonl                  the plans of a recorded session, as they ended up
  planwire replay session.jsonl --step           every change on the way there
  planwire translate session.jsonl --to v1       what a client of the plainest dialect would be sent
  planwire check -- my-agent                     whether an agent's plans obey the protocol
  planwire tools --format anthropic              the plan tools for a model
  planwire context stream.json                   what a provider is sent of a chat with hidden messages

Each command has its own help: planwire replay --help
"""


#: The commands in the order in which they are listed, each with the module that has it.
_COMMANDS: Final = {
    "demo": "demo",
    "relay": "relay",
    "setup": "setup",
    "mcp": "mcp",
    "sessions": "sessions",
    "show": "show",
    "log": "log",
    "diff": "diff",
    "watch": "watch",
    "board": "board",
    "edit": "edit",
    "approve": "approve",
    "comment": "comment",
    "select": "select",
    "export": "export",
    "import": "import_",
    "forget": "forget",
    "replay": "replay",
    "translate": "translate",
    "check": "check",
    "tools": "tools",
    "context": "context",
    "compact": "compact",
    "completion": "completion",
}


def build_parser(only: str | None = None) -> argparse.ArgumentParser:
    """The parser of the whole command line, or of one command: a relay must not wait for what others import."""
    from planwire import __version__  # noqa: PLC0415

    parser = argparse.ArgumentParser(
        prog="planwire",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=ListFormatter,
    )
    parser.add_argument("--version", action="version", version=f"planwire {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND ...", required=True)
    for name in [only] if only in _COMMANDS else _COMMANDS:
        import_module(f"planwire.cli.{_COMMANDS[name]}").add_parser(commands)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command. What goes wrong is said in one line on standard error, and the exit code is 2."""
    argv = sys.argv[1:] if argv is None else argv
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that lacks a character must not cost the rest
    arguments = build_parser(argv[0] if argv else None).parse_args(argv)
    try:
        code: int = arguments.run(arguments)
        if sys.stdout is not None:  # it may be closed
            sys.stdout.flush()
    except PlanwireError as error:
        from planwire.readmodel.plain_text import printable  # noqa: PLC0415

        print(f"planwire: {printable(str(error))}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader of our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code
