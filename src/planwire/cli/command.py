"""The presentation of a command: what it does, its options, and examples to learn from."""

import argparse
from collections.abc import Callable

__all__ = ["Formatter", "ListFormatter", "describe", "seconds"]


class Formatter(argparse.RawDescriptionHelpFormatter):
    """Keeps the line breaks of examples, and gives long names room."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=32)


class ListFormatter(Formatter):
    """The same for a list of commands: argparse forgets their indentation."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog)
        self._action_max_length = 14


def describe(
    parser: argparse.ArgumentParser, run: Callable[[argparse.Namespace], int], description: str, examples: str
) -> None:
    """Say what a command does. `run` does the work and returns the exit code."""
    parser.description = description
    parser.epilog = examples
    parser.set_defaults(run=run)


def seconds(text: str) -> float:
    """A number of seconds, as an argument."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a number of seconds, found {text!r}")
    return number
