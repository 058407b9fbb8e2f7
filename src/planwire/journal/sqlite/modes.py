"""Whether people other than its owner can get at a journal's files. planwire itself makes no such files."""

import os
import stat
from pathlib import Path

from planwire.journal.engines import file_of

_ENDINGS = ("", "-wal", "-shm", ".thoughts", ".thoughts-wal", ".thoughts-shm")


def files_open_to_all(url: str | None) -> list[Path]:
    """The files of a journal that any user of this machine may read or write, by their modes. (Access for a group does
    not count, since it is deliberate: no usual umask grants it to the group alone.)"""
    path = file_of(url)
    if os.name != "posix" or path is None:
        return []
    files = [Path(f"{os.path.realpath(path)}{ending}") for ending in _ENDINGS]
    return [file for file in files if file.is_file() and file.stat().st_mode & stat.S_IRWXO]
