"""The engine's side of `Journal.follow`: look, wait a little, look again.

Looking finds every event, whoever wrote it, which no notification does on every system. The waits are short while
events come in. In quiet times they are longer, and a glance comes before a look: a glance is cheaper, and shows that
something may have changed. A writer in the same process rings the bell, so that its events show up at once.

`follower` is the other side: it shares one such loop among all subscribers.
"""

from collections.abc import Iterator
from time import monotonic
from typing import Final, NamedTuple, Protocol, Self

from planwire.journal.bell import Bell
from planwire.journal.protocol import Followed, Stop

#: Seconds between two looks while events come in, and between two glances when none has come for QUIET seconds. Waking
#: up costs a tenth of a millisecond, most of it the system's: 22 ms keep an idle loop well under 1 % of a core.
BUSY_WAIT: Final = 0.004
IDLE_WAIT: Final = 0.022
QUIET: Final = 1.0
#: Seconds after which the loop looks even if a glance shows nothing: a file system may be late to show a change.
TRUST: Final = 0.25


class Found(NamedTuple):
    """The wanted events after a position, and the position up to which the engine looked."""

    events: list[Followed]
    position: int


class PolledJournal(Protocol):
    """What engines without notifications have in common: `with` closes one, and `follow` polls. Writers ring the
    bell."""

    _bell: Bell

    def __init__(self) -> None:
        self._bell = Bell()

    def follow(
        self,
        after: int | None = None,
        *,
        session: str | None = None,
        stop: Stop | None = None,
        timeout: float | None = None,
    ) -> Iterator[Followed]:
        begin = self.last_position() if after is None else max(after, 0)
        return self._poll(begin, session, stop, timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None: ...

    def last_position(self) -> int: ...

    def _look(self, position: int, session: str | None) -> Found | None:
        """The events after a position, or at least some of them; None once the journal is closed."""

    def _glance(self) -> object:
        """A value that changes when anyone writes."""

    def _ring(self) -> None:
        """Wake the loops of this process."""
        self._bell.ring()

    def _poll(self, after: int, session: str | None, stop: Stop | None, timeout: float | None) -> Iterator[Followed]:
        heard = monotonic()
        moved = looked = heard - QUIET - TRUST
        sight = self._glance()
        with self._bell.listening() as rung:
            while stop is None or not stop.is_set():
                now = monotonic()
                before, sight = sight, self._glance()
                if sight != before:  # a writer is done, or about to be
                    moved = now
                idle = now - moved >= QUIET
                if not idle or now - looked >= TRUST:
                    looked = now
                    found = self._look(after, session)
                    if found is None:
                        return
                    for each in found.events:
                        yield each
                        if stop is not None and stop.is_set():
                            return
                    now = monotonic()
                    if found.position > after:
                        after, moved = found.position, now
                        heard = now if found.events else heard
                        continue
                if timeout is not None and now - heard >= timeout:
                    return
                wait = IDLE_WAIT if idle else BUSY_WAIT
                if rung.acquire(timeout=wait if timeout is None else min(wait, timeout - (now - heard))):
                    looked = now - TRUST
