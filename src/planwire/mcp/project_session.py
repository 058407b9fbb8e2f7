"""The session of a project: the latest of its folder, unless the user names one.

So the plan is there again when the host starts again, and two hosts on one folder share it.
"""

import hashlib
import os
import secrets
from pathlib import Path

from planwire.errors import InputError
from planwire.journal import Journal
from planwire.readmodel.folders import latest_of_folder

__all__ = ["find_session", "new_session", "plan_folders", "project_folder"]


def project_folder(name: str | None) -> Path:
    """The folder that a server works for: the named one, or the current one."""
    try:
        folder = Path(name or os.curdir).expanduser().resolve(strict=True)
    except (OSError, RuntimeError, ValueError) as error:
        raise InputError(f"the folder {name or os.curdir} can't be used: {_reason(error)}") from None
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder: give the one that holds the project")
    return folder


def find_session(journal: Journal, folder: Path) -> str:
    """The folder's session with the latest event. Without one, a name made from the folder, so that all servers that
    look for it choose the same."""
    latest = latest_of_folder(journal, str(folder))
    return latest.id if latest else _named(folder, hashlib.sha256(os.fsencode(folder)).hexdigest())


def new_session(folder: Path) -> str:
    """A name for a session that nobody has begun."""
    return _named(folder, secrets.token_hex(4))


def plan_folders(folder: Path) -> tuple[Path, ...]:
    """The folders whose plan files the model may read. Hosts without a project start their servers in the root or in
    the user's home: those hold more than plans, and stay closed."""
    return () if folder in (Path(folder.anchor), Path.home()) else (folder,)


def _named(folder: Path, mark: str) -> str:
    return f"{folder.name or 'root'}-{mark[:8]}"


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
