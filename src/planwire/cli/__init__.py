"""The command line: one file a command. Each has `add_parser`, which teaches it, and `run`, which does it."""

import argparse
import os
import sys
from collections.abc import Sequence

from planwire.cli.command import Formatter
from planwire.errors import PlanwireError

__all__ = ["build_parser", "main"]

_DESCRIPTION = "The plan layer for AI agents: see, follow and translate the plans that agents send over ACP."

_EXAMPLES = """\
examples:
  planwire demo                                  watch a plan being worked off
  planwire replay session.jsonl                  the plans of a recorded session, as they ended up
  planwire replay session.jsonl --step           every change on the way there
  planwire translate session.jsonl --to v1       what a client of the plainest dialect would be sent
  planwire tools --format anthropic              the plan tools for a model

Each command has its own help: planwire replay --help
"""


def build_parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    from planwire import __version__  # noqa: PLC0415
    from planwire.cli import demo, replay, tools, translate  # noqa: PLC0415

    parser = argparse.ArgumentParser(
        prog="planwire",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=Formatter,
    )
    parser.add_argument("--version", action="version", version=f"planwire {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND ...", required=True)
    for command in (demo, replay, translate, tools):
        command.add_parser(commands)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command. What goes wrong is said in one line on standard error, and the exit code is 2."""
    arguments = build_parser().parse_args(argv)
    try:
        code: int = arguments.run(arguments)
        sys.stdout.flush()
    except PlanwireError as error:
        print(f"planwire: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader of our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code
