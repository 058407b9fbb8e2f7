"""The folders of this machine that a person or a process here named: plan files are read only inside them.

A journal may be written by many machines, so what it says about folders is no leave to read them. Whoever runs a
session here, or is given a folder to read, notes that folder: as an empty file named after its digest, in a private
folder of the user's data. All faces on this machine look there.
"""

import os
from pathlib import Path

from planwire.errors import UnknownJournal
from planwire.journal.chain import sha256
from planwire.journal.user_files import default_path


def note_folders(*folders: str | Path) -> None:
    """Note folders that a person or a process here named. If that is impossible, other faces read no plan files."""
    for folder in folders:
        try:
            mark = _mark(Path(folder).resolve())
            for each in (mark.parent.parent, mark.parent):
                each.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(os.open(mark, os.O_CREAT | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0), 0o600))
        except (OSError, RuntimeError, ValueError, UnknownJournal):  # a client may name anything
            continue


def folders_above(path: str, *, itself: bool = False) -> tuple[Path, ...]:
    """The named folders that a path leads into, links resolved."""
    try:
        if not Path(path).is_absolute():
            return ()
        target = Path(path).resolve()
        return tuple(each for each in (*([target] if itself else []), *target.parents) if _mark(each).exists())
    except (OSError, RuntimeError, ValueError, UnknownJournal):
        return ()


def _mark(folder: Path) -> Path:
    name: str = sha256(os.fsencode(folder)).hexdigest()
    return default_path().parent / "folders" / name
