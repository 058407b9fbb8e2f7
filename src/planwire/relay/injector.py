"""Lines of the relay's own in a direction: asked for by the thread that writes, never pushed.

Whoever has news only rings. So nobody waits for a slow reader, nothing piles up for it, and no line comes between two
pieces of another.
"""

import os
import select
from collections.abc import Callable
from contextlib import suppress

from planwire.relay.actions import Action

__all__ = ["Injector"]


class Injector:
    """A bell for one pipe. `ask` returns the lines to write by now, `sent` hears that they are written."""

    def __init__(self, ask: Callable[[], list[Action]], sent: Callable[[list[Action]], None]) -> None:
        self.ask = ask
        self.sent = sent
        self._bell, self._rope = os.pipe()
        os.set_blocking(self._bell, False)
        os.set_blocking(self._rope, False)

    def ring(self) -> None:
        """There may be news. From any thread, at any time."""
        with suppress(OSError):  # it rang so often that once more makes no difference
            os.write(self._rope, b"!")

    def wait(self, source: int) -> bool:
        """Wait for the source or for news. Whether the source has something, which then comes first."""
        ready, _, _ = select.select([source, self._bell], [], [])
        if self._bell in ready:
            with suppress(OSError):
                os.read(self._bell, 4096)
        return source in ready
