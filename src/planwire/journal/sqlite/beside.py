"""The files beside a SQLite journal that belong to it, by their names. Nothing else may be written under one of these.

SQLite takes whatever has the name of a log for the log, and planwire does the same with thoughts, leases and what hooks
say: so a backup or a note of that name would cost the journal what it holds there.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from planwire.errors import InputError, Refused

__all__ = ["beside", "journal_beside", "refuse_place"]

_ENDINGS: Final = ("-wal", "-shm", "-journal", ".thoughts", "-leases", "-hooks")
#: A draft of a journal, or of the thoughts beside it, or what there is of a backup that was interrupted.
_DRAFT: Final = re.compile(r"\.(.+)\.(?:[0-9a-f]{8}|part)", re.DOTALL)


def beside(path: Path) -> tuple[Path, Path, Path]:
    """The files of a database: itself, its log, its shared memory."""
    return path, Path(f"{path}-wal"), Path(f"{path}-shm")


def journal_beside(path: Path) -> Path | None:
    """The file that another one belongs to by its name, or by that of a folder around it; None: it belongs to none."""
    for place in (path, *path.parents):
        for name in _owners(place.name):
            if (journal := place.with_name(name)).is_file():
                return journal
    return None


def refuse_place(path: Path) -> None:
    """Refuse a folder, and a name that belongs to a journal, as the place of a new file. `path` leads over no link."""
    if path.is_dir():
        raise InputError(f"{path} is a folder: name a file in it")
    if journal := journal_beside(path):
        raise Refused(f"{path} would be taken for a part of the journal {journal}, or is one: name another file")


def _owners(name: str) -> Iterator[str]:
    """The names of the files that a file of this name may belong to: for the log of thoughts, these and the journal."""
    found = [name[: -len(ending)] for ending in _ENDINGS if name.lower().endswith(ending)]
    found += [draft[1] for draft in [_DRAFT.fullmatch(name)] if draft]
    for owner in filter(None, found):
        yield from _owners(owner)
        yield owner
