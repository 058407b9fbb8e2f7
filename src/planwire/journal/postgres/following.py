"""Following a PostgreSQL journal: look, then look again when a notice comes or after a while of silence.

A notice only says that there may be something new. A look finds out what it is and in which order (see `order`).
A writer in the same process rings the bell, so its events show up at once. After a notice from a busy writer, a
follower looks unprompted, as often as one writer would prompt it, however many writers are busy.
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

#: Seconds after which a follower looks even without a notice: a writer may have died before it sent one.
TRUST: Final = 1.0
#: Seconds between two looks while a writer is busy.
BUSY_TRUST: Final = 0.015
#: Seconds between two checks whether to stop, and between two checks whether slower writers are done.
GLANCE: Final = 0.022
SETTLING: Final = 0.002


class NoticeBell(Bell):
    """A bell that also knows for how long its silence can be trusted."""

    def __init__(self) -> None:
        super().__init__()
        self._busy_until = 0.0

    @property
    def trust(self) -> float:
        """Seconds for which silence means that there is nothing new."""
        return BUSY_TRUST if monotonic() < self._busy_until else TRUST

    def expect_more(self, seconds: float) -> None:
        """Note that a writer is busy, and may write for so many seconds without ringing."""
        self._busy_until = monotonic() + seconds


class Source(NamedTuple):
    """What a follower asks the server: the events after one position up to another, and who is writing now."""

    behind: Callable[[int, int], list[Any]]
    holders: Callable[[], Holders]


class PositionFollower:
    """The state of one follower: the `gap` that it waits at, if any, and the last event that it had.

    If the journal ends before that one, or has another in its place, its tables were replaced or have lost events, and
    new ones may get positions that the follower has passed."""

    def __init__(self) -> None:
        self.gap: PositionGap | None = None
        self._had = 0
        self._event: tuple[bytes, int, int] | None = None  # what was there
        self._looked = 0.0
        self._was_short = False

    def note(self, found: Found) -> None:
        """Note what the follower got."""
        if found.events:
            last = found.events[-1]
            self._had = last.position
            self._event = last.recorded.session.encode(), last.recorded.seq, last.recorded.at

    def has_lost(self, event_at: Callable[[int], object], last: Callable[[], int]) -> bool:
        """Whether the journal has another event in the place of the last one, or ends before it, and did so the last
        time: another standby may lag behind. Asks only now and then; a forgotten event is not missed."""
        if not self._had or monotonic() - self._looked < TRUST:
            return False
        self._looked = monotonic()
        found = event_at(self._had)
        was_short, self._was_short = self._was_short, found is None and last() < self._had
        return (was_short and self._was_short) or found not in (None, self._event)

    def look(self, after: int, source: Source) -> Found:
        """The events right after a position, in order; none while slower writers could still fill a gap there."""
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
    """Yield what `look` finds after a position, and go on from there. Ends when `stop` is set, when nothing has come
    for `timeout` seconds, or when the journal is closed."""
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
            follower.note(found)
            now = monotonic()
            after = max(after, found.position)  # events of other sessions move it, too
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
    """Wait until the bell rings, it is time to look anyway, or `stop` is set."""
    while (left := until - monotonic()) > 0 and (stop is None or not stop.is_set()):
        if rung.acquire(timeout=left if stop is None else min(left, GLANCE)):
            return
