"""Plans in files: which ones planwire reads, and how.

A model names the file and gets its text back. So the file must be markdown inside the session's folders: an absolute
path, a regular file, no way out through a link, UTF-8, and not too large.
"""

import os
import stat
from collections.abc import Iterable
from pathlib import Path

from planwire.errors import ToolError, reason
from planwire.model.plan import BODY_CAP
from planwire.tools.size_limits import check_size

__all__ = ["read_plan_file"]

#: Flags for the folders on the way to a file. On Linux they need not be readable.
_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_HINT = "give the absolute path of a .md file inside the project, or the text itself as content"


def read_plan_file(path: str, folders: Iterable[str | Path], cap: int = BODY_CAP) -> str:
    """The text of a plan file of at most `cap` bytes. Any reason not to read it raises a `ToolError` with the code
    `unreadable_path` or `too_large`."""
    if "\0" in path or not Path(path).is_absolute():
        raise _refused(f"{path!r} is not an absolute path")
    try:
        target = Path(path).resolve(strict=True)
        roots = [Path(folder).resolve() for folder in folders]
    except (OSError, RuntimeError) as error:
        raise _refused(f"{path} can't be found ({reason(error)})") from None
    if Path(path).suffix.lower() != ".md" or target.suffix.lower() != ".md":
        raise _refused(f"{path} is not a .md file")
    if not any(target.is_relative_to(root) for root in roots):
        raise _refused(f"{path} is outside the folders of this session")
    return _read(path, target, cap)


def _read(path: str, target: Path, cap: int) -> str:
    try:
        descriptor = _opened(target)
    except OSError as error:
        raise _refused(f"{path} can't be opened ({reason(error)})") from None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise _refused(f"{path} is not a regular file")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            data = file.read(cap + 1)
    finally:
        os.close(descriptor)
    check_size(max(len(data), status.st_size), cap, path)
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise _refused(f"{path} is not UTF-8 text") from None


def _opened(target: Path) -> int:
    """Open a file folder by folder and follow no link: a folder may become one after the path was checked."""
    folder = os.open(target.anchor, _FOLDER)
    try:
        for name in target.parts[1:-1]:
            inner = os.open(name, _FOLDER, dir_fd=folder)
            os.close(folder)
            folder = inner
        return os.open(target.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    finally:
        os.close(folder)


def _refused(problem: str) -> ToolError:
    return ToolError("unreadable_path", problem, _HINT)
