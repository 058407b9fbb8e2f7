"""Plans in files: which ones planwire reads, and how.

A model names the file and gets its text back. So the file must be markdown inside the session's folders: a regular
file, no way out through a link, UTF-8, and not too large. A relative path is relative to one of these folders. A plan
that an agent reports as a `file:` address is read by the same rule.
"""

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote, urlsplit

from planwire.errors import ToolError, reason
from planwire.model.file_texts import ReadFile
from planwire.model.plan import BODY_CAP
from planwire.tools.size_limits import check_size

#: Flags for the folders on the way to a file. On Linux they need not be readable.
_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_HINT = "give the path of a .md file inside the project, or the text itself as content"


def path_of(uri: str) -> str:
    """The path that a `file:` URI names on this machine. Raises `ValueError` if it names none, saying why."""
    parts = urlsplit(uri)
    if parts.scheme.lower() != "file":
        raise ValueError("it is not a file: address")
    if parts.netloc.lower() not in ("", "localhost"):
        raise ValueError("it is on another machine")
    if parts.query or parts.fragment:
        raise ValueError("a file: address with ? or # names no file")
    path = unquote(parts.path, errors="strict")
    if not path.startswith("/") or "\0" in path:
        raise ValueError("it names no absolute path")
    return path


def plan_file_reader(folders: Iterable[str | Path]) -> ReadFile:
    """A function that returns the text of a plan file in these folders by its URI, or None if planwire does not read
    it."""

    def read(uri: str) -> str | None:
        try:
            return read_plan_file(path_of(uri), folders)
        except (ValueError, ToolError):
            return None

    return read


def plan_file_path(path: str, folders: Iterable[str | Path]) -> Path:
    """The absolute path that an author means by a path or a `file:` address. A relative path is relative to one of the
    folders. Raises a `ToolError` for any other address."""
    try:
        if (urlsplit(path).scheme and "://" in path) or path.startswith("file:"):
            return Path(path_of(path))
        return _in_folders(path, [Path(folder).absolute() for folder in folders])
    except ValueError as error:
        raise _refused(f"{path} can't be a plan file: {error}") from None


def read_plan_file(path: str, folders: Iterable[str | Path], cap: int = BODY_CAP) -> str:
    """The text of a plan file of at most `cap` bytes. Raises a `ToolError` with the code `unreadable_path` or
    `too_large` if it can't be read."""
    if "\0" in path:
        raise _refused(f"{path!r} is not a path")
    try:
        roots = [root for folder in folders if not holds_more(root := Path(os.path.realpath(folder)))]
        target = Path(os.path.realpath(_in_folders(path, roots)))
    except (OSError, ValueError):
        target, roots = Path(path), []
    if not any(target.is_relative_to(root) for root in roots):  # said alike, whether it exists or not
        raise _refused(f"{path} is outside the folders that were named on this machine")
    if Path(path).suffix.lower() != ".md" or target.suffix.lower() != ".md":
        raise _refused(f"{path} is not a .md file")
    return _read(path, target, cap)


def holds_more(root: Path) -> bool:
    """Whether a folder holds more than plans: `/`, a home, or a folder of homes. It was hardly meant."""
    return any(root in (home, *home.parents) for home in map(Path, map(os.path.realpath, _homes())))


def _homes() -> Iterator[str]:
    """The user's home as the environment has it, which anybody may have changed, and as the account has it."""
    yield os.path.expanduser("~")  # noqa: PTH111  (it may be unknown)
    with suppress(ImportError, KeyError):
        import pwd  # noqa: PLC0415  (Windows has none)

        yield pwd.getpwuid(os.getuid()).pw_dir


def _in_folders(path: str, roots: Iterable[Path]) -> Path:
    """The file that a path names; for a relative path, in the first folder that has it."""
    if Path(path).is_absolute():
        return Path(path)
    places = [root / path for root in roots]
    if not places:
        raise _refused(f"{path!r} is not an absolute path, and this session has no folder to look in")
    return next((each for each in places if each.exists()), places[0])


def _read(path: str, target: Path, cap: int) -> str:
    try:
        descriptor = _opened(target)
    except FileNotFoundError as error:
        raise _refused(f"{path} can't be found ({reason(error)})") from None
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
    """Open a file folder by folder without following links: a folder may become a link after the path was checked."""
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
