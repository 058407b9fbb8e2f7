"""The relay's own lines in one direction: fetched by the thread that writes, never pushed.

A thread with news only rings. So no thread waits for a slow reader, nothing piles up for it, and no line comes between
two pieces of another.
"""

import os
import select
from collections.abc import Callable
from contextlib import suppress

from planwire.relay.actions import Action


class Injector:
    """A bell for one pipe. `ask` returns the lines to write now; `sent` gets them once they are written."""

    def __init__(self, ask: Callable[[], list[Action]], sent: Callable[[list[Action]], None]) -> None:
        self.ask = ask
        self.sent = sent
        self._bell, self._rope = os.pipe()
        os.set_blocking(self._bell, False)
        os.set_blocking(self._rope, False)

    def ring(self) -> None:
        """There may be news. From any thread, at any time."""
        with suppress(OSError):  # the pipe is full of rings: one more makes no difference
            os.write(self._rope, b"!")

    def wait(self, source: int) -> bool:
        """Wait for the source or for news. Returns whether the source has something, which then goes first."""
        ready, _, _ = select.select([source, self._bell], [], [])
        if self._bell in ready:
            with suppress(OSError):
                os.read(self._bell, 4096)
        return source in ready
