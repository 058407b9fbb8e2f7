"""Positions in the order of commit: how a follower never passes by an event of a slower transaction.

A position is drawn from a sequence before its transaction commits. So a follower may see 7 while 6 is still to come,
and who then goes on behind 7 never sees 6. Every append therefore takes an advisory lock, shared with all others and
held until it commits, before it draws positions. Positions without a hole are in order whatever anyone does. At a hole,
the follower asks who holds the lock right then: whoever drew the missing position did so before the one behind it was
committed, and so holds the lock still or is done. Once those are gone, the follower looks again, and what is missing
then will never come: its transaction was rolled back, or its session forgotten.

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
    """A hole behind position `after`, seen when `end` was there already, and who could still fill it."""

    after: int
    end: int
    holders: Holders


def unbroken(after: int, positions: Iterable[int]) -> int:
    """How many of these positions go on right behind `after`, without a hole."""
    count = 0
    for count, position in enumerate(positions, start=1):
        if position != after + count:
            return count - 1
    return count


def holders(server: JournalServer, cursor: "Cursor[tuple[Any, ...]]") -> Holders:
    """Whoever holds the lock of appends now."""
    found: Sequence[Any] = cursor.execute(server.sql(_HOLDERS), (server.lock,), prepare=True).fetchall()
    return frozenset((pid, transaction) for pid, transaction in found)
