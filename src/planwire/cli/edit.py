"""`planwire edit`: a plan in an editor, until the changes fit it."""

import argparse
import sys

from planwire.cli.error_words import error_words
from planwire.cli.input_output import agreed
from planwire.cli.steered_plan import SteeredPlan, write
from planwire.errors import JournalError, NothingChanges, PlanError, Refused
from planwire.journal import Journal
from planwire.readmodel.plain_text import printable
from planwire.session.editor import edited_text, editor_command, text_after_conflict, text_to_edit
from planwire.session.moved_on import MovedOn
from planwire.session.steering import Steered
from planwire.steering.acts import check_early
from planwire.steering.wanted import Wanted


def edit(journal: Journal, target: SteeredPlan, arguments: argparse.Namespace, by: str) -> Steered:
    """Open a plan in the editor and write the person's changes. After a conflict, the editor shows the plan as it is
    now with the changes that still fit."""
    if not arguments.editor and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Refused("no terminal for an editor: run this on one, or pass --editor with a command that opens a window")
    if target.card.record is not None:
        check_early(target.card.record, Wanted("suggest"))
    record = target.seen.record
    text, problem, seen = text_to_edit(record) if record else "", "", target.revision
    editor = editor_command(arguments.editor)
    while True:
        written = edited_text(text, editor, problem)
        try:
            return write(journal, target, Wanted("suggest", seen=seen, text=arguments.note, plan_text=written), by)
        except NothingChanges:
            raise
        except MovedOn as moved:
            text, problem, seen = text_after_conflict(moved, written), str(moved), moved.revision
        except (PlanError, JournalError) as error:
            text, problem = written, error_words(error)
        if not _again(problem):
            raise Refused(f"{problem.rstrip('.')}. Nothing was changed. What you wrote:\n{written.rstrip()}")


def _again(problem: str) -> bool:
    """Ask whether to reopen the editor. Without a terminal, don't."""
    if not sys.stdin.isatty():
        return False
    print(f"planwire: {printable(problem)}", file=sys.stderr)
    return agreed("Edit again?", otherwise=True)
