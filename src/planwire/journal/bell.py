"""A bell: a writer wakes the followers in its own process."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Lock


class Bell:
    """Wakes all listeners. A ring between two waits ends the next one at once."""

    def __init__(self) -> None:
        self._listeners: set[Lock] = set()

    def ring(self) -> None:
        if self._listeners:
            for each in tuple(self._listeners):
                with suppress(RuntimeError):  # it rang already
                    each.release()

    @contextmanager
    def listening(self) -> Iterator[Lock]:
        """A lock that a ring releases: acquire it to wait."""
        rung = Lock()
        rung.acquire()
        self._listeners.add(rung)
        try:
            yield rung
        finally:
            self._listeners.discard(rung)
