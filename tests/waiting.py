"""Waiting for a condition, with a bound: the tests never sleep for a fixed time."""

import asyncio
import time
from collections.abc import Callable

__all__ = ["at_rest", "eventually", "until"]

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


async def at_rest() -> None:
    """Let the event loop go on until it has nothing left to do but wait for time, files and threads."""
    loop = asyncio.get_running_loop()
    end = time.monotonic() + SECONDS
    await asyncio.sleep(0)
    while loop._ready:  # type: ignore[attr-defined]
        assert time.monotonic() < end, "it did not come to rest in time"
        await asyncio.sleep(0)
