"""The presentation of a command: what it does, its options, and examples to learn from."""

import argparse

__all__ = ["Formatter", "ListFormatter", "seconds"]


class Formatter(argparse.RawDescriptionHelpFormatter):
    """Keeps the line breaks of examples, and gives long names room."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=32)


class ListFormatter(Formatter):
    """The same for a list of commands: argparse forgets their indentation."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog)
        self._action_max_length = 14


def seconds(text: str) -> float:
    """A number of seconds, as an argument."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a number of seconds, found {text!r}")
    return number
