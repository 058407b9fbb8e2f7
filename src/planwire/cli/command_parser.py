"""The parser of one command. A mistake in its arguments is an error like any other: in words, or as JSON."""

import argparse
from typing import NoReturn

from planwire.errors import InputError


class Misuse(InputError):
    """Arguments that a command doesn't take. `usage` shows the arguments that it does take."""

    def __init__(self, message: str, usage: str) -> None:
        super().__init__(message)
        self.usage = usage


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Keeps the line breaks of examples, and gives long names room."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=32)


class CommandParser(argparse.ArgumentParser):
    """Raises `Misuse` where argparse would print and exit."""

    def error(self, message: str) -> NoReturn:
        raise Misuse(message, self.format_usage())
