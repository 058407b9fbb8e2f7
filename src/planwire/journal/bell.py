"""A bell: whoever writes wakes those of the same process who follow."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Lock

__all__ = ["Bell"]


class Bell:
    """Wakes all who are near. A ring that comes before one waits cuts its next wait short."""

    def __init__(self) -> None:
        self._heard_by: set[Lock] = set()

    def ring(self) -> None:
        if self._heard_by:
            for each in tuple(self._heard_by):
                with suppress(RuntimeError):  # it rang already
                    each.release()

    @contextmanager
    def near(self) -> Iterator[Lock]:
        """A lock that a ring releases: to wait is to acquire it."""
        rung = Lock()
        rung.acquire()
        self._heard_by.add(rung)
        try:
            yield rung
        finally:
            self._heard_by.discard(rung)
