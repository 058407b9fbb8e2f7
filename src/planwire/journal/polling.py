"""The tail of a store that can only look: look, wait a little, look again.

Looking finds every row, whoever wrote it, which no notification does on every system. The waits are short while rows
come in. In quiet times they are longer, and a glance comes before a look: a glance is cheaper, and shows that something
may have changed. A writer in the same process rings the bell, so that its rows show up at once.

`follower` is the other side: it shares one tail among all subscribers.
"""

from collections.abc import Callable, Iterator
from time import monotonic
from typing import Final

from planwire.journal.bell import Bell
from planwire.journal.store import TailPage

#: Seconds between two looks while rows come in, and between two glances when none has come for QUIET seconds. Waking
#: up costs a tenth of a millisecond, most of it the system's: 22 ms keep an idle loop well under 1 % of a core.
BUSY_WAIT: Final = 0.004
IDLE_WAIT: Final = 0.022
QUIET: Final = 1.0
#: Seconds after which the loop looks even if a glance shows nothing: a file system may be late to show a change.
TRUST: Final = 0.25


def polled(
    after: int, look: Callable[[int], TailPage | None], glance: Callable[[], object], bell: Bell
) -> Iterator[TailPage]:
    """The tail of a store after a position. `look` gives a page, or None once the store is closed; `glance` a value
    that changes when anyone writes."""
    moved = looked = monotonic() - QUIET - TRUST
    sight = glance()
    with bell.listening() as rung:
        while True:
            now = monotonic()
            before, sight = sight, glance()
            if sight != before:  # a writer is done, or about to be
                moved = now
            idle = now - moved >= QUIET
            if not idle or now - looked >= TRUST:
                looked = now
                page = look(after)
                if page is None:
                    return
                if page.position > after:
                    after, moved = page.position, monotonic()
                yield page
                if not page.is_end:
                    continue
            else:
                yield TailPage([], after, is_end=True)
            if rung.acquire(timeout=IDLE_WAIT if idle else BUSY_WAIT):
                looked = now - TRUST
