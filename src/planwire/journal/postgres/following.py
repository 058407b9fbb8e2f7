"""Following a PostgreSQL journal: look, and look again when a notice comes, or nothing has been heard for a while.

A notice only says that there may be something. What there is, and in which order, the looks find out (see
`order`). A writer in the same process rings the bell, so that its events show up at once. After the notice of one that
is busy, a follower looks without being told, as often as one writer would tell it, however many are busy.
"""

from collections.abc import Callable, Iterator
from threading import Lock
from time import monotonic
from typing import Any, Final, NamedTuple

from planwire.journal.bell import Bell
from planwire.journal.polling import Found
from planwire.journal.postgres.order import Holders, PositionGap, unbroken
from planwire.journal.postgres.rows import MOST, followed
from planwire.journal.protocol import Followed, Stop

__all__ = ["SETTLING", "NoticeBell", "PositionFollower", "Source", "events_of"]

#: Seconds after which a follower looks whatever notices say: a writer may have died before its own.
TRUST: Final = 1.0
#: Seconds between two looks while somebody is busy.
BUSY_TRUST: Final = 0.015
#: Seconds between two looks at whether it shall stop, and at whether slower writers are done.
GLANCE: Final = 0.022
SETTLING: Final = 0.002


class NoticeBell(Bell):
    """A bell that also knows for how long its silence means that there is nothing."""

    def __init__(self) -> None:
        super().__init__()
        self._busy_until = 0.0

    @property
    def trust(self) -> float:
        """Seconds for which silence means that there is nothing."""
        return BUSY_TRUST if monotonic() < self._busy_until else TRUST

    def expect_more(self, seconds: float) -> None:
        """Somebody goes on writing, and may not ring for so long."""
        self._busy_until = monotonic() + seconds


class Source(NamedTuple):
    """What a follower asks the server: events behind a position up to another, and who is writing now."""

    behind: Callable[[int, int], list[Any]]
    holders: Callable[[], Holders]


class PositionFollower:
    """One who follows all sessions: what it waits for."""

    def __init__(self) -> None:
        self.gap: PositionGap | None = None

    def look(self, after: int, source: Source) -> Found:
        """The events that are right behind a position, in order. None of them while `gap` says who may come between."""
        page = source.behind(after, MOST)
        whole = unbroken(after, (row[0] for row in page))
        if whole or not page:
            self.gap = None
            return Found(followed(page[:whole]), after + whole)
        if self.gap is None or self.gap.after != after:
            self.gap = PositionGap(after, page[-1][0], source.holders())
        elif self.gap.holders:
            self.gap = self.gap._replace(holders=self.gap.holders.still(source.holders()))
        if self.gap.holders:
            return Found([], after)
        page, end = source.behind(after, self.gap.end), self.gap.end
        self.gap = None
        return Found(followed(page), page[-1][0]) if page else self.look(end, source)


def events_of(
    look: Callable[[PositionFollower, int], Found | None],
    after: int,
    bell: NoticeBell,
    before_waiting: Callable[[], None],
    stop: Stop | None,
    timeout: float | None,
) -> Iterator[Followed]:
    """What `look` finds behind a position, and then behind that, until it is stopped, nothing has come for a while, or
    there is nothing to look at any more."""
    follower = PositionFollower()
    heard = monotonic()
    with bell.listening() as rung:
        while stop is None or not stop.is_set():
            found = look(follower, after)
            if found is None:
                return
            for each in found.events:
                yield each
                if stop is not None and stop.is_set():
                    return
            now = monotonic()
            after = max(after, found.position)  # which others' events move as well
            if found.events:
                heard = now
            elif follower.gap is not None:
                rung.acquire(timeout=SETTLING)
            elif timeout is not None and now - heard >= timeout:
                return
            else:
                before_waiting()
                look_at = now + bell.trust
                _wait(rung, look_at if timeout is None else min(look_at, heard + timeout), stop)


def _wait(rung: Lock, until: float, stop: Stop | None) -> None:
    """Wait for the bell, or until it is time to look anyway, or to stop."""
    while (left := until - monotonic()) > 0 and (stop is None or not stop.is_set()):
        if rung.acquire(timeout=left if stop is None else min(left, GLANCE)):
            return
