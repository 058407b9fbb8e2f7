"""Delivering appends from the folder where they wait to the journal's server: in order, each of them once.

One process at a time delivers. Each append has a key, either its writer's own or its place in the spool, so an append
that is delivered twice is written once. If the connection broke before the server answered the first attempt, delivery
looks for those events first. An append that can't be written is set aside, and a `Gap` takes its place: it holds up no
other.

What still waits may name delivered events by their provisional numbers. So the real numbers are kept beside it, for the
next process that delivers.
"""

from collections.abc import Iterable
from time import monotonic, time_ns
from typing import Final

from msgspec.structs import replace

from planwire.errors import Conflict, JournalError, JournalUnavailable, reason
from planwire.journal.away.folder import AwayFolder, RealNumbers
from planwire.journal.away.records import WaitingAppend, read_waiting
from planwire.journal.codec import decode, encode
from planwire.journal.drainer_lock import DrainerLock
from planwire.journal.protocol import Journal, Once, Stamped
from planwire.journal.provisional import Doubt, is_provisional, resolved
from planwire.journal.spool import Lost, Segment, Spooled
from planwire.model.events import Gap, Recorded
from planwire.model.records import PLANWIRE

__all__ = ["AwayDelivery"]

_CUT_SHORT: Final = "the spool for the journal's server was full, or a writer was cut short"
_UNWRITABLE: Final = "what waited for the journal's server could not be written"
#: How many writers' numbers are remembered.
_MOST_WRITERS: Final = 1_000


class AwayDelivery:
    """Delivers what waits in a folder. One thread at a time may use it."""

    def __init__(self, folder: AwayFolder) -> None:
        self._folder = folder
        self._lock = DrainerLock(folder.path)
        self._numbers: RealNumbers = {}
        self._ends: dict[str, tuple[int, int]] = {}  # the last number and time of sessions
        self._begun = ("", 0)  # a segment, and how many of its records are delivered

    def deliver(self, engine: Journal, until: float) -> bool:
        """Deliver what waits until the time `until` (`monotonic`), unless another process is doing so. Whether nothing
        waits any more. `JournalUnavailable` if the server goes away meanwhile, or the waiting files can't be used."""
        if self._folder.is_empty():
            return True
        try:
            with self._lock as is_held:
                is_done = is_held
                if is_held:
                    self._recall_numbers()
                while is_done and not self._folder.is_empty():
                    is_done = self._deliver_all(engine, until)
                if is_done:
                    self._folder.drop_numbers()
        except OSError as error:
            where = f"{error.filename or self._folder.path}: {reason(error)}"
            raise JournalUnavailable(
                f"what waits on this machine can't be delivered ({where}): its files must be this user's own"
            ) from error
        self._ends.clear()
        return self._folder.is_empty()

    def _recall_numbers(self) -> None:
        for key, numbers in self._folder.numbers().items():
            self._numbers[key] = numbers | self._numbers.get(key, {})

    def _deliver_all(self, engine: Journal, until: float) -> bool:
        """Deliver the segments that exist now. Whether there were any, and time for all of them."""
        is_done = False
        for segment in self._folder.spool.drain(self._lock):
            is_done = self._deliver_segment(engine, segment, until)
            if is_done:
                self._folder.keep_numbers(self._numbers)
                segment.done()
        return is_done

    def _deliver_segment(self, engine: Journal, segment: Segment, until: float) -> bool:
        done = self._begun[1] if self._begun[0] == segment.name else 0
        for n, given in enumerate(segment):
            if n >= done:
                if not self._lock.is_held or monotonic() > until:
                    return False
                self._deliver(engine, given)
                self._begun = (segment.name, n + 1)
        return True

    def _deliver(self, engine: Journal, given: Spooled | Lost) -> None:
        session = given.note.get("session", "")
        try:
            if isinstance(given, Lost):
                self._leave_gap(engine, session, given.key, given.count, _CUT_SHORT)
            else:
                self._write(engine, read_waiting(given.body), given.key)
        except JournalUnavailable:
            raise
        except Exception as error:  # whatever is wrong with this record, the others must not wait for ever
            body = given.body if isinstance(given, Spooled) else given.head
            self._folder.set_aside(session, given.key, body)
            try:
                self._leave_gap(engine, session, given.key, 1, f"{_UNWRITABLE}: {error}")
            except JournalUnavailable:
                raise
            except JournalError:  # a damaged session can't take the gap either
                pass

    def _write(self, engine: Journal, waiting: WaitingAppend, key: Once) -> None:
        session, once = waiting.session, waiting.once or key
        numbers = self._numbers.setdefault((waiting.writer, session), {})
        base = 0 if is_provisional(waiting.base) else waiting.base
        decoded = [decode(session, n, *row) for n, row in enumerate(waiting.rows, start=waiting.first)]
        events = [Stamped(each.at, each.by, resolved(each.event, numbers, base)) for each in decoded]
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
        numbers.update(enumerate(((each.seq, each.at) for each in written), start=waiting.first))
        if len(self._numbers) > _MOST_WRITERS:
            self._numbers.pop(next(iter(self._numbers)))

    def _leave_gap(self, engine: Journal, session: str, key: Once, count: int, why: str) -> None:
        """Record the loss of `count` records in their session, if it is known which that is."""
        if session:
            _, at = _end_of(engine, session)
            gap = Stamped(max(time_ns() // 1_000_000, at), PLANWIRE, Gap(count, why))
            engine.append(session, [gap], once=Once(f"gap:{key.source}", key.n))
            self._ends.pop(session, None)


def _found(engine: Journal, session: str, doubt: Doubt, once: Once) -> tuple[Recorded, ...]:
    """The events of an append in doubt, if the server has them."""
    if written := engine.append(session, (), once=once):
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
