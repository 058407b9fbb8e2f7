"""The user's own files of planwire on this machine: the journal, and what belongs to journals on other machines."""

import os
import sys
from pathlib import Path
from typing import Final

from planwire.errors import UnknownJournal
from planwire.journal.shown_urls import lasting_url

#: The environment variable that names the journal.
VARIABLE: Final = "PLANWIRE_JOURNAL"


def default_path() -> Path:
    """The journal in the folder where this system keeps the data of a user's programs."""
    home = expanded("~")
    if sys.platform == "darwin":
        folder = home / "Library" / "Application Support"
    elif sys.platform == "win32":
        folder = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    else:
        folder = Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    return folder / "planwire" / "journal.db"


def thoughts_path(url: str) -> Path:
    """The file on this machine for the thoughts of a journal on another one."""
    return default_path().parent / "thoughts" / f"{digest(url)}.db"


def away_path(url: str) -> Path:
    """The folder on this machine where records wait for a journal whose server is away."""
    return default_path().parent / "away" / digest(url)


def digest(url: str) -> str:
    """A name for a journal on another machine. It stays when the password changes, and differs for another account."""
    from hashlib import sha256  # noqa: PLC0415  (no journal in a file needs it)

    return sha256(lasting_url(url).encode()).hexdigest()[:32]


def expanded(name: str) -> Path:
    try:
        return Path(name).expanduser()
    except RuntimeError:
        raise UnknownJournal(
            f"there is no home folder for {name!r}: name the journal by its full path, with --journal or the variable "
            f"{VARIABLE}"
        ) from None
