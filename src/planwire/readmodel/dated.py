"""Sessions as the journal lists them, with times that the reader's clock can believe."""

from time import time_ns
from typing import Final

from msgspec.structs import replace

from planwire.journal import Journal, KnownSession
from planwire.model.clocks import is_plausible

#: How many of the newest events of a session are searched for the time of one.
SEARCHED: Final = 100


def newest_first(journal: Journal) -> list[KnownSession]:
    now = time_ns() // 1_000_000
    known = (dated(journal, each, now) for each in journal.sessions())
    return sorted(known, key=lambda session: session.last_at, reverse=True)


def dated(journal: Journal, known: KnownSession, now: int) -> KnownSession:
    """A session with times that the reader's clock can believe: a later one counts as that of the events before it. If
    there is none among the newest, nobody knows when it was, and the time stays."""
    if is_plausible(known.last_at, now):
        return known
    newest = [each.at for each in journal.read(known.id, max(known.last_seq - SEARCHED, 0))]
    last_at = max((at for at in (known.first_at, *newest) if is_plausible(at, now)), default=known.last_at)
    return replace(known, first_at=min(known.first_at, last_at), last_at=last_at)
