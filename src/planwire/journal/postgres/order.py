"""Positions in the order of commit: how a follower never skips the event of a slower transaction.

A transaction draws its position from a sequence before it commits. So a follower may see 7 while 6 is still to come,
and if it continued after 7, it would never see 6. Therefore every append takes an advisory lock before it draws
positions: shared with all other appends, and held until it commits. Positions without a gap are in order in any case.
At a gap, the follower asks which transactions hold the lock right then. The one that drew the missing position did so
before the next position was committed, so it either still holds the lock or is done. Once all of those are gone, the
follower looks again. What is missing then will never come: its transaction was rolled back, or its session forgotten.

Nobody waits for transactions that hold no such lock, whatever they do in the same database.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from psycopg import Cursor

from planwire.journal.postgres.server import JournalServer

__all__ = ["HOLD", "Holders", "PositionGap", "holders", "unbroken"]

#: Where a statement that writes events begins: a row that is there once the lock is held. `OFFSET 0` keeps PostgreSQL
#: from moving anything across it.
HOLD: Final = "(SELECT pg_advisory_xact_lock_shared(LOCK) OFFSET 0) held"

_HOLDERS: Final = """SELECT pid, virtualtransaction FROM pg_locks
    WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND ((classid::bigint << 32) | objid::bigint) = %b AND objsubid = 1 AND granted"""

#: Transactions under way. No other transaction ever has the same two.
Holders: TypeAlias = frozenset[tuple[int, str]]


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
    """The transactions that hold the lock of appends now."""
    found: Sequence[Any] = cursor.execute(server.sql(_HOLDERS), (server.lock,), prepare=True).fetchall()
    return frozenset((pid, transaction) for pid, transaction in found)
