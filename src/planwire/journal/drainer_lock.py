"""The lock of the process that drains a spool: one at a time, and every process can see whether there is one.

The drainer keeps `drainer.lock` locked with `flock`, in some cases for as long as it lives. Hooks look at it: those
that want an answer wait for one only if a drainer is there to give it. Looking takes a shared lock for a moment, so a
process that wants to drain tries more than once.

A process that was stopped, say by Ctrl-Z, keeps its lock, and would silence every agent on the machine. So the drainer
touches the file every second. After a few seconds without that, the next process that wants to drain removes the file
and makes a new one; the stopped one finds its file gone as soon as it wakes up. What it was about to record has the
same key as what was recorded in its place, so nothing is recorded twice.
"""

import os
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Final
from weakref import WeakSet

from planwire.journal.spool_append import LOCK, is_stale, make_folder

try:
    import fcntl
except ImportError:
    _HAS_FLOCK = False
else:
    _HAS_FLOCK = True

#: Held for a moment while a process removes a stale lock, so that no other process removes the new one.
_REMOVAL: Final = "removal.lock"
_PRIVATE_FILE: Final = 0o600
_TRIES: Final = 5
_GLANCE: Final = 0.001
#: Seconds between two touches.
_BEAT: Final = 1.0


class DrainerLock:
    """The right to drain the spool in a folder, once it is acquired."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / LOCK
        self._handle: int | None = None
        self._touched = 0.0

    def acquire(self) -> bool:
        """Try to get the lock; returns whether this object has it. Doesn't wait for the holder, which may keep it for
        days. There is no lock where nothing can be written, or where there is no `flock`."""
        if not self.is_held:
            self.release()
            handle = self._lock()
            if handle is None and self._removed_a_stale_one():
                handle = self._lock()
            if handle is None:
                return False
            self._handle, self._touched = handle, 0.0
            _held.add(self)
        return self.is_held

    @property
    def is_held(self) -> bool:
        """Whether this object has the lock that others see: another process may have removed its file. The drainer asks
        this each time it looks for something to drain; asking touches the file, as its sign of life."""
        try:
            if self._handle is None or not os.path.samestat(os.fstat(self._handle), self._path.stat()):
                return False
        except OSError:
            return False
        self._touch(self._handle)
        return True

    def release(self) -> None:
        """Let others drain."""
        _held.discard(self)
        handle, self._handle = self._handle, None
        if handle is not None:
            os.close(handle)

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()

    def _lock(self) -> int | None:
        if not _HAS_FLOCK:
            return None
        try:
            make_folder(str(self._path.parent))
            handle = os.open(self._path, os.O_CREAT | os.O_RDWR, _PRIVATE_FILE)
        except OSError:
            return None
        for _ in range(_TRIES):
            with suppress(OSError):
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return handle
            sleep(_GLANCE)
        os.close(handle)
        return None

    def _touch(self, handle: int) -> None:
        if monotonic() > self._touched + _BEAT:
            with suppress(OSError):
                os.utime(handle)
            self._touched = monotonic()

    def _removed_a_stale_one(self) -> bool:
        with suppress(OSError):
            if _HAS_FLOCK and is_stale(self._path.stat()):
                handle = os.open(self._path.with_name(_REMOVAL), os.O_CREAT | os.O_RDWR, _PRIVATE_FILE)
                try:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    if is_stale(self._path.stat()):  # and not a new one
                        self._path.unlink()
                        return True
                finally:
                    os.close(handle)
        return False


#: The locks of this process. A fork has their files open, too, and would keep them locked when their owner is gone.
_held: "WeakSet[DrainerLock]" = WeakSet()


def _release_all() -> None:
    for each in list(_held):
        each.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_release_all)
