"""Sending to many without a task switch for each: a coroutine is run at once, as far as it goes without waiting.

Almost every send ends right away, since the system takes what it is given. Only where a reader is slow does the rest
become a task.
"""

from collections.abc import Coroutine, Generator
from functools import partial
from typing import Any

__all__ = ["Rest", "begin"]


class Rest:
    """What is left of a coroutine that has begun: to be awaited, once."""

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
