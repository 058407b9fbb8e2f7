"""What the processes of this machine tell each other about an outage: since when, and who looks for the server.

Asking a silent server takes seconds. So the process that finds it away leaves a file, which says since when and why;
its age says when a process last looked. Processes that start soon after that don't ask at all. One process at a time
looks again, and removes the file when the server is back; the others wait for that. A person's command still looks for
itself where that is quick: it may reach a server that an agent in a sandbox can't, or one that only cut another
process's connection.

How long a server may take to answer before it counts as silent depends on the network. After a slow connection, a
second file says how many seconds it took.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from math import inf
from pathlib import Path
from time import time, time_ns
from typing import Final, NamedTuple

from planwire.journal.spool_append import HAS_FLOCK, locked, make_folder, put

#: The file of an outage, the lock of the process that looks for the server, and the file of a slow connection.
AWAY: Final = "away"
_LOOKING: Final = "looking.lock"
_SLOW: Final = "slow"
#: For this many seconds after one process got no answer, no other asks the server.
LATELY: Final = 2.0
#: Seconds after which a process that looks for the server counts as stopped, so that another one may look.
_STUCK: Final = 20.0
#: For this many seconds after an outage was last seen, commands wait for the server no longer than `_SHORT_WAIT`.
_REMEMBERED: Final = 60.0
_SHORT_WAIT: Final = 1.0
#: A connection that takes longer than this many seconds is slow. The next one may take `_SLACK` times as long, up to
#: `_LONGEST_WAIT` seconds.
_QUICK: Final = 0.2
_SLACK: Final = 2.0
_LONGEST_WAIT: Final = 2.0


class Outage(NamedTuple):
    """The server is away: since when (in milliseconds), why, and how many seconds it took to find out (infinite if that
    was not measured). `is_refusal`: it refuses the login."""

    since: int
    why: str
    is_refusal: bool = False
    seconds: float = inf


class SharedOutage:
    """What the files in a folder say about an outage. The folder need not exist."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = folder / AWAY

    def known(self) -> Outage | None:
        """The outage that a process found, unless one has seen its end."""
        with suppress(OSError, ValueError):
            head, _, why = self._path.read_text("utf-8", "replace").partition("\n")
            since, _, seconds = head.partition(" ")
            return Outage(int(since), why, seconds=float(seconds))
        return None

    def note(self, why: str, seconds: float = inf) -> Outage:
        """Tell the other processes that the server did not answer just now, and how long it took to find out."""
        known = self.known()
        outage = Outage(known.since if known else time_ns() // 1_000_000, why, seconds=seconds)
        self._put(AWAY, f"{outage.since} {seconds:.2f}\n{why}")
        return outage

    def end(self) -> None:
        """Tell the other processes that the server answers."""
        with suppress(OSError):
            self._path.unlink()

    def patience(self, wanted: float | None) -> float:
        """Seconds to wait for the first answer, where `wanted` is enough on a quick network (None: the caller prefers
        the server's own answer). 0 if another process has just looked, or is looking."""
        age = self._age
        if wanted is None and age < LATELY and (known := self.known()) and not _QUICK <= known.seconds < inf:
            return _SHORT_WAIT
        if age < LATELY or (age < _STUCK and self._is_looked_for()):
            return 0.0
        if wanted is None and age > _REMEMBERED:
            return inf
        return max(_SHORT_WAIT if wanted is None else wanted, min(self._slowness * _SLACK, _LONGEST_WAIT))

    @contextmanager
    def look(self) -> Iterator[bool]:
        """A context in which this process looks for the server. False if another process is looking, and will tell."""
        handle = None
        with suppress(OSError):
            if HAS_FLOCK and self._folder.is_dir():
                handle = locked(str(self._folder / _LOOKING), os.O_CREAT, patience=0)
        try:
            yield handle is not None or not HAS_FLOCK or self._age > _STUCK
        finally:
            if handle is not None:
                os.close(handle)

    def note_answer(self, seconds: float) -> None:
        """Remember how long a connection took, if that is slow and longer than remembered, or less than half of it."""
        known = self._slowness
        if max(seconds, known) > _QUICK and not known / _SLACK <= seconds <= known:
            self._put(_SLOW, f"{seconds:.3f}")

    def _put(self, name: str, text: str) -> None:
        with suppress(OSError):
            make_folder(str(self._folder))
            put(str(self._folder), name, text.encode("utf-8", "replace"))

    @property
    def _age(self) -> float:
        """Seconds since a process last looked in vain; infinite if no outage is known."""
        try:
            return abs(time() - self._path.stat().st_mtime)
        except OSError:
            return inf

    @property
    def _slowness(self) -> float:
        with suppress(OSError, ValueError):
            return float((self._folder / _SLOW).read_text("ascii"))
        return 0.0

    def _is_looked_for(self) -> bool:
        with self.look() as is_ours:
            return not is_ours
