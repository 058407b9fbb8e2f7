"""A disk that remembers what was written and what was synced, and can say what a power cut leaves of a folder.

It listens to the calls by which this process changes files. After a cut, a file has what was synced, and of each later
write any of its sectors. Names are as they were when their folder was synced, or as after any of the later changes, in
their order, as on file systems with a journal.
"""

import fcntl
import os
import random
from pathlib import Path
from typing import Any

import pytest

SECTOR = 512


class _File:
    """What was done to a file: writes (place, bytes), cuts (length, None), and how many of these were synced."""

    def __init__(self) -> None:
        self.changes: list[tuple[int, bytes | None]] = []
        self.synced = 0


class SimulatedDisk:
    """The folder as this process changes it from now on."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self._folder = folder
        self._files: dict[int, _File] = {}
        #: Names that came, with their files, or went; those of a renaming together.
        self._names: list[dict[str, _File | None]] = []
        self._synced_names = 0
        real = {name: getattr(os, name) for name in ("open", "write", "fsync", "ftruncate", "rename", "unlink")}

        def opened(path: Any, flags: int, *mode: int, **more: Any) -> int:
            is_new = self._is_ours(path) and not os.path.lexists(path)
            handle: int = real["open"](path, flags, *mode, **more)
            if is_new:
                self._files[os.fstat(handle).st_ino] = file = _File()
                self._names.append({Path(path).name: file})
            return handle

        def write(handle: int, data: bytes) -> int:
            file, place = self._files.get(os.fstat(handle).st_ino), os.lseek(handle, 0, os.SEEK_CUR)
            if file is not None:
                appends = fcntl.fcntl(handle, fcntl.F_GETFL) & os.O_APPEND
                place = os.fstat(handle).st_size if appends else place
                file.changes.append((place, bytes(data)))
            return int(real["write"](handle, data))

        def sync(handle: int) -> None:
            found = os.fstat(handle)
            if folder.is_dir() and os.path.samestat(found, folder.stat()):
                self._synced_names = len(self._names)
            elif (file := self._files.get(found.st_ino)) is not None:
                file.synced = len(file.changes)

        def truncate(handle: int, length: int) -> None:
            if (file := self._files.get(os.fstat(handle).st_ino)) is not None:
                file.changes.append((length, None))
            real["ftruncate"](handle, length)

        def rename(one: Any, other: Any) -> None:
            inode = Path(one).stat().st_ino
            real["rename"](one, other)
            if self._is_ours(other):
                named = {Path(one).name: None, Path(other).name: self._files.get(inode)}
                self._names.append(named)

        def unlink(path: Any, **more: Any) -> None:
            real["unlink"](path, **more)
            if self._is_ours(path):
                self._names.append({Path(path).name: None})

        for name, call in (
            ("open", opened),
            ("write", write),
            ("fsync", sync),
            ("ftruncate", truncate),
            ("rename", rename),
            ("unlink", unlink),
        ):
            patch.setattr(os, name, call)

    def _is_ours(self, path: Any) -> bool:
        return not isinstance(path, int) and Path(os.fspath(path)).parent == self._folder

    def after_a_cut(self, draw: random.Random) -> dict[str, bytes]:
        """The files that a power cut at this moment leaves."""
        last = draw.randint(self._synced_names, len(self._names))
        there: dict[str, _File | None] = {}
        for named in self._names[:last]:
            there.update(named)
        return {name: _left(file, draw) for name, file in there.items() if file is not None}


def _left(file: _File, draw: random.Random) -> bytes:
    content, likely = bytearray(), draw.random()
    for number, (place, data) in enumerate(file.changes):
        if data is None:
            if number < file.synced or draw.random() < likely:
                del content[place:]
            continue
        end = place + len(data)
        if number < file.synced:
            content.extend(bytes(max(0, end - len(content))))
            content[place:end] = data
            continue
        length = draw.choice([len(content), end, draw.randint(min(len(content), end), max(len(content), end))])
        content.extend(bytes(max(0, length - len(content))))
        for sector in range(place // SECTOR * SECTOR, end, SECTOR):
            start, stop = max(place, sector), min(end, sector + SECTOR, len(content))
            if draw.random() < likely and start < stop:
                content[start:stop] = data[start - place : stop - place]
    return bytes(content)
