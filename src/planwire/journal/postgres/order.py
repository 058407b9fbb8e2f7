"""Positions in the order of commit: how a follower never skips the event of a slower transaction.

A transaction draws its position from a sequence before it commits. So a follower may see 7 while 6 is still to come,
and if it continued after 7, it would never see 6. Therefore every append takes an advisory lock before it draws
positions: shared with all other appends, and held until it commits. Positions without a gap are in order in any case.
At a gap, the follower asks which transactions hold the lock right then. The one that drew the missing position did so
before the next position was committed, so it either still holds the lock or is done. Once all of those holders are
gone, the follower looks again. A position that is still missing will never come: its transaction was rolled back, or
its session forgotten.

Transactions that do not hold the lock delay nobody, whatever they do in the same database.

A standby does not show the locks of its primary, only the number of the oldest transaction that is under way there. At
a gap, a follower of a standby waits until all transactions that had begun are over, also those of other programs, but
no longer than an append can last.
"""

from collections.abc import Callable
from time import monotonic
from typing import Any, Final, NamedTuple

from psycopg import Cursor

from planwire.journal.postgres.server import JournalServer
from planwire.journal.store import TailPage, TailRow

#: The largest number that PostgreSQL keeps.
MOST: Final = 2**63 - 1

#: Seconds between two looks whether slower writers are done.
SETTLING: Final = 0.002
#: Seconds for which a standby may not know yet of a transaction that has drawn its position; and the longest that an
#: append can be under way: the server ends its statement, or an idle transaction, sooner.
UNKNOWN: Final = 0.25
LONGEST_APPEND: Final = 12.0

_HOLDERS: Final = """SELECT pid, virtualtransaction FROM pg_locks
    WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND ((classid::bigint << 32) | objid::bigint) = %b AND objsubid = 1 AND granted
    UNION ALL SELECT NULL, pg_current_snapshot()::text WHERE pg_is_in_recovery()"""


class _Primary(NamedTuple):
    """What a standby knows of its primary's transactions: all before `oldest` are over. The transactions waited for are
    those before `end`, once that `is_certain`. The wait began at `since`; the last look was at `now`."""

    oldest: int
    end: int
    since: float
    now: float
    is_certain: bool = False

    def is_over(self) -> bool:
        return self.now - self.since >= LONGEST_APPEND or (self.is_certain and self.oldest >= self.end)

    def still(self, found: "_Primary") -> "_Primary":
        end = self.end if self.is_certain else found.end
        return _Primary(found.oldest, end, self.since, found.now, found.now - self.since >= UNKNOWN)


class Holders(NamedTuple):
    """Transactions under way: those that hold the lock, by a pair of ids that is never used again; on a standby, those
    of its primary."""

    locks: frozenset[tuple[int, str]] = frozenset()
    primary: _Primary | None = None

    def __bool__(self) -> bool:
        return bool(self.locks) or not (self.primary is None or self.primary.is_over())

    def still(self, found: "Holders") -> "Holders":
        """Those of them that a later look still `found`. If that look met another server, all that it found."""
        if self.primary is None or found.primary is None:
            return found if self.primary is not found.primary else Holders(self.locks & found.locks)
        return Holders(primary=self.primary.still(found.primary))


def holders(server: JournalServer, cursor: "Cursor[tuple[Any, ...]]") -> Holders:
    """The transactions that hold the lock of appends now, or may hold it on the primary of a standby."""
    locks, primary = set(), None
    for pid, transaction in cursor.execute(server.sql(_HOLDERS), (server.lock,), prepare=True).fetchall():
        if pid is None:
            oldest, end, _ = transaction.split(":")
            primary = _Primary(int(oldest), int(end), now := monotonic(), now)
        else:
            locks.add((pid, transaction))
    return Holders(frozenset(locks), primary)


class PositionFollower:
    """Looks for rows after a position, again and again. `behind` gives the rows after one position up to another,
    `holders` the transactions under way."""

    def __init__(self, after: int, behind: Callable[[int, int], list[TailRow]], holders: Callable[[], Holders]) -> None:
        self._after = after
        self._behind = behind
        self._holders = holders
        self._gap: tuple[int, Holders] | None = None  # a position behind a gap, and who could still fill the gap
        self.had: TailRow | None = None  # the last row that was given
        self._was_short = False

    def look(self) -> TailPage:
        """The rows right after the position, in order; none while slower writers could still fill a gap there."""
        page = self._behind(self._after, MOST)
        whole = sum(row.position == self._after + n for n, row in enumerate(page, start=1))
        if page and not whole:
            end, waiting = self._gap or (page[-1].position, self._holders())
            self._gap = end, waiting.still(self._holders()) if self._gap and waiting else waiting
            if self._gap[1]:
                return TailPage([], self._after, is_end=False)
            page = self._behind(self._after, end)
            whole = len(page)
            self._after = self._after if page else end
        self._gap = None
        if whole:
            self.had = page[whole - 1]
            self._after = self.had.position
        return TailPage(page[:whole], self._after, is_end=not page)

    def has_lost(self, last: Callable[[], int]) -> bool:
        """Whether the journal has another row in the place of the last one, or ends before it, and did so the last
        time: another standby may lag behind. A forgotten row is not missed."""
        if self.had is None:
            return False
        found = self._behind(self.had.position - 1, self.had.position)
        was_short, self._was_short = self._was_short, not found and last() < self.had.position
        return (was_short and self._was_short) or found not in ([], [self.had])
