"""Following a journal: look, wait a little, look again.

Looking tells all there is to tell, whoever wrote it, which no notification does on every system. The waits are short
while events come in. When it is quiet they are longer, and a glance comes before a look: it is cheaper, and sees that
something may have changed. A writer in the same process rings the bell, so that its events are seen at once.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Lock
from time import monotonic
from typing import Final, NamedTuple

from planwire.journal.protocol import Followed, Stop

__all__ = ["Bell", "Look", "follow"]

#: Seconds between two looks while events come in, and between two glances when none has come for QUIET seconds. To wake
#: up costs a tenth of a millisecond, most of it the system's: 20 ms keep an idle follower well under 1 % of a core.
BUSY_WAIT: Final = 0.004
IDLE_WAIT: Final = 0.020
QUIET: Final = 1.0
#: Seconds after which it looks in any case: a file system may be late to tell a glance of a change.
TRUST: Final = 0.25


class Look(NamedTuple):
    """What was found behind a position: the events that are wanted, and the position looked up to."""

    found: list[Followed]
    position: int


class Bell:
    """Wakes the followers of this process. A ring that comes while nobody listens yet is heard at the next wait."""

    def __init__(self) -> None:
        self._listeners: set[Lock] = set()

    def ring(self) -> None:
        for listener in tuple(self._listeners):
            with suppress(RuntimeError):  # it was rung already
                listener.release()

    @contextmanager
    def listener(self) -> Iterator[Lock]:
        """A lock that is held by nobody once the bell has rung: to wait is to acquire it."""
        lock = Lock()
        lock.acquire()
        self._listeners.add(lock)
        try:
            yield lock
        finally:
            self._listeners.discard(lock)


def follow(
    look: Callable[[int], Look | None],
    glance: Callable[[], object],
    bell: Bell,
    after: int,
    stop: Stop | None,
    timeout: float | None,
) -> Iterator[Followed]:
    """What `look` finds behind `after`, and then behind that, until it returns None (the journal is closed)."""
    heard = monotonic()
    moved = looked = heard - QUIET - TRUST
    sight = glance()
    with bell.listener() as rung:
        while stop is None or not stop.is_set():
            now = monotonic()
            before, sight = sight, glance()
            if sight != before:  # somebody is about to be done with writing, if not done
                moved = now
            idle = now - moved >= QUIET
            if not idle or now - looked >= TRUST:
                looked = now
                seen = look(after)
                if seen is None:
                    return
                for each in seen.found:
                    yield each
                    if stop is not None and stop.is_set():
                        return
                now = monotonic()
                if seen.position > after:
                    after, moved = seen.position, now
                    heard = now if seen.found else heard
                    continue
            if timeout is not None and now - heard >= timeout:
                return
            wait = IDLE_WAIT if idle else BUSY_WAIT
            if rung.acquire(timeout=wait if timeout is None else min(wait, timeout - (now - heard))):
                looked = now - TRUST
