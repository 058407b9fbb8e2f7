"""Delivering appends from the folder where they wait to the journal's server: in order, each of them once.

One process at a time delivers. Each append has a key, so an append that is delivered twice is written once. If the
connection broke before the server answered the first attempt, delivery looks for those events first. An append that
can't be written is set aside, and a `Gap` takes its place: it holds up no other.

An append may name earlier events by their provisional numbers. It has their keys as well, so the server has the real
numbers, whichever process delivered those events.
"""

from collections.abc import Callable, Iterable
from functools import cache, partial
from time import monotonic, time_ns
from typing import Final, TypeAlias

from msgspec.structs import replace

from planwire.errors import Conflict, JournalError, JournalUnavailable, reason
from planwire.journal.away.born_steps import BornSteps, RealStep, with_real_steps
from planwire.journal.away.folder import AwayFolder
from planwire.journal.away.records import WaitingAppend, read_waiting
from planwire.journal.codec import decode, encode
from planwire.journal.drainer_lock import DrainerLock
from planwire.journal.protocol import Journal, Once, Stamped
from planwire.journal.provisional import Doubt, RealNumber, is_provisional, resolved
from planwire.journal.spool import Lost, Segment, Spooled
from planwire.journal.unusable import UNUSABLE
from planwire.journal.view import state_at
from planwire.model.events import Gap, Recorded
from planwire.model.plan import PlanId
from planwire.model.records import PLANWIRE

__all__ = ["AwayDelivery"]

#: Seconds until it is noted again how far a delivery is, for the next process if this one is killed.
NOTE: Final = 1.0
#: What gives the events of an append, by its doubt and its key.
_Found: TypeAlias = Callable[[Doubt | None, Once], tuple[Recorded, ...]]
_CUT_SHORT: Final = "the spool for the journal's server was full, or a writer was cut short"
_UNWRITABLE: Final = "what waited for the journal's server could not be written"


class AwayDelivery:
    """Delivers what waits in a folder. One thread at a time may use it."""

    def __init__(self, folder: AwayFolder) -> None:
        self._folder = folder
        self._lock = DrainerLock(folder.path)
        self._ends: dict[str, tuple[int, int]] = {}  # the last number and time of sessions
        self._born: dict[str, BornSteps] = {}  # the steps that sessions got since the first waiting event
        self._begun = ("", 0)  # a segment, and how many of its records are delivered

    def deliver(self, engine: Journal, until: float) -> bool:
        """Deliver what waits until the time `until` (`monotonic`), unless another process is doing so. Whether nothing
        waits any more. `JournalUnavailable` if the server goes away meanwhile, or the waiting files can't be used."""
        if self._folder.is_empty():
            return True
        try:
            with self._lock as is_held:
                is_done = is_held
                while is_done and not self._folder.is_empty():
                    is_done = self._deliver_all(engine, until)
        except OSError as error:
            where = f"{error.filename or self._folder.path}: {reason(error)}"
            raise JournalUnavailable(
                f"what waits on this machine can't be delivered ({where}): its files must be this user's own"
            ) from error
        finally:
            self._born.clear()
        self._ends.clear()
        return self._folder.is_empty()

    def _deliver_all(self, engine: Journal, until: float) -> bool:
        """Deliver the segments that exist now. Whether there were any, and time for all of them."""
        is_done = False
        for segment in self._folder.spool.drain(self._lock):
            is_done = self._deliver_segment(engine, segment, until)
            if is_done:
                segment.done()
        return is_done

    def _deliver_segment(self, engine: Journal, segment: Segment, until: float) -> bool:
        if self._begun[0] != segment.name:
            self._begun = (segment.name, self._folder.delivered(segment.name))
        noted_at, is_done = monotonic(), False
        try:
            for n, given in enumerate(segment):
                if n >= self._begun[1]:
                    if not self._lock.is_held or (now := monotonic()) > until:
                        return False
                    if now > noted_at + NOTE:
                        self._folder.note_delivered(*self._begun)
                        noted_at = now
                    self._deliver(engine, given)
                    self._begun = (segment.name, n + 1)
            is_done = True
        finally:
            if not is_done:
                self._folder.note_delivered(*self._begun)
        return True

    def _deliver(self, engine: Journal, given: Spooled | Lost) -> None:
        session = given.note.get("session", "")
        try:
            if isinstance(given, Lost):
                self._leave_gap(engine, session, given.key, given.count, _CUT_SHORT)
            else:
                self._write(engine, read_waiting(given.body))
        except UNUSABLE:
            raise
        except Exception as error:  # whatever is wrong with this record, the others must not wait for ever
            body = given.body if isinstance(given, Spooled) else given.head
            self._folder.set_aside(session, given.key, body)
            try:
                self._leave_gap(engine, session, given.key, 1, f"{_UNWRITABLE}: {error}")
            except UNUSABLE:
                raise
            except JournalError:  # a damaged session can't take the gap either
                pass

    def _write(self, engine: Journal, waiting: WaitingAppend) -> None:
        session, once = waiting.session, waiting.once
        base = 0 if is_provisional(waiting.base) else waiting.base
        decoded = [decode(session, 0, *row) for row in waiting.rows]
        found = cache(partial(_found, engine, session))
        real, step = _real_numbers(found, waiting), self._real_steps(engine, found, waiting)
        events = [
            Stamped(each.at, each.by, with_real_steps(resolved(each.event, real, base), step)) for each in decoded
        ]
        written = _found(engine, session, waiting.doubt, once) if waiting.doubt else ()
        while not written:
            last, at = self._ends.get(session) or _end_of(engine, session)
            try:
                written = engine.append(session, _in_order(events, at), last, once)
            except Conflict:
                self._ends.pop(session, None)
                if waiting.doubt:  # a server that was silent may have written it just now
                    written = _found(engine, session, waiting.doubt, once)
        self._ends[session] = (written[-1].seq, written[-1].at)

    def _real_steps(self, engine: Journal, found: _Found, waiting: WaitingAppend) -> RealStep:
        """What gives the real ids of the steps that an append names."""
        meant = {(each.plan_id, each.id): each for each in waiting.steps}

        def real(plan_id: PlanId, step: str) -> str | None:
            if (wanted := meant.get((plan_id, step))) is None:
                return step
            events = found(wanted.place.doubt, wanted.place.once)[wanted.place.nth :]
            if not events:
                return None
            born = self._born_until(engine, waiting, events[0].seq)
            return born.id_of(plan_id, events[0].seq, wanted.content, wanted.nth)

        return real

    def _born_until(self, engine: Journal, waiting: WaitingAppend, seq: int) -> BornSteps:
        """The steps that a session got up to an event that was delivered. What is delivered names ever later events, so
        each is folded once."""
        session, before = waiting.session, min(waiting.base, seq - 1)
        born = self._born.get(session)
        if born is None or born.begun > before:
            born = self._born[session] = BornSteps(state_at(engine, session, before))
        if born.seq < seq:
            born.look(engine.read(session, born.seq, seq))
        return born

    def _leave_gap(self, engine: Journal, session: str, key: Once, count: int, why: str) -> None:
        """Record the loss of `count` records in their session, if it is known which that is."""
        if session:
            _, at = _end_of(engine, session)
            gap = Stamped(max(time_ns() // 1_000_000, at), PLANWIRE, Gap(count, why))
            engine.append(session, [gap], once=Once(f"gap:{key.source}", key.n))
            self._ends.pop(session, None)


def _real_numbers(found: _Found, waiting: WaitingAppend) -> RealNumber:
    """What gives the real numbers of the events that an append names."""

    def real(number: int) -> tuple[int, int] | None:
        place = waiting.places.get(number)
        events = found(place.doubt, place.once) if place else ()
        return (events[place.nth].seq, events[place.nth].at) if place and place.nth < len(events) else None

    return real


def _found(engine: Journal, session: str, doubt: Doubt | None, once: Once) -> tuple[Recorded, ...]:
    """The events of an append, which may be in doubt, if the server has them."""
    if (written := engine.append(session, (), once=once)) or doubt is None:
        return written
    count = len(doubt.rows)
    behind = list(engine.read(session, doubt.after, doubt.after + count if doubt.is_there else None))
    stored = [(each.at, each.by, _text(each)) for each in behind]
    for place in range(len(stored) - count + 1):
        if tuple(stored[place : place + count]) == doubt.rows:
            return tuple(behind[place : place + count])
    return ()


def _text(recorded: Recorded) -> str:
    [row] = encode(recorded.session, [Stamped(recorded.at, recorded.by, recorded.event)])
    return row.text


def _end_of(engine: Journal, session: str) -> tuple[int, int]:
    """The number and the time of a session's last event."""
    last = engine.last_seq(session)
    return last, max((each.at for each in engine.read(session, last - 1, last)), default=0)


def _in_order(events: Iterable[Stamped], earliest: int) -> list[Stamped]:
    """The events, with times moved forward so that none is before `earliest` or the event before it."""
    ordered: list[Stamped] = []
    for each in events:
        earliest = max(each.at, earliest)
        ordered.append(replace(each, at=earliest))
    return ordered
