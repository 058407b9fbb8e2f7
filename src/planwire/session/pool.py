"""The threads in which the sessions of this process read and write their journals, away from the event loop.

One small pool serves any number of sessions. It is not the loop's own executor: an application that fills that one must
not keep an agent from its plan, nor planwire an application from its work.
"""

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import Final, ParamSpec, TypeVar

#: A few are enough: a journal has one writer at a time, and the threads mostly wait for a disk or another process.
WORKERS: Final = 8
_NAME: Final = "planwire-session"

_P = ParamSpec("_P")
_R = TypeVar("_R")
_pools: dict[int, ThreadPoolExecutor] = {}  # by process: threads don't survive a fork


def start_in_pool(function: Callable[_P, _R], *args: _P.args, **kwargs: _P.kwargs) -> Future[_R]:
    """Call a function in the pool. Returns a future."""
    pool = _pools.get(os.getpid())
    if pool is None:
        pool = _pools.setdefault(os.getpid(), ThreadPoolExecutor(WORKERS, _NAME))
    return pool.submit(copy_context().run, partial(function, *args, **kwargs))


async def in_pool(function: Callable[_P, _R], *args: _P.args, **kwargs: _P.kwargs) -> _R:
    """Call a function in the pool, and wait for it without keeping the event loop waiting."""
    return await asyncio.wrap_future(start_in_pool(function, *args, **kwargs))
