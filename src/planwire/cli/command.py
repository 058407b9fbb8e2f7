"""How every command presents itself: what it does, its options, and examples to learn from."""

import argparse
from collections.abc import Callable
from typing import Any

__all__ = ["Formatter", "ListFormatter", "new_command", "seconds"]


class Formatter(argparse.RawDescriptionHelpFormatter):
    """Keeps examples as they are written, and gives long names room."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=32)


class ListFormatter(Formatter):
    """The same for a list of commands: argparse forgets that they are indented."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog)
        self._action_max_length = 14


def new_command(
    commands: Any,
    name: str,
    run: Callable[[argparse.Namespace], int],
    *,
    summary: str,
    description: str,
    examples: str,
) -> argparse.ArgumentParser:
    """The parser of a command, to be given its arguments. `run` does the work and returns the exit code."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name, help=summary, description=description, epilog=examples, formatter_class=Formatter
    )
    parser.set_defaults(run=run)
    return parser


def seconds(text: str) -> float:
    """A number of seconds, as an argument."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a number of seconds, found {text!r}")
    return number
