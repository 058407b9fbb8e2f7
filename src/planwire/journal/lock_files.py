"""Lock files: they show whether the process that made one is still alive, however it ended.

A process keeps its file locked with `flock`. The kernel drops the lock when the process dies, with or without warning.
So if another process can lock the file, or finds none, the maker is gone. Looking takes a shared lock for a moment, so
that processes that look at the same time don't take each other for the maker.

A file that no process has locked is swept away. A sweep may catch a new file between its creation and its lock. So once
the maker has the lock, it checks whether its file is still there, and makes another one if not.

Where there is no `flock` (Windows), a file holds the number of its process, and counts as locked as long as any process
has that number. The system may give a dead process's number to another, which is then taken for it.
"""

import os
import re
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final
from weakref import WeakSet

try:
    import fcntl
except ImportError:
    _HAS_FLOCK = False
else:
    _HAS_FLOCK = True

_NAME: Final = re.compile("[0-9a-f]{16}")
_PRIVATE_FILE: Final = 0o600
_PRIVATE_FOLDER: Final = 0o700
#: More often than sweeps can catch one maker.
_MOST_TRIES: Final = 100


class LockFile:
    """A locked file in a folder, under a random name."""

    def __init__(self, folder: Path) -> None:
        for _ in range(_MOST_TRIES):
            self.name = os.urandom(8).hex()
            self._path = folder / self.name
            with suppress(FileNotFoundError, FileExistsError):  # the last one to go removes the folder
                folder.mkdir(_PRIVATE_FOLDER, exist_ok=True)
                self._handle = os.open(self._path, os.O_CREAT | os.O_EXCL | os.O_RDWR, _PRIVATE_FILE)
                if self._is_taken():
                    _made.add(self)
                    return
                os.close(self._handle)
        raise OSError(f"can't keep a lock file in {folder}: other processes remove each one")

    def remove(self) -> None:
        """Remove the file, and its folder with the last one."""
        _made.discard(self)
        with suppress(OSError):
            self._path.unlink()
        self.let_go()
        with suppress(OSError):
            self._path.parent.rmdir()

    def let_go(self) -> None:
        """Close the file. The lock goes with the last process that has it open."""
        with suppress(OSError):
            os.close(self._handle)

    def _is_taken(self) -> bool:
        if not _HAS_FLOCK:
            os.write(self._handle, str(os.getpid()).encode())
        elif not _lock(self._handle, fcntl.LOCK_EX):
            return False
        try:
            return os.path.samestat(os.fstat(self._handle), self._path.stat())
        except FileNotFoundError:
            return False


def is_locked(folder: Path, name: str) -> bool:
    """Whether the process that made a lock file is alive. A journal has the name, and may be anybody's work."""
    if not _NAME.fullmatch(name):
        return False
    try:
        handle = _opened(folder / name)
    except FileNotFoundError:
        return False
    except OSError:  # another user's file: assume that its process lives
        return True
    try:
        return not _lock(handle, fcntl.LOCK_SH) if _HAS_FLOCK else _is_alive(handle)
    finally:
        os.close(handle)


def sweep(folder: Path) -> None:
    """Remove the files of processes that are gone, and the folder if it is then empty."""
    with suppress(OSError):
        for name in os.listdir(folder):  # noqa: PTH208  (names are all it takes)
            with suppress(OSError):
                _sweep_file(folder / name)
        folder.rmdir()


def _sweep_file(path: Path) -> None:
    handle = _opened(path)
    try:
        if _lock(handle, fcntl.LOCK_EX) if _HAS_FLOCK else not _is_alive(handle):
            path.unlink()
    finally:
        os.close(handle)


def _opened(path: Path) -> int:
    """Open a lock file, or whatever stands in its place, without waiting for anybody."""
    return os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0))


def _lock(handle: int, how: int) -> bool:
    try:
        fcntl.flock(handle, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_alive(handle: int) -> bool:
    """Whether a process has the number in a file. An empty file is still being written."""
    text = os.read(handle, 20)
    return not text or _runs(int(text))


def _runs(pid: int) -> bool:
    if sys.platform == "win32":  # there `os.kill` ends a process, whatever the signal
        import ctypes  # noqa: PLC0415  (no other system needs it)

        kernel, synchronize, timed_out = ctypes.windll.kernel32, 0x0010_0000, 0x102
        process = kernel.OpenProcess(synchronize, False, pid)
        try:
            return bool(process) and kernel.WaitForSingleObject(process, 0) == timed_out
        finally:
            kernel.CloseHandle(process)
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


#: The files of this process. A fork has them open, too, and would keep them locked after their maker is gone.
_made: "WeakSet[LockFile]" = WeakSet()


def _let_go_of_all() -> None:
    for each in list(_made):
        each.let_go()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go_of_all)
