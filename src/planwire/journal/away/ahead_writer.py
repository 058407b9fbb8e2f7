"""Appends while the server is away: checked, numbered, and put into the spool.

Appends that may wait (`may_wait`) go to the spool that all processes of this user share (`folder`), under provisional
numbers (`provisional`). Others are refused, and nothing of them is kept.
"""

import os
from collections import deque
from collections.abc import Sequence
from functools import partial
from itertools import count
from threading import RLock
from time import monotonic
from typing import Final
from weakref import WeakKeyDictionary

from planwire.errors import CannotWait, Conflict
from planwire.journal.away.born_steps import BornSteps, named_steps
from planwire.journal.away.folder import AwayFolder
from planwire.journal.away.known_here import KnownHere
from planwire.journal.away.last_known import LastKnown
from planwire.journal.away.records import WaitingAppend, WaitingStep
from planwire.journal.away.server import AwayServer
from planwire.journal.codec import EventRow, encode
from planwire.journal.may_wait import may_wait
from planwire.journal.protocol import Once, Stamped
from planwire.journal.provisional import AheadEvents, Doubt, deliverable, named_in, remark_in
from planwire.journal.unusable import closed
from planwire.journal.waiting import NOT_KNOWN
from planwire.model.events import Event, Recorded
from planwire.model.plan import PlanId
from planwire.model.records import SessionState

__all__ = ["NO_WAITING", "AheadWriter"]

NO_WAITING: Final = "Nothing was written: this can't wait on this machine"
_UNNAMED: Final = (
    "Nothing was written: remarks that wait on this machine get their ids when they are delivered, so this id may come "
    "to mean another remark. Try again after that"
)
_FULL: Final = "{} is full, or this user can't write to it"
#: How many keys of appends in doubt are remembered.
_MOST_DOUBTFUL: Final = 64


class AheadWriter:
    """Writes the waiting appends of one process. `lock` guards `known`."""

    def __init__(
        self, server: AwayServer, folder: AwayFolder, known: KnownHere, last_known: LastKnown, lock: RLock
    ) -> None:
        self._server = server
        self._folder = folder
        self._known = known
        self._last_known = last_known
        self._doubtful: deque[tuple[str, Once]] = deque(maxlen=_MOST_DOUBTFUL)
        self._lock = lock
        self._source = os.urandom(8).hex()
        self._numbers = count()
        self._born: WeakKeyDictionary[AheadEvents, BornSteps] = WeakKeyDictionary()

    def is_doubtful(self, session: str, once: Once) -> bool:
        """Whether the connection broke before the server answered an append with this key."""
        return (session, once) in self._doubtful

    def append(
        self,
        session: str,
        events: Sequence[Stamped],
        expected_seq: int | None,
        once: Once | None,
        *,
        in_doubt: bool = False,
    ) -> tuple[Recorded, ...]:
        """Have events wait. `in_doubt`: the server may have them, because the connection broke before it answered."""
        rows = encode(session, events)
        if in_doubt and once is not None:
            self._doubtful.append((session, once))
        with self._lock:
            if self._server.closing.is_set():
                raise closed()
            ahead = self._known.ahead_of(session)
            if ahead is not None and once is not None and once in ahead.keys:
                return ahead.keys[once]
            if not rows:
                return ()
            named = filter(None, (remark_in(row.event) for row in rows))
            is_unnamed = not all(self._is_certain(session, name) for name in named)
            if is_unnamed or not all(may_wait(row.event) for row in rows):
                if in_doubt:
                    raise self._server.absence(NOT_KNOWN)
                raise self._server.absence(_UNNAMED if is_unnamed else NO_WAITING, CannotWait)
            ahead = self._known.go_ahead(session, expected_seq, rows[0].at)
            if in_doubt:
                ahead.doubt(_doubt(expected_seq, ahead.base, rows), monotonic())
            if expected_seq not in (None, ahead.last):
                raise Conflict(session, expected_seq or 0, ahead.last)
            once, doubt = once or Once(f"away:{self._source}", next(self._numbers)), ahead.take_doubt(rows)
            self._wait(session, ahead, rows, once, doubt)
            return ahead.add(rows, once, doubt)

    def _is_certain(self, session: str, name: str) -> bool:
        """Whether the name of a remark means the same one when it is delivered. Remarks that wait get their names then,
        so while there are any, this holds only for those that this process has from the server."""
        ahead = self._known.ahead_of(session)
        if ahead is None or not ahead.has_remarks:
            return True
        known = self._last_known.state(session)
        return known is not None and known.seq <= ahead.base and known.remark(name) is not None

    def _wait(
        self, session: str, ahead: AheadEvents, rows: Sequence[EventRow], once: Once, doubt: Doubt | None
    ) -> None:
        recorded = [Recorded(session, n, row.at, row.by, row.event) for n, row in enumerate(rows, start=ahead.last + 1)]
        events = [deliverable(each, partial(self._is_certain, session)) for each in recorded]
        if any(event is not row.event for event, row in zip(events, rows, strict=True)):
            rows = encode(session, [Stamped(row.at, row.by, event) for event, row in zip(events, rows, strict=True)])
        texts = tuple((row.at, row.by, row.text) for row in rows)
        places = {n: place for row in rows for n in named_in(row.event) if (place := ahead.place(n)) is not None}
        waiting = WaitingAppend(session, ahead.base, texts, once, doubt, places, self._meant(session, ahead, events))
        if not self._folder.put(waiting):
            full = _FULL.format(self._folder.path)
            if doubt is None:
                raise self._server.absence(f"Nothing was written: {full}", CannotWait)
            ahead.doubt(doubt, monotonic())  # its writer may repeat it once there is room
            raise self._server.absence(f"{full}. {NOT_KNOWN}")

    def _meant(self, session: str, ahead: AheadEvents, events: Sequence[Event]) -> tuple[WaitingStep, ...]:
        """The steps that these events name and that waiting events added. Others have their ids from the server."""
        named = set[tuple[PlanId, str]]().union(*map(named_steps, events))
        if not named:
            return ()
        known, born = self._last_known.state(session) or SessionState(session), self._born.get(ahead)
        if born is None or born.begun != known.seq:  # since the last outage, this process has read the session anew
            born = self._born[ahead] = BornSteps(known)
        born.look(ahead.read(born.seq, None) or ())
        return tuple(born.meant(named, ahead.place))


def _doubt(expected_seq: int | None, base: int, rows: Sequence[EventRow]) -> Doubt:
    texts = tuple((row.at, row.by, row.text) for row in rows)
    return Doubt(base if expected_seq is None else expected_seq, expected_seq is not None, texts)
