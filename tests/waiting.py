"""Waiting for a condition, with a bound: the tests never sleep for a fixed time."""

import asyncio
import time
from collections.abc import Callable

__all__ = ["eventually", "until"]

SECONDS = 20.0


async def eventually(condition: Callable[[], object], seconds: float = SECONDS) -> None:
    """Let the event loop go on until the condition holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come true in time"
        await asyncio.sleep(0.002)


def until(condition: Callable[[], object], seconds: float = SECONDS) -> None:
    """Let other threads and processes go on until the condition holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come true in time"
        time.sleep(0.002)
