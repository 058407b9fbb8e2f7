"""Appends while the server is away: checked, numbered, and put into the spool.

Appends that may wait (`may_wait`) go to the spool that all processes of this user share (`folder`). Others are refused,
and nothing of them is kept.

What waits is delivered as it is. The ids in it are final: while the server is away, writers give new steps and remarks
ids with a suffix of their own. A writer that decided before it knew of the outage gets a `Conflict`, and decides anew.
Only an append whose answer was lost keeps its ids, because the server may have it. Names of messages are written into
the events. References to other events by number go no further than what the server had (`_within`).
"""

import os
from collections import deque
from collections.abc import Sequence
from itertools import count
from threading import RLock
from typing import Any, Final

from msgspec.structs import replace

from planwire.errors import CannotWait, Conflict, JournalUnavailable
from planwire.journal.away.delivery import AwayFolder, WaitingAppend
from planwire.journal.away.known_here import AheadEvents, KnownHere
from planwire.journal.away.server import AwayServer
from planwire.journal.codec import encode
from planwire.journal.may_wait import can_wait
from planwire.journal.protocol import Once, Stamped
from planwire.journal.unusable import closed
from planwire.journal.waiting import NOT_KNOWN, is_waiting
from planwire.model.events import ContextCompacted, Event, PlanReviewed, Recorded, Remarked, Told
from planwire.model.names import named

NO_WAITING: Final = "Nothing was written: this can't wait on this machine"
_FULL: Final = "{} is full, or this user can't write to it"
#: The fields that refer to events by number.
_NUMBERS: Final[dict[type, tuple[str, ...]]] = {
    Told: ("upto", "since"),
    Remarked: ("revision", "review"),
    PlanReviewed: ("revision",),
    ContextCompacted: ("written",),
}
#: How many keys of lost appends are remembered.
_MOST_LOST: Final = 64


class AheadWriter:
    """Writes the waiting appends of one process. `lock` guards `known`."""

    def __init__(self, server: AwayServer, folder: AwayFolder, known: KnownHere, lock: RLock) -> None:
        self._server = server
        self._folder = folder
        self._known = known
        self._lock = lock
        self._lost: deque[tuple[str, Once | None]] = deque(maxlen=_MOST_LOST)
        self._source = os.urandom(8).hex()
        self._numbers = count()

    def is_lost(self, session: str, once: Once | None) -> bool:
        """Whether it is unknown if the server has what was appended with a key and could not wait."""
        return once is not None and (session, once) in self._lost

    def append(
        self,
        session: str,
        events: Sequence[Stamped],
        expected_seq: int | None,
        once: Once | None,
        *,
        is_lost: bool = False,
    ) -> tuple[Recorded, ...]:
        """Have events wait. `is_lost`: the server may have them, because the connection broke before it answered."""
        encode(session, events)
        with self._lock:
            if self._server.closing.is_set():
                raise closed()
            known = self._known.ahead_of(session)
            if known is not None and once is not None and once in known.keys:
                return known.keys[once]
            if not events:
                return ()
            if not can_wait(events):
                raise self._refusal(session, once, is_lost=is_lost)
            ahead = self._known.go_ahead(session, expected_seq, None if is_lost else events[0].at)
            if not is_lost and expected_seq not in (None, ahead.last):
                raise Conflict(session, expected_seq or 0, ahead.last)
            last = expected_seq if is_lost else ahead.last
            if last is not None:
                events = [_named(session, seq, each) for seq, each in enumerate(events, start=last + 1)]
            waiting = self._record(session, ahead, events, once, is_lost=is_lost)
            is_kept = self._folder.put(waiting)
            added = ahead.add(events, waiting.once) if is_kept else ()
            if is_lost:
                ahead.mark(events[-1].at)
            if not is_kept:
                raise self._refusal(session, once, _FULL.format(self._folder.path), is_lost=is_lost)
            return added

    def _refusal(self, session: str, once: Once | None, why: str = "", *, is_lost: bool) -> JournalUnavailable:
        """The error for events that are not kept."""
        if is_lost and once is not None:
            self._lost.append((session, once))
        if is_lost or self.is_lost(session, once):
            return self._server.absence(f"{why}. {NOT_KNOWN}" if why else NOT_KNOWN)
        return self._server.absence(f"Nothing was written: {why}" if why else NO_WAITING, CannotWait)

    def _record(
        self, session: str, ahead: AheadEvents, events: Sequence[Stamped], once: Once | None, *, is_lost: bool
    ) -> WaitingAppend:
        base = 0 if is_waiting(ahead.base) else ahead.base
        rows = encode(session, [replace(each, event=_within(each.event, base)) for each in events])
        texts = tuple((row.at, row.by, row.text) for row in rows)
        key = once or Once(f"away:{self._source}", next(self._numbers))
        return WaitingAppend(session, base, texts, key, is_lost and once is None)


def _named(session: str, seq: int, stamped: Stamped) -> Stamped:
    return replace(stamped, event=named(Recorded(session, seq, stamped.at, stamped.by, stamped.event)))


def _within(event: Event, base: int) -> Event:
    """An event that refers to no number of an event that waits, but to the last one that its writer had from the
    server: `base`. So what others say meanwhile never counts as told, and at worst the agent is told something again.
    """
    return replace(event, **{each: _clamped(getattr(event, each), base) for each in _NUMBERS.get(type(event), ())})


def _clamped(value: Any, base: int) -> Any:
    match value:
        case int():
            return base if is_waiting(value) else value
        case list() | tuple():
            return type(value)(_clamped(each, base) for each in value)
        case dict():
            return {key: _clamped(each, base) for key, each in value.items()}
    return value
