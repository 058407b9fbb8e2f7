"""The folder on this machine where appends wait for a journal's server, and their delivery: in order, each one once.

All processes of a user share the folder: one spool (`spool`), and files with what they know of the outage (`outage`).
One process at a time delivers. Each append has a key, so an append that is delivered twice is written once. If the
connection broke before the server answered the first attempt, delivery looks for those events first. An append that
can't be written is set aside, and a `Gap` takes its place: it holds up no other. Events are delivered as they are. Only
their times may have to move, since time never runs backwards in a session; and if others wrote meanwhile, what a plan
closes and rewords is decided anew.
"""

import logging
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from time import monotonic, time_ns
from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from planwire.errors import Conflict, DamagedJournal, JournalUnavailable, UnstorableEvent, reason
from planwire.journal.away.outage import SharedOutage
from planwire.journal.codec import decode
from planwire.journal.drainer_lock import DrainerLock
from planwire.journal.protocol import Journal, Once, Stamped
from planwire.journal.spool import Lost, Segment, Spool, Spooled
from planwire.journal.spool_append import MOST, MOST_IN_A_RECORD
from planwire.journal.unusable import UNUSABLE
from planwire.journal.user_files import away_path
from planwire.journal.view import load_state
from planwire.journal.waiting import WaitingRecords
from planwire.model.clocks import is_plausible
from planwire.model.decide import decided
from planwire.model.events import FileSeen, Gap, PlanChanged, PlanSet, Recorded
from planwire.model.fold import fold
from planwire.model.names import named
from planwire.model.records import PLANWIRE, SessionState

#: Bytes that a record may take in the spool besides its body.
_BESIDES: Final = 20_000
_CUT_SHORT: Final = "the spool for the journal's server was full or is damaged, or a writer was cut short"
_ANYBODYS: Final = "it may have been of another session that waited there"
_UNREADABLE: Final = "what waited for the server is from another version of planwire, and stays on its machine"
_UNWRITABLE: Final = "what waited for the journal's server could not be written"

_log = logging.getLogger("planwire")


class WaitingAppend(Struct, frozen=True, array_like=True):
    """Events (time, author, text) of a session, to be written with the key `once`. Their writer knew the session up to
    the event `base`. If the append `is_lost`, the server may have it without that key: it did not answer."""

    session: str
    base: int
    rows: tuple[tuple[int, str, str], ...]
    once: Once
    is_lost: bool = False


_write_waiting: Final[Callable[[WaitingAppend], bytes]] = msgspec.msgpack.Encoder().encode
read_waiting: Final[Callable[[bytes], WaitingAppend]] = msgspec.msgpack.Decoder(WaitingAppend).decode


class AwayFolder(Spool):
    """A folder of waiting appends. It need not exist. One thread at a time may deliver."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, in_order=True)
        self.outage = SharedOutage(folder)
        self._lock = DrainerLock(folder)
        self._ends: dict[str, tuple[int, int]] = {}  # the last number and time of sessions

    def put(self, waiting: WaitingAppend) -> bool:
        """Have an append wait, synced to the disk. False if there is no room; then nothing is kept."""
        body = _write_waiting(waiting)
        most = 2 * len(body) + _BESIDES  # escaping can double it
        if len(body) > MOST_IN_A_RECORD or sum(size for _, size in self.sizes()) + most > MOST:
            return False
        return self.append({"session": waiting.session}, body, durable=True)

    def deliver(self, engine: Journal, until: float) -> bool:
        """Deliver what waits until the time `until` (`monotonic`), unless another process is doing so. Whether nothing
        waits any more. `JournalUnavailable` if the server goes away meanwhile, or the waiting files can't be used."""
        if self.is_empty():
            return True
        try:
            with self._lock as is_held:
                is_done = is_held
                while is_done and not self.is_empty():
                    is_done = self._deliver_all(engine, until)
        except OSError as error:
            where = f"{error.filename or self.folder}: {reason(error)}"
            raise JournalUnavailable(
                f"what waits on this machine can't be delivered ({where}): its files must be this user's own"
            ) from error
        self._ends.clear()
        return self.is_empty()

    def _deliver_all(self, engine: Journal, until: float) -> bool:
        """Deliver the segments that exist now. Whether there were any, and time for all of them."""
        is_done = False
        for segment in self.drain(self._lock):
            for given in segment:
                if not self._lock.is_held or monotonic() > until:
                    return False
                self._deliver(engine, given, segment)
                segment.note_drained(given)
            segment.done()
            is_done = True
        return is_done

    def _deliver(self, engine: Journal, given: Spooled | Lost, segment: Segment) -> None:
        session = given.note.get("session")
        try:
            if isinstance(given, Spooled):
                self._write(engine, read_waiting(given.body))
                return
            why = _CUT_SHORT
        except UNUSABLE:
            raise
        except Exception as error:  # whatever is wrong with this record, the others must not wait for ever
            self.set_aside(file_name(session or ""), given)
            why = _UNREADABLE if isinstance(error, msgspec.DecodeError) else f"{_UNWRITABLE}: {error}"
        notes = [given.note] if session else segment.notes()
        self._leave_gaps(engine, given, why, {each["session"]: None for each in notes if "session" in each})

    def _write(self, engine: Journal, waiting: WaitingAppend) -> None:
        session = waiting.session
        events = [decode(session, 0, *row) for row in waiting.rows]
        written: Sequence[Recorded] = ()
        while not (written or (written := _written_before(engine, waiting, events))):
            known = self._ends.get(session)
            last, at = known or _end_of(engine, session)
            is_behind = known is None and last != waiting.base
            now = _decided_anew(load_state(engine, session), events) if is_behind else events
            try:
                written = engine.append(session, _in_order(now, at), last, waiting.once)
            except Conflict:  # if it was lost, a server that was silent may have written it just now
                self._ends.pop(session, None)
        self._ends[session] = (written[-1].seq, written[-1].at)

    def _leave_gaps(self, engine: Journal, given: Spooled | Lost, why: str, sessions: Collection[str]) -> None:
        """Record a loss in its session, or in every session that it may have been of."""
        count = given.count if isinstance(given, Lost) else 1
        if not sessions:
            _log.warning("%d of the records that waited for the journal's server are lost: nobody knows whose", count)
        for session in sessions:
            with suppress(DamagedJournal, UnstorableEvent):  # a damaged session can't take the gap either
                _, at = _end_of(engine, session)
                gap = Gap(count, why if given.note else f"{why}; {_ANYBODYS}")
                stamped = Stamped(max(time_ns() // 1_000_000, at), PLANWIRE, gap)
                engine.append(session, [stamped], once=Once(f"gap:{given.key.source}", given.key.n))
            self._ends.pop(session, None)


def waiting_here(url: str) -> WaitingRecords:
    """What waits for a journal that can't be opened."""
    folder = AwayFolder(away_path(url))
    outage = folder.outage.known()
    return WaitingRecords(folder.count(), why=outage.why if outage else "")


def file_name(session: str) -> str:
    """A name for the files of a session. It is a hash, because an id may contain anything."""
    return sha256(session.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _written_before(engine: Journal, waiting: WaitingAppend, events: Sequence[Recorded]) -> Sequence[Recorded]:
    """The events of a lost append, if the server has them."""
    behind = [*engine.read(waiting.session, waiting.base)] if waiting.is_lost else []
    for place in range(len(behind) - len(events) + 1):
        found = behind[place : place + len(events)]
        if all(map(_is_same, found, events)):
            return found
    return ()


def _decided_anew(state: SessionState, events: Iterable[Recorded]) -> list[Recorded]:
    """The events, with what their plans close and reword decided on what others wrote meanwhile: an approval may be of
    other words. Ids stay."""
    ready: list[Recorded] = []
    for each in events:
        is_of_plan = isinstance(each.event, PlanSet | PlanChanged | FileSeen)
        ready.append(replace(each, event=decided(state, each.event, each.by)) if is_of_plan else each)
        state = fold(state, replace(ready[-1], seq=state.seq + 1))
    return ready


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
