"""Changes a person's settings file and undoes that: the change is shown first, the file copied, and written whole.

Beside the file there are two copies: the file without planwire, and the file as planwire wrote it. If the file is still
what planwire wrote, undoing restores the first copy byte for byte. If the person has edited it, the difference between
the two copies says what was planwire's, and only that is removed.
"""

import difflib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from planwire.cli.agent_settings import Edit
from planwire.cli.editors import SettingsFile
from planwire.cli.file_swap import read_bytes, refuse_if_changed, swap_bytes
from planwire.cli.input_output import agreed, write_text
from planwire.cli.jsonc import BadSettings
from planwire.errors import InputError, Refused
from planwire.readmodel.plain_text import printable

_BEFORE: Final = ".before-planwire"
_AFTER: Final = ".after-planwire"


class FileChange(NamedTuple):
    """A planned change to a file and to the two copies beside it. None stands for no file."""

    path: Path
    now: bytes | None
    new: bytes | None
    without_us: bytes | None
    done: tuple[str, ...]
    left: tuple[str, ...]
    is_undo: bool = False

    def show(self) -> None:
        """Print the file's name, what is done to it, and only the lines that change, since others may be secret."""
        lines = [
            f"{self.path}{'' if self.now is not None else ' (new)'}",
            *(f"  {each}" for each in self.done + self.left),
        ]
        before, after = (_text(self.path, each).splitlines() for each in (self.now, self.new))
        changed = list(difflib.unified_diff(before, after, lineterm="", n=0))[2:]
        lines += [f"    {line}" for line in changed if not line.startswith("@@")]
        write_text("".join(f"{printable(line)}\n" for line in lines), now=True)

    def agree(self, *, yes: bool) -> None:
        """Ask the person, unless they passed `--yes`."""
        if yes:
            return
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            raise InputError(f"this changes {self.path}: pass --yes to confirm. Nothing was changed")
        if not agreed("Change it back?" if self.is_undo else "Change it?", otherwise=True):
            raise Refused("nothing was changed")

    def write(self) -> None:
        """Write the copies and then the file: copies alone are harmless if the file can't be written."""
        before, after = _copies(self.path)
        refuse_if_changed(self.path, self.now)
        if not self.is_undo:
            swap_bytes(before, read_bytes(before), self.without_us, like=self.path)
            swap_bytes(after, read_bytes(after), self.new, like=self.path)
        swap_bytes(self.path, self.now, self.new, like=before)
        if self.is_undo:
            swap_bytes(before, read_bytes(before), None)
            swap_bytes(after, read_bytes(after), None)


def plan_edit(path: Path, file: SettingsFile, edit: Callable[[str], Edit]) -> FileChange:
    """The change that an edit makes to the file."""
    now = read_bytes(path)
    text = _text(path, now)
    with _errors_about(path):
        new, done, left = edit(text)
    before, after = (read_bytes(copy) for copy in _copies(path))
    without_us = now if after is None else _taken_back(path, file, now, before, after).new
    return FileChange(path, now, new.encode() if done else now, without_us, done, left)


def plan_undo(path: Path, file: SettingsFile) -> FileChange:
    """The change that removes everything planwire wrote into the file."""
    before, after = (read_bytes(copy) for copy in _copies(path))
    if after is None:
        raise InputError(f"planwire wrote nothing into {path}: there is no {_copies(path)[1].name} beside it")
    return _taken_back(path, file, read_bytes(path), before, after)


def _taken_back(path: Path, file: SettingsFile, now: bytes | None, before: bytes | None, after: bytes) -> FileChange:
    if now == after:
        words = "restore it as it was" if before is not None else "remove it: there was none before"
        return FileChange(path, now, before, before, (words,), (), is_undo=True)
    if now is None:
        return FileChange(path, now, now, now, (), ("it is gone, and what planwire wrote with it",), is_undo=True)
    old = None if before is None else _text(path, before)
    texts = _text(path, now), old, _text(path, after)
    with _errors_about(path):
        text, done, left = file.take_back(*texts)
    new = text.encode() if done else now
    return FileChange(path, now, new, new, done, left, is_undo=True)


def _copies(path: Path) -> tuple[Path, Path]:
    return path.with_name(path.name + _BEFORE), path.with_name(path.name + _AFTER)


def _text(path: Path, content: bytes | None) -> str:
    try:
        return (content or b"").decode()
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 (byte {error.start}). It is left alone") from None


@contextmanager
def _errors_about(path: Path) -> Iterator[None]:
    """Add the file to an edit's errors."""
    try:
        yield
    except BadSettings as error:
        raise InputError(f"{path} does not parse: {error}. Nothing was changed") from None
    except InputError as error:
        raise InputError(f"{path}: {error}. Nothing was changed") from None
