"""The lock of whoever drains a spool: one process at a time, and everybody can see whether one does.

Whoever drains keeps `drainer.lock` locked with `flock`, some for as long as they live. Hooks look at it: those that
want an answer wait for one only if somebody is there to give it. They look with a shared lock, for a moment; so whoever
wants to drain tries more than once.
"""

import os
from pathlib import Path
from time import sleep
from typing import Final
from weakref import WeakSet

from planwire.journal.spool_append import make_folder

try:
    import fcntl
except ImportError:
    _HAS_FLOCK = False
else:
    _HAS_FLOCK = True

__all__ = ["LOCK", "DrainerLock"]

LOCK: Final = "drainer.lock"
_PRIVATE_FILE: Final = 0o600
_TRIES: Final = 5
_GLANCE: Final = 0.001


class DrainerLock:
    """The right to drain the spool in a folder, once it is acquired."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / LOCK
        self._handle: int | None = None

    def acquire(self) -> bool:
        """Try to get the lock, and say whether this object has it. Nobody waits: another process may keep it for
        days. There is none to get where nothing can be written, or where there is no `flock`."""
        if self.is_held:
            return True
        self.release()
        if not _HAS_FLOCK:
            return False
        try:
            make_folder(str(self._path.parent))
            handle = os.open(self._path, os.O_CREAT | os.O_RDWR, _PRIVATE_FILE)
        except OSError:
            return False
        if not _is_locked_now(handle):
            os.close(handle)
            return False
        self._handle = handle
        _held.add(self)
        return self.is_held

    @property
    def is_held(self) -> bool:
        """Whether this object has the lock that others see: somebody may have removed the folder meanwhile."""
        try:
            return self._handle is not None and os.path.samestat(os.fstat(self._handle), self._path.stat())
        except OSError:
            return False

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


def _is_locked_now(handle: int) -> bool:
    for _ in range(_TRIES):
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            sleep(_GLANCE)
        else:
            return True
    return False


#: The locks of this process. A fork has them open, too, and would keep them when their owner is gone.
_held: "WeakSet[DrainerLock]" = WeakSet()


def _release_all() -> None:
    for each in list(_held):
        each.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_release_all)
