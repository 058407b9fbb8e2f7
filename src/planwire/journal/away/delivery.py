"""Delivering appends from the folder where they wait to the journal's server: in order, each of them once.

One process at a time delivers. Each append has a key, so an append that is delivered twice is written once. If the
connection broke before the server answered the first attempt, delivery looks for those events first. An append that
can't be written is set aside, and a `Gap` takes its place: it holds up no other. Events are delivered as they are; only
their times may have to move, since time never runs backwards in a session.
"""

from collections.abc import Iterable, Sequence
from time import monotonic, time_ns
from typing import Final

from planwire.errors import Conflict, JournalError, JournalUnavailable, reason
from planwire.journal.away.folder import AwayFolder, WaitingAppend, read_waiting
from planwire.journal.codec import decode
from planwire.journal.drainer_lock import DrainerLock
from planwire.journal.protocol import Journal, Once, Stamped
from planwire.journal.spool import Lost, Segment, Spooled
from planwire.journal.unusable import UNUSABLE
from planwire.model.clocks import is_plausible
from planwire.model.events import Gap, Recorded
from planwire.model.names import named
from planwire.model.records import PLANWIRE

#: Seconds until it is noted again how far a delivery is, for the next process if this one is killed.
NOTE: Final = 1.0
_CUT_SHORT: Final = "the spool for the journal's server was full, or a writer was cut short"
_UNWRITABLE: Final = "what waited for the journal's server could not be written"


class AwayDelivery:
    """Delivers what waits in a folder. One thread at a time may use it."""

    def __init__(self, folder: AwayFolder) -> None:
        self._folder = folder
        self._lock = DrainerLock(folder.path)
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
                while is_done and not self._folder.is_empty():
                    is_done = self._deliver_all(engine, until)
        except OSError as error:
            where = f"{error.filename or self._folder.path}: {reason(error)}"
            raise JournalUnavailable(
                f"what waits on this machine can't be delivered ({where}): its files must be this user's own"
            ) from error
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
        session = waiting.session
        events = [decode(session, 0, *row) for row in waiting.rows]
        written: Sequence[Recorded] = ()
        while not (written or (written := _written_before(engine, waiting, events))):
            last, at = self._ends.get(session) or _end_of(engine, session)
            try:
                written = engine.append(session, _in_order(events, at), last, waiting.once)
            except Conflict:  # if it was lost, a server that was silent may have written it just now
                self._ends.pop(session, None)
        self._ends[session] = (written[-1].seq, written[-1].at)

    def _leave_gap(self, engine: Journal, session: str, key: Once, count: int, why: str) -> None:
        """Record the loss of `count` records in their session, if it is known which that is."""
        if session:
            _, at = _end_of(engine, session)
            gap = Stamped(max(time_ns() // 1_000_000, at), PLANWIRE, Gap(count, why))
            engine.append(session, [gap], once=Once(f"gap:{key.source}", key.n))
            self._ends.pop(session, None)


def _written_before(engine: Journal, waiting: WaitingAppend, events: Sequence[Recorded]) -> Sequence[Recorded]:
    """The events of a lost append, if the server has them."""
    behind = [*engine.read(waiting.session, waiting.base)] if waiting.is_lost else []
    for place in range(len(behind) - len(events) + 1):
        found = behind[place : place + len(events)]
        if all(map(_is_same, found, events)):
            return found
    return ()


def _is_same(stored: Recorded, waiting: Recorded) -> bool:
    """Whether an event that the server has is the one that waits, which may say the name of its message."""
    is_stamped_alike = (stored.at, stored.by) == (waiting.at, waiting.by)
    return is_stamped_alike and waiting.event in (stored.event, named(stored))


def _end_of(engine: Journal, session: str) -> tuple[int, int]:
    """The number and the time of a session's last event; 0 for the time of a clock that is wrong."""
    last, now = engine.last_seq(session), time_ns() // 1_000_000
    times = (each.at for each in engine.read(session, last - 1, last))
    return last, max((at for at in times if is_plausible(at, now)), default=0)


def _in_order(events: Iterable[Recorded], earliest: int) -> list[Stamped]:
    """The events, with times moved forward so that none is before `earliest` or the event before it."""
    ordered: list[Stamped] = []
    for each in events:
        earliest = max(each.at, earliest)
        ordered.append(Stamped(earliest, each.by, each.event))
    return ordered
