"""`planwire edit`: a plan in an editor, merged with the changes of others."""

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from planwire.cli.argument_types import revision
from planwire.cli.editor_command import editor_command, unstartable
from planwire.cli.input_output import agreed
from planwire.cli.steered_plan import SteeredPlan, add_target, find_target, write
from planwire.errors import JournalError, NothingChanges, PlanError, Refused
from planwire.journal import Journal, open_journal
from planwire.model.changes import apply_changes
from planwire.model.events import PlanChanged, StepChange
from planwire.model.fold import PLANWIRE, PlanRecord, SessionState
from planwire.model.steps import PlanState
from planwire.readmodel.annotations import suggestion_sentence
from planwire.readmodel.plain_text import printable
from planwire.steering.commands import change, withdraw
from planwire.steering.plan_text import as_text, changes_in, merge

__all__ = ["DESCRIPTION", "EXAMPLES", "add_arguments", "run"]

DESCRIPTION = "Change the steps of a plan in your editor. Changes that others make meanwhile are merged."

EXAMPLES = """\
examples:
  planwire edit                             the plan of this folder's latest session, in $VISUAL or $EDITOR
  planwire edit --plan main --note "why"    with a note for the agent
  planwire edit --withdraw                  withdraw your last suggestion, or the one with a number (see planwire show)
  planwire edit --editor "code --wait"      in another editor, which also works without a terminal

On an agent's own plan your changes are suggestions: the agent sees them with its next prompt, and decides.
"""

#: Stands for the newest suggestion.
_LAST: Final = 0

_HELP: Final = """\
# One step per line: [ ] to do, [~] in progress, [x] done, [-] cancelled; (high) or (low) before its text.
# {s1} is a step's id. A line without an id adds a step; deleting a line removes its step.
# Lines that begin with # are ignored. Close the file unchanged to change nothing.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--note", metavar="TEXT", help="a note for the agent")
    parser.add_argument(
        "--withdraw",
        metavar="NUMBER",
        nargs="?",
        const=_LAST,
        type=revision,
        help="withdraw a suggestion, instead of editing",
    )
    parser.add_argument("--editor", metavar="COMMAND", help="the editor (default: $VISUAL, $EDITOR or vi)")
    add_target(parser, asks=False)


def run(arguments: argparse.Namespace) -> int:
    if arguments.withdraw is None and not arguments.editor and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Refused("there is no terminal to edit on: run it on one, or name an editor with --editor COMMAND")
    with open_journal(arguments.journal, create=False) as journal:
        target = find_target(journal, arguments)
        done = (
            _edit(journal, target, arguments.note, arguments.editor)
            if arguments.withdraw is None
            else _withdraw(journal, target, arguments.withdraw)
        )
    print(printable(done))
    return 0


def _withdraw(journal: Journal, target: SteeredPlan, suggestion: int) -> str:
    suggestions = {each.seq: each for each in target.record.suggestions}
    chosen = max(suggestions, default=0) if suggestion == _LAST else suggestion
    write(journal, target, lambda state: withdraw(state, target.plan_id, chosen))
    return (
        f"withdrawn: {suggestion_sentence(target.record, suggestions[chosen])}"
        if chosen in suggestions
        else "withdrawn"
    )


class _Disputed(PlanError):
    """The person and someone else changed the same steps. `others` are the changes that still fit the plan `now`."""

    def __init__(self, now: PlanRecord, steps: "tuple[str, ...]", others: tuple[StepChange, ...]) -> None:
        super().__init__(f"the plan changed while you were editing: decide again about {', '.join(steps)}")
        self.now = now
        self.others = others


def _edit(journal: Journal, target: SteeredPlan, note: str | None, editor: str | None) -> str:
    """Edit until the changes fit the current plan, and write them. Returns a sentence about it."""
    record, text, problem = target.record, as_text(target.record.state), ""
    with tempfile.TemporaryDirectory(prefix="planwire-") as folder:
        path = Path(folder) / "plan.txt"
        while True:
            text = _edited(path, f"# {problem}\n{_HELP}{text}" if problem else f"{_HELP}{text}", editor_command(editor))
            written = _without_comments(text)
            try:
                changes = changes_in(text, record.state)
                if not changes and not note:
                    return "nothing to save"
                state = write(journal, target, _merged(target, record, changes, note, written))
            except _Disputed as disputed:
                problem, record, text = str(disputed), disputed.now, _with_changes(disputed.now.state, disputed.others)
            except NothingChanges:
                raise
            except (PlanError, JournalError) as error:
                problem, text = str(error), written
            else:
                return _done(state.plans[target.plan_id], len(changes))
            if not _again(problem):
                raise Refused(f"{problem}. Nothing was changed. What you wrote:\n{written}")


def _merged(
    target: SteeredPlan, record: PlanRecord, changes: tuple[StepChange, ...], note: str | None, written: str
) -> Callable[[SessionState], PlanChanged]:
    """Prepare changes that the person made to an older `record` for the plan at the moment of writing."""

    def prepare(state: SessionState) -> PlanChanged:
        now = state.live().get(target.plan_id)
        if now is None:
            raise Refused(f"the plan was removed while you edited it: nothing was changed. What you wrote:\n{written}")
        merged = merge(changes, record.state, now.state)
        if merged.disputed:
            raise _Disputed(now, merged.disputed, merged.changes)
        return change(state, target.plan_id, now.revision, merged.changes, note)

    return prepare


def _done(record: PlanRecord, changes: int) -> str:
    count = f"{changes} change{'' if changes == 1 else 's'}"
    if record.owner == PLANWIRE:
        return f"{count} made"
    return f"{count} suggested: the agent will see this with its next prompt"


def _with_changes(state: PlanState, changes: tuple[StepChange, ...]) -> str:
    """The current plan with the person's undisputed changes. A step that they add has no id yet."""
    text = as_text(apply_changes(state, changes))
    known = {f"{{{step.id}}}" for step in state.steps}
    lines = (line.rpartition(" ") for line in text.splitlines())
    return "".join(f"{words} {step}\n" if step in known else f"{words}\n" for words, _, step in lines)


def _edited(path: Path, text: str, editor: list[str]) -> str:
    path.write_text(text, encoding="utf-8")
    try:
        code = subprocess.run([*editor, str(path)], check=False).returncode  # noqa: S603
    except OSError as error:
        raise unstartable(editor[0], error) from None
    if code:
        raise Refused(f"the editor {editor[0]!r} ended with {code}: nothing was changed")
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Refused(f"the edited text can't be read ({error}): nothing was changed") from None


def _again(problem: str) -> bool:
    """Ask whether to reopen the editor. Without a terminal, don't."""
    if not sys.stdin.isatty():
        return False
    print(f"planwire: {printable(problem)}", file=sys.stderr)
    return agreed("Edit again?", otherwise=True)


def _without_comments(text: str) -> str:
    return "".join(f"{line}\n" for line in text.splitlines() if not line.startswith("#"))
