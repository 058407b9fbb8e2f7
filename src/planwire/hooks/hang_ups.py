"""How a hook learns that no one listens to it any more: by a signal, or because a process above it has ended."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from threading import Event as Flag
from threading import current_thread, main_thread
from types import FrameType
from typing import Final

from planwire.journal.processes import lineage

#: The processes above a hook that its answer is for: the shell that runs it, and the agent.
_ABOVE: Final = 2
_SIGNALS: Final = ("SIGTERM", "SIGINT", "SIGHUP")


def processes_above() -> tuple[str, ...]:
    """The processes above this one, the nearest first. This changes once one of them ends, because those below it then
    have another parent."""
    return tuple(islice(lineage(), 1, _ABOVE + 1))


@contextmanager
def hang_ups() -> Iterator[Flag]:
    """A flag that is set by the signals with which an agent, or a terminal, ends a hook."""
    flag = Flag()

    def hang_up(_signal: int, _frame: FrameType | None) -> None:
        flag.set()

    if current_thread() is not main_thread():
        yield flag
        return
    numbers = [getattr(signal, name) for name in _SIGNALS if hasattr(signal, name)]
    before = {number: signal.signal(number, hang_up) for number in numbers}
    try:
        yield flag
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
