"""A plan as a text in the person's own editor: which program to start, the text to edit, and what came back."""

import os
import shlex
import subprocess
import tempfile
from pathlib import Path
from typing import Final

from planwire.errors import InputError, Refused, reason
from planwire.model.changes import apply_changes
from planwire.model.records import PlanRecord
from planwire.session.moved_on import MovedOn
from planwire.steering.plan_text import as_text

_HELP: Final = """\
# One step per line: [ ] to do, [~] in progress, [x] done, [-] cancelled; (high) or (low) before its text.
# {s1} is a step's id. A line without an id adds a step; deleting a line removes its step.
# Lines that begin with # are ignored. Close the file unchanged to change nothing.
"""


def editor_command(given: str | None = None) -> list[str]:
    """The command of the `given` editor, or else $VISUAL, $EDITOR or vi, to which the path of a file is added."""
    named = (given, os.environ.get("VISUAL"), os.environ.get("EDITOR"))
    editor = next((words for name in named if name and (words := name.strip())), "vi")
    try:
        return shlex.split(editor)
    except ValueError as error:
        raise _unstartable(editor, error) from None


def edit_file(path: str, editor: list[str]) -> None:
    """Open a file in the editor. Raises `InputError` if the editor can't be started, and `Refused` if it fails."""
    try:
        code = subprocess.run([*editor, path], check=False).returncode  # noqa: S603
    except OSError as error:
        raise _unstartable(editor[0], error) from None
    if code:
        raise Refused(f"the editor {editor[0]!r} ended with {code}: nothing was changed")


def edited_text(text: str, editor: list[str], problem: str = "") -> str:
    """The text as the person leaves it, with comments on top that explain it and name the last `problem`."""
    with tempfile.TemporaryDirectory(prefix="planwire-") as folder:
        path = Path(folder) / "plan.txt"
        about = "".join(f"# {line}\n" for line in problem.splitlines())
        path.write_text(f"{about}{_HELP}{text}", encoding="utf-8")
        edit_file(str(path), editor)
        return without_comments(_read_back(path))


def edited_prose(text: str, editor: list[str]) -> str:
    """A text as the person leaves it. No line of it is a comment."""
    with tempfile.TemporaryDirectory(prefix="planwire-") as folder:
        path = Path(folder) / "plan.md"
        path.write_text(text if text.endswith("\n") else f"{text}\n", encoding="utf-8")
        edit_file(str(path), editor)
        return _read_back(path)


def text_to_edit(record: PlanRecord) -> str:
    """The steps of a plan, one per line. Raises `PlanError` if it has none."""
    return as_text(record.state)


def text_after_conflict(moved: MovedOn, written: str) -> str:
    """The plan as it is now with those of the person's changes that still fit. The rest are comments below it, so that
    no typed text gets lost. A step that they added has no id yet."""
    if moved.now is None:
        return written
    known = {f"{{{step.id}}}" for step in moved.now.state.steps}
    state = apply_changes(moved.now.state, moved.others)
    pieces = (line.rpartition(" ") for line in (as_text(state).splitlines() if state.steps else ()))
    lines = [f"{words} {step}" if step in known else words for words, _, step in pieces]
    unused = [line for line in written.splitlines() if line.strip() and line not in lines]
    note = ["# You wrote:", *(f"# {line}" for line in unused)] if unused else []
    return "".join(f"{line}\n" for line in (*lines, *note))


def without_comments(text: str) -> str:
    return "".join(f"{line}\n" for line in text.splitlines() if not line.startswith("#"))


def _read_back(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Refused(f"the edited text can't be read ({error}): nothing was changed") from None


def _unstartable(editor: str, why: Exception) -> InputError:
    return InputError(f"the editor {editor!r} could not be started ({reason(why)}): set $VISUAL or $EDITOR")
