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
from planwire.errors import InputError, JournalError, NothingChanges, PlanError
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

DESCRIPTION = "Change the steps of a plan in your editor. What happens meanwhile is kept, and merged."

EXAMPLES = """\
examples:
  planwire edit                             the plan of this folder's latest session, in $VISUAL or $EDITOR
  planwire edit --plan main --note "why"    with a word on it
  planwire edit --take-back                 take your last wish back, or the one with a number (see planwire show)
  EDITOR="code --wait" planwire edit        in an editor of your choice

On a plan that is the agent's own your changes are wishes: the agent is told with its next prompt, and decides.
"""

#: Stands for the newest suggestion.
_LAST: Final = 0

_HELP: Final = """\
# One step a line: [ ] to do, [~] in progress, [x] done, [-] cancelled; (high) or (low) before its text.
# {s1} is the id of a step. A line without one is a new step, a line that you delete is a step that goes.
# Lines that begin with # are not read. Leave it as it is to change nothing.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--note", metavar="TEXT", help="a word on why")
    parser.add_argument(
        "--take-back",
        metavar="WISH",
        nargs="?",
        const=_LAST,
        type=revision,
        help="take a wish back, instead of editing",
    )
    add_target(parser, asks=False)


def run(arguments: argparse.Namespace) -> int:
    with open_journal(arguments.journal, create=False) as journal:
        target = find_target(journal, arguments)
        done = (
            _edit(journal, target, arguments.note)
            if arguments.take_back is None
            else _take_back(journal, target, arguments.take_back)
        )
    print(printable(done))
    return 0


def _take_back(journal: Journal, target: SteeredPlan, suggestion: int) -> str:
    suggestions = {each.seq: each for each in target.record.suggestions}
    chosen = max(suggestions, default=0) if suggestion == _LAST else suggestion
    write(journal, target, lambda state: withdraw(state, target.plan_id, chosen))
    return (
        f"taken back: {suggestion_sentence(target.record, suggestions[chosen])}"
        if chosen in suggestions
        else "taken back"
    )


class _Disputed(PlanError):
    """The person and someone else changed the same steps. `others` are the changes that still fit the plan `now`."""

    def __init__(self, now: PlanRecord, steps: "tuple[str, ...]", others: tuple[StepChange, ...]) -> None:
        super().__init__(f"the plan moved on while you edited it: decide again about {', '.join(steps)}")
        self.now = now
        self.others = others


def _edit(journal: Journal, target: SteeredPlan, note: str | None) -> str:
    """Edit until the changes fit the current plan, and write them. Returns a sentence about it."""
    record, text, problem = target.record, as_text(target.record.state), ""
    with tempfile.TemporaryDirectory(prefix="planwire-") as folder:
        path = Path(folder) / "plan.txt"
        while True:
            text = _edited(path, f"# {problem}\n{_HELP}{text}" if problem else f"{_HELP}{text}")
            written = _without_comments(text)
            try:
                changes = changes_in(text, record.state)
                if not changes and not note:
                    return "nothing was changed"
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
                raise InputError(f"{problem}. Nothing was changed. What you wrote:\n{written}")


def _merged(
    target: SteeredPlan, record: PlanRecord, changes: tuple[StepChange, ...], note: str | None, written: str
) -> Callable[[SessionState], PlanChanged]:
    """Prepare changes that the person made to an older `record` for the plan at the moment of writing."""

    def prepare(state: SessionState) -> PlanChanged:
        now = state.live().get(target.plan_id)
        if now is None:
            raise InputError(
                f"the plan was removed while you edited it: nothing was changed. What you wrote:\n{written}"
            )
        merged = merge(changes, record.state, now.state)
        if merged.disputed:
            raise _Disputed(now, merged.disputed, merged.changes)
        return change(state, target.plan_id, now.revision, merged.changes, note)

    return prepare


def _done(record: PlanRecord, changes: int) -> str:
    count = f"{changes} change{'' if changes == 1 else 's'}"
    return (
        f"{count} made" if record.owner == PLANWIRE else f"{count} wished for: the agent is told with its next prompt"
    )


def _with_changes(state: PlanState, changes: tuple[StepChange, ...]) -> str:
    """The current plan with the person's undisputed changes. A step that they add has no id yet."""
    text = as_text(apply_changes(state, changes))
    known = {f"{{{step.id}}}" for step in state.steps}
    lines = (line.rpartition(" ") for line in text.splitlines())
    return "".join(f"{words} {step}\n" if step in known else f"{words}\n" for words, _, step in lines)


def _edited(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    editor = editor_command()
    try:
        code = subprocess.run([*editor, str(path)], check=False).returncode  # noqa: S603
    except OSError as error:
        raise unstartable(editor[0], error) from None
    if code:
        raise InputError(f"the editor {editor[0]!r} ended with {code}: nothing was changed")
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"what the editor left can't be read ({error}): nothing was changed") from None


def _again(problem: str) -> bool:
    """Ask whether to reopen the editor. Without a terminal, don't."""
    if not sys.stdin.isatty():
        return False
    print(f"planwire: {printable(problem)}", file=sys.stderr)
    return agreed("Edit again?", otherwise=True)


def _without_comments(text: str) -> str:
    return "".join(f"{line}\n" for line in text.splitlines() if not line.startswith("#"))
