"""The files beside a SQLite journal that belong to it, by their names. No other file may be written under such a name.

SQLite takes any file that has the name of the log for the log, and planwire does the same with thoughts, leases and
what hooks say. So a backup or a note of that name would cost the journal what it holds there.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from planwire.errors import InputError, Refused

_ENDINGS: Final = ("-wal", "-shm", "-journal", ".thoughts", "-leases", "-hooks")
#: A draft of a journal or of the thoughts beside it, or the unfinished part of an interrupted backup.
_DRAFT: Final = re.compile(r"\.(.+)\.(?:[0-9a-f]{8}|part)", re.DOTALL)


def beside(path: Path) -> tuple[Path, Path, Path]:
    """The files of a database: itself, its log, its shared memory."""
    return path, Path(f"{path}-wal"), Path(f"{path}-shm")


def journal_beside(path: Path) -> Path | None:
    """The journal that a file belongs to, by the name of the file or of a folder around it; None if there is none."""
    for place in (path, *path.parents):
        for name in _owners(place.name):
            if (journal := place.with_name(name)).is_file():
                return journal
    return None


def refuse_place(path: Path) -> None:
    """Refuse a folder, or a name that belongs to a journal, as the place of a new file. `path` must be resolved."""
    if path.is_dir():
        raise InputError(f"{path} is a folder: name a file in it")
    if journal := journal_beside(path):
        raise Refused(f"{path} would be taken for a part of the journal {journal}, or is one: name another file")


def _owners(name: str) -> Iterator[str]:
    """The names of the files that a file of this name may belong to. For the log of thoughts, that is the journal and
    the thoughts."""
    found = [name[: -len(ending)] for ending in _ENDINGS if name.lower().endswith(ending)]
    found += [draft[1] for draft in [_DRAFT.fullmatch(name)] if draft]
    for owner in found:
        if owner in ("", ".", ".."):  # a hidden file that is called as an ending
            continue
        yield from _owners(owner)
        yield owner
