"""A listener on an event loop: a function or coroutine function that is called with every change of a session in
order."""

import asyncio
import inspect
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress

from planwire.session.blocking import BlockingPlanSession
from planwire.session.change import SessionChange

_log = logging.getLogger("planwire")


def call_on_loop(blocking: BlockingPlanSession, listener: Callable[[SessionChange], object]) -> Callable[[], None]:
    """Call a function or a coroutine function with every change of a session, on the running event loop. Returns a
    function that ends this."""
    loop = asyncio.get_running_loop()
    heard = _LoopListener(blocking.id, listener)

    def hear(change: SessionChange) -> None:
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(heard.take, change)

    end = blocking.on_change(hear)

    def stop() -> None:
        end()
        heard.stop()

    return stop


class _LoopListener:
    """Changes wait while a coroutine handles an earlier one. Errors are logged."""

    def __init__(self, session: str, listener: Callable[[SessionChange], object]) -> None:
        self._session = session
        self._listener = listener
        self._changes: deque[SessionChange] = deque()  # the first is being handled
        self._task: asyncio.Task[None] | None = None

    def take(self, change: SessionChange) -> None:
        self._changes.append(change)
        if len(self._changes) == 1 and (called := self._next()) is not None:
            self._task = asyncio.ensure_future(self._finish(called))

    def stop(self) -> None:
        while len(self._changes) > 1:
            self._changes.pop()

    def _next(self) -> Awaitable[object] | None:
        """Call the listener until it has something to await."""
        while self._changes:
            try:
                called = self._listener(self._changes[0])
            except Exception:
                self._log()
            else:
                if inspect.isawaitable(called):
                    return called
            self._changes.popleft()
        return None

    async def _finish(self, called: Awaitable[object] | None) -> None:
        while called is not None:
            try:
                await called
            except Exception:
                self._log()
            self._changes.popleft()
            called = self._next()

    def _log(self) -> None:
        _log.exception("a listener of session %s failed", self._session)
