"""`planwire edit`: a plan in an editor, merged with what happened meanwhile."""

import argparse
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from planwire.cli.command import new_command
from planwire.cli.journals import journal_to_read
from planwire.cli.steering import Target, add_target, find_target, write
from planwire.errors import InputError, PlanError

if TYPE_CHECKING:
    from planwire.events import StepChange
    from planwire.fold import PlanRecord
    from planwire.journal import Journal
    from planwire.steps import PlanState

__all__ = ["add_parser", "run"]

_EXAMPLES = """\
examples:
  planwire edit                             the plan of this folder's latest session, in $VISUAL or $EDITOR
  planwire edit --plan main --note "why"    with a word on it
  EDITOR="code --wait" planwire edit        in an editor of your choice

On a plan that is the agent's own your changes are wishes: the agent is told with its next prompt, and decides.
"""

_HELP: Final = """\
# One step a line: [ ] to do, [~] in progress, [x] done, [-] cancelled; (high) or (low) before its text.
# {s1} is the id of a step. A line without one is a new step, a line that you delete is a step that goes.
# Lines that begin with # are not read. Leave it as it is to change nothing.
"""


def add_parser(commands: Any) -> None:
    parser = new_command(
        commands,
        "edit",
        run,
        summary="change a plan in your editor",
        description="Change the steps of a plan in your editor. What happens meanwhile is kept, and merged.",
        examples=_EXAMPLES,
    )
    parser.add_argument("--note", metavar="TEXT", help="a word on why")
    add_target(parser, asks=False)


def run(arguments: argparse.Namespace) -> int:
    from planwire.fold import PLANWIRE  # noqa: PLC0415
    from planwire.steer import change  # noqa: PLC0415

    with journal_to_read(arguments) as journal:
        target = find_target(journal, arguments)
        changes, record = _edit(journal, target)
        if not changes and not arguments.note:
            print("nothing was changed")
            return 0
        state = write(
            journal,
            target,
            lambda state: change(state, target.plan_id, record.revision, changes, arguments.note),
        )
    owned = state.plans[target.plan_id].owner == PLANWIRE
    count = f"{len(changes)} change{'' if len(changes) == 1 else 's'}"
    print(f"{count} made" if owned else f"{count} wished for: the agent is told with its next prompt")
    return 0


def _edit(journal: "Journal", target: Target) -> "tuple[tuple[StepChange, ...], PlanRecord]":
    """Edit until the changes fit the plan as it is then: the changes, and the plan that they are for."""
    from planwire.editing import as_text, changes_in, merge  # noqa: PLC0415
    from planwire.journal import load_state  # noqa: PLC0415

    record, text, problem = target.record, as_text(target.record.state), ""
    with _file() as path:
        while True:
            text = _edited(path, f"# {problem}\n{_HELP}{text}" if problem else f"{_HELP}{text}")
            try:
                changes = changes_in(text, record.state)
            except PlanError as error:
                problem, text = str(error), _without_comments(text)
            else:
                now = load_state(journal, target.session).live().get(target.plan_id)
                if now is None:
                    raise InputError(f"the plan was removed while you edited it: nothing was changed. It was:\n{text}")
                merged = merge(changes, record.state, now.state)
                if not merged.disputed:
                    return merged.changes, now
                problem = f"the plan moved on while you edited it: decide again about {', '.join(merged.disputed)}"
                record, text = now, _with_changes(now.state, merged.changes)
            if not _again(problem):
                raise InputError(f"{problem}. Nothing was changed")


def _with_changes(state: "PlanState", changes: "tuple[StepChange, ...]") -> str:
    """The plan as it is now, with those of the person's changes made that nobody disputes."""
    from planwire.changes import apply_changes  # noqa: PLC0415
    from planwire.editing import as_text  # noqa: PLC0415

    text = as_text(apply_changes(state, changes))
    known = {f"{{{step.id}}}" for step in state.steps}
    lines = (line.rpartition(" ") for line in text.splitlines())
    return "".join(f"{words} {step}\n" if step in known else f"{words}\n" for words, _, step in lines)


@contextmanager
def _file() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="planwire-") as folder:
        path = Path(folder) / "plan.txt"
        path.touch(0o600)
        yield path


def _edited(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    try:
        code = subprocess.run([*shlex.split(editor), str(path)], check=False).returncode  # noqa: S603
    except (OSError, ValueError) as error:
        raise InputError(f"the editor {editor!r} could not be started ({error}): set $VISUAL or $EDITOR") from None
    if code:
        raise InputError(f"the editor {editor!r} ended with {code}: nothing was changed")
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"what the editor left can't be read ({error}): nothing was changed") from None


def _again(problem: str) -> bool:
    """Whether to open the editor once more. Where nobody can be asked, once is all there is."""
    if not sys.stdin.isatty():
        return False
    print(f"planwire: {problem}", file=sys.stderr)
    return input("Edit again? [Y/n] ").strip().lower() in ("", "y", "yes")


def _without_comments(text: str) -> str:
    return "".join(f"{line}\n" for line in text.splitlines() if not line.startswith("#"))
