"""`planwire approve --edit`: edit and approve a plan, and print what was written if it can't be sent."""

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from msgspec.structs import replace

from planwire.cli.error_words import error_words
from planwire.cli.input_output import opened
from planwire.cli.steered_plan import SteeredPlan, conflict_error
from planwire.errors import InputError, JournalError, PlanError, Refused
from planwire.readmodel.as_markdown import MARK, plan_texts
from planwire.readmodel.plain_text import printable
from planwire.session.editor import edited_prose, editor_command
from planwire.session.moved_on import MovedOn
from planwire.steering.acts import check_early
from planwire.steering.wanted import Wanted

#: The most bytes to read from a file. The limit of a plan is checked elsewhere.
_MOST: Final = 16 * 1024 * 1024


def with_edit(wanted: Wanted, target: SteeredPlan, arguments: argparse.Namespace) -> Wanted:
    """An act with the edited text, from a file or the person's editor, if the arguments ask for that."""
    if not (arguments.edit or arguments.text_file):
        return wanted
    if arguments.changes:
        raise InputError("an edited plan can only be approved: leave --changes out, or say in words what to change")
    if target.card.record is not None:
        check_early(target.card.record, replace(wanted, edited=""))
    return replace(
        wanted, edited=_from_file(arguments.text_file) if arguments.text_file else _edited(target, arguments)
    )


@contextmanager
def kept_if_refused(wanted: Wanted, arguments: argparse.Namespace) -> Iterator[None]:
    """Print what a person wrote in their editor if it can't be sent: there is no other copy."""
    try:
        yield
    except (PlanError, JournalError, Refused) as error:
        if wanted.edited is None or not arguments.edit:
            raise
        problem = str(conflict_error(error)) if isinstance(error, MovedOn) else error_words(error)
        raise Refused(f"{problem.rstrip('.')}. What you wrote:\n{printable(wanted.edited.rstrip())}") from None


def _edited(target: SteeredPlan, arguments: argparse.Namespace) -> str:
    if not arguments.editor and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Refused("no terminal for an editor: run this on one, or pass --text-file or --editor")
    return edited_prose(target.seen.text, editor_command(arguments.editor))


def _from_file(name: str) -> str:
    with opened(name) as file:
        data = file.read(_MOST)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise InputError(f"{name} is not UTF-8: {error}") from None
    texts = plan_texts(text)
    if len(texts) != 1 and MARK in text:
        raise InputError(f"{name} has {len(texts)} plans: leave one of them in it")
    return texts[0] if MARK in text else text
