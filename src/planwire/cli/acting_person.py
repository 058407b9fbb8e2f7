"""The person behind an act from the command line: by which name it is recorded, and whether it may be at all.

An agent with a shell can run every command, and its acts must not be recorded as the person's own. So an act needs a
name and a yes (`--as NAME --yes`) if it comes from below an agent that planwire knows, or from where nobody can be
asked: without a terminal, that is, if standard input is none, or neither of the outputs is. This is the one gate: every
command that steers passes it before it asks or reads anything, and so do the faces that the command line starts.
"""

import argparse
import sys
from typing import Final, TextIO

from planwire.errors import InputError
from planwire.readmodel.authors import person_name
from planwire.session.known_agents import is_below_agent
from planwire.session.steering import USER

__all__ = ["acting_person", "add_person_options", "steering_person"]

_BELOW: Final = "an agent that planwire knows runs this"
_ALONE: Final = "there is no terminal here to ask on"


def add_person_options(parser: argparse.ArgumentParser, *, yes: str) -> None:
    """The options that name a person, for a command that writes what people do. `yes` is the help of `--yes`."""
    parser.add_argument(
        "--as", metavar="NAME", dest="as_name", help="record it as NAME's; with --yes in scripts and below agents"
    )
    parser.add_argument("--yes", action="store_true", help=yes)


def acting_person(arguments: argparse.Namespace) -> str:
    """The author of an act. Raises `InputError` if it needs a name and a yes."""
    name = _given(arguments)
    why = _BELOW if is_below_agent() else None if _has_terminal() else _ALONE
    if why is not None and not (name and arguments.yes):
        raise InputError(
            f"{why}: pass --as NAME and --yes, and it is recorded as NAME's, not as the user's. Nothing was changed"
        )
    return name or USER


def steering_person(arguments: argparse.Namespace) -> str | None:
    """The author of what a person does on a board or a screen that runs from now on; None if it may only show.

    People come to these by themselves, so a terminal tells nothing. An agent that starts one needs a name and a yes.
    """
    name = _given(arguments)
    return (name if name and arguments.yes else None) if is_below_agent() else name or USER


def _given(arguments: argparse.Namespace) -> str | None:
    return None if arguments.as_name is None else person_name(arguments.as_name)


def _has_terminal() -> bool:
    return _is_terminal(sys.stdin) and (_is_terminal(sys.stdout) or _is_terminal(sys.stderr))


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and not stream.closed and stream.isatty()
