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

from collections.abc import Iterable
from time import monotonic
from typing import Any, Final, NamedTuple

from psycopg import Cursor

from planwire.journal.postgres.server import JournalServer

#: The first source of rows in a statement that writes events: one row, which is there once the lock is held. `OFFSET 0`
#: keeps PostgreSQL from moving anything across it.
HOLD: Final = "(SELECT pg_advisory_xact_lock_shared(LOCK) OFFSET 0) held"

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


class PositionGap(NamedTuple):
    """A gap after position `after`, seen when `end` was there already, and who could still fill it."""

    after: int
    end: int
    holders: Holders


def unbroken(after: int, positions: Iterable[int]) -> int:
    """How many of these positions continue right after `after`, without a gap."""
    count = 0
    for count, position in enumerate(positions, start=1):
        if position != after + count:
            return count - 1
    return count


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
