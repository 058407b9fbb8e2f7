"""The author of an act from the command line: the name it is recorded under, and whether it is allowed at all.

An agent with a shell can run every command, and its acts must not be recorded as the person's own. So an act needs a
name and a yes (`--as NAME --yes`) if it comes from below an agent that planwire knows, or if no person can be asked:
standard input is not a terminal, or neither output is. This is the only gate: every command that steers passes it
before it asks or reads anything, and so do the faces that the command line starts.

A person without a name is `user`, whom faces call *you*. In a journal on a server there may be several people, so there
they go by PLANWIRE_NAME or the name of their account. The gate does not accept that name, because an agent has it, too.
"""

import argparse
import os
import sys
from contextlib import AbstractContextManager, nullcontext, suppress
from getpass import getuser
from typing import Final, TextIO

from planwire.errors import InputError, PlanwireError
from planwire.journal.engines import is_remote
from planwire.readmodel.audience import shown_to_named
from planwire.readmodel.authors import authored, person_name
from planwire.session.known_agents import own_way, way_below
from planwire.session.steering import USER

#: The environment variable with the person's name.
NAME_VARIABLE: Final = "PLANWIRE_NAME"
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
    name, way = _given(arguments), own_way(at_terminal=has_terminal())
    if way and not (name and arguments.yes):
        why = _BELOW if way_below() else _ALONE
        raise InputError(f"{why}: pass --as NAME and --yes, and it is recorded as NAME's, {way}. Nothing was changed")
    return authored(name or _own_name(arguments), way)


def steering_person(arguments: argparse.Namespace) -> str | None:
    """The author of what a person does on a board or screen that starts now; None if it may only show.

    A person may come to it later, so a terminal proves nothing. An agent that starts one needs a name and a yes.
    """
    name = _given(arguments)
    if way := way_below():
        return authored(name, way) if name and arguments.yes else None
    return name or _own_name(arguments)


def for_its_reader(arguments: argparse.Namespace) -> AbstractContextManager[None]:
    """The context in which a command shows things. In a journal on a server its reader has a name, so words without a
    name are another person's."""
    with suppress(PlanwireError):  # an act reports a name that can't be used
        if is_remote(arguments.journal) and _own_name(arguments) != USER:
            return shown_to_named()
    return nullcontext()


def _given(arguments: argparse.Namespace) -> str | None:
    return None if arguments.as_name is None else person_name(arguments.as_name)


def _own_name(arguments: argparse.Namespace) -> str:
    """The name of a person who gave none."""
    if given := os.environ.get(NAME_VARIABLE):
        try:
            return person_name(given)
        except InputError as error:
            raise InputError(f"{NAME_VARIABLE} can't be your name: {error}") from None
    if is_remote(vars(arguments).get("journal")):
        with suppress(InputError, OSError, KeyError):  # an account may have a name that can't be used, or none
            return person_name(getuser())
    return USER


def has_terminal() -> bool:
    """Whether a person can be asked, and sees what is printed."""
    return _is_terminal(sys.stdin) and (_is_terminal(sys.stdout) or _is_terminal(sys.stderr))


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and not stream.closed and stream.isatty()
