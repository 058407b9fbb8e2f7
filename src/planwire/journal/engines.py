"""Which journal a URL names, and which one is meant if none is named. Engines are imported when they are opened."""

import os
import re
import sys
from typing import TYPE_CHECKING, Final

from planwire.errors import NoJournal, UnknownJournal
from planwire.journal.protocol import Journal

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["VARIABLE", "default_path", "open_journal", "shared_url"]

#: The environment variable that names the journal.
VARIABLE: Final = "PLANWIRE_JOURNAL"
#: A single letter before a colon is a drive.
_URL: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(.*)", re.DOTALL)
_KNOWN: Final = "known are a path, sqlite:PATH, sqlite:///ABSOLUTE/PATH and memory:"


def open_journal(url: str | os.PathLike[str] | None = None, *, create: bool = True) -> Journal:
    """Open the journal that a path or a URL names, and create it if there is none (or raise `NoJournal`).

    Without one it is what the environment variable PLANWIRE_JOURNAL names, or else a file in the user's data folder.
    """
    if url is None:
        url = os.environ.get(VARIABLE) or default_path()
    if not isinstance(url, str):
        return _in_file(os.fspath(url), create)
    found = _URL.fullmatch(url)
    scheme, rest = (found[1].lower(), found[2]) if found else ("sqlite", url)
    if scheme == "memory" and not rest:
        from planwire.journal.memory import MemoryJournal  # noqa: PLC0415

        return MemoryJournal()
    if scheme != "sqlite":
        raise UnknownJournal(f"no journal has the URL {url!r}: {_KNOWN}. A file with a colon in its name is ./NAME")
    path = rest.removeprefix("//") if rest.startswith("///") else rest
    if not path or path.startswith("//") or "\0" in path:
        raise UnknownJournal(f"the journal {url!r} names no file: {_KNOWN}")
    return _in_file(path, create)


def shared_url(url: str | None = None) -> str | None:
    """The URL by which processes in other folders find the same journal; None if it is in memory, where none does."""
    from pathlib import Path  # noqa: PLC0415

    url = url or os.environ.get(VARIABLE) or str(default_path())
    found = _URL.fullmatch(url)
    scheme, rest = (found[1].lower(), found[2]) if found else ("sqlite", url)
    if scheme == "memory":
        return None
    if scheme != "sqlite":
        return url
    path = rest.removeprefix("//") if rest.startswith("///") else rest
    return f"sqlite:{Path(path).expanduser().absolute()}"


def default_path() -> "Path":
    """The journal in the folder where this system keeps the data of a user's programs."""
    from pathlib import Path  # noqa: PLC0415

    home = Path.home()
    if sys.platform == "darwin":
        folder = home / "Library" / "Application Support"
    elif sys.platform == "win32":
        folder = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    else:
        folder = Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    return folder / "planwire" / "journal.db"


def _in_file(name: str, create: bool) -> Journal:
    from pathlib import Path  # noqa: PLC0415

    path = Path(name).expanduser()
    if not create and not os.path.lexists(path):
        raise NoJournal(
            f"there is no journal at {path} yet: an agent's plans are kept once it runs behind planwire "
            "(planwire relay -- AGENT); to look elsewhere, use --journal or the variable PLANWIRE_JOURNAL"
        )
    from planwire.journal.sqlite import SqliteJournal  # noqa: PLC0415

    return SqliteJournal(path)
