"""The folder on this machine where appends wait for a journal's server, and their delivery: in order, each one once.

All processes of a user share the folder: one spool (`spool`), and files with what they know of the outage (`outage`).
One process at a time delivers. Each append has a key, so an append that is delivered twice is written once. If the
connection broke before the server answered the first attempt, delivery looks for those events first. An append that
can't be written is set aside, and a `Gap` takes its place: it holds up no other. Events are delivered as they are; only
their times may have to move, since time never runs backwards in a session.
"""

import logging
import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from time import monotonic, time_ns
from typing import Final

import msgspec
from msgspec import Struct

from planwire.errors import Conflict, DamagedJournal, JournalError, JournalUnavailable, UnstorableEvent, reason
from planwire.journal.away.outage import SharedOutage
from planwire.journal.codec import decode
from planwire.journal.drainer_lock import DrainerLock
from planwire.journal.protocol import Journal, Once, Stamped
from planwire.journal.spool import ASIDE, SEALED, SEALED_LOSSES, Lost, Segment, Spool, Spooled
from planwire.journal.spool_append import LATE, MOST, MOST_IN_A_RECORD, SPOOL, put
from planwire.journal.unusable import UNUSABLE
from planwire.journal.user_files import away_path
from planwire.journal.waiting import WaitingRecords
from planwire.model.events import Gap, Recorded
from planwire.model.names import named
from planwire.model.records import PLANWIRE

#: Bytes that a record may take in the spool besides its body.
_BESIDES: Final = 20_000
_CUT_SHORT: Final = "the spool for the journal's server was full or is damaged, or a writer was cut short"
_ANYBODYS: Final = f"{_CUT_SHORT}; it may have been of another session that waited there"
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


class AwayFolder:
    """A folder of waiting appends. It need not exist."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.spool = Spool(path, in_order=True)
        self.outage = SharedOutage(path)
        self._counted: tuple[object, int] = ((), 0)

    def is_empty(self) -> bool:
        """Whether nothing waits. Cheap: it reads the names in one folder."""
        return self.spool.is_empty()

    def put(self, waiting: WaitingAppend) -> bool:
        """Have an append wait, synced to the disk. False if there is no room; then nothing is kept."""
        body = _write_waiting(waiting)
        most = 2 * len(body) + _BESIDES  # escaping can double it
        if len(body) > MOST_IN_A_RECORD or sum(size for _, size in self.sizes()) + most > MOST:
            return False
        return self.spool.append({"session": waiting.session}, body, durable=True)

    def set_aside(self, session: str, given: Spooled | Lost) -> None:
        """Keep a record that can't be written, under a name that no delivery picks up."""
        body = given.body if isinstance(given, Spooled) else given.head
        with suppress(OSError):
            put(str(self.path), f"{_aside(session)}{given.key.source}-{given.key.n}", body)

    def forget(self, *sessions: str) -> None:
        """Remove the records of sessions that were set aside."""
        names = tuple(map(_aside, sessions))
        with suppress(FileNotFoundError):
            for each in os.listdir(self.path) if names else ():  # noqa: PTH208  (names are all it takes)
                if each.removeprefix(".").startswith(names):  # with a dot: a draft
                    (self.path / each).unlink(missing_ok=True)

    def count(self) -> int:
        """How many records wait. It reads them only if something changed since the last time. A file that can't be read
        counts as one, since it is not nothing."""
        found = self.sizes()
        if found != self._counted[0]:
            self._counted = (found, self.spool.count())
        return self._counted[1]

    def sizes(self) -> list[tuple[str, int]]:
        """The files in which records wait, with their sizes. They differ once anything changes."""
        with suppress(OSError):
            names = sorted(os.listdir(self.path))  # noqa: PTH208  (names are all it takes)
            there = [each for each in names if each == SPOOL or each.startswith((SEALED, SEALED_LOSSES, LATE))]
            return [(each, _size(self.path / each)) for each in there]
        return []


def waiting_here(url: str) -> WaitingRecords:
    """What waits for a journal that can't be opened."""
    folder = AwayFolder(away_path(url))
    outage = folder.outage.known()
    return WaitingRecords(folder.count(), why=outage.why if outage else "")


def file_name(session: str) -> str:
    """A name for the files of a session. It is a hash, because an id may contain anything."""
    return sha256(session.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _aside(session: str) -> str:
    """How the names of a session's set-aside files begin."""
    return f"{ASIDE}{file_name(session)}-"


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


class AwayDelivery:
    """Delivers what waits in a folder. One thread at a time may use it."""

    def __init__(self, folder: AwayFolder) -> None:
        self._folder = folder
        self._lock = DrainerLock(folder.path)
        self._ends: dict[str, tuple[int, int]] = {}  # the last number and time of sessions

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
            for given in segment:
                if not self._lock.is_held or monotonic() > until:
                    return False
                self._deliver(engine, given, segment)
                segment.note_drained(given)
            segment.done()
            is_done = True
        return is_done

    def _deliver(self, engine: Journal, given: Spooled | Lost, segment: Segment) -> None:
        session = given.note.get("session", "")
        try:
            if isinstance(given, Spooled):
                self._write(engine, read_waiting(given.body))
            elif session:
                self._leave_gap(engine, session, given, _CUT_SHORT)
            else:
                self._leave_gap_in_all(engine, given, segment)
        except UNUSABLE:
            raise
        except Exception as error:  # whatever is wrong with this record, the others must not wait for ever
            self._folder.set_aside(session, given)
            try:
                self._leave_gap(engine, session, given, f"{_UNWRITABLE}: {error}")
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

    def _leave_gap(self, engine: Journal, session: str, given: Spooled | Lost, why: str) -> None:
        """Record a loss in its session."""
        count = given.count if isinstance(given, Lost) else 1
        _, at = _end_of(engine, session)
        gap = Stamped(max(time_ns() // 1_000_000, at), PLANWIRE, Gap(count, why))
        engine.append(session, [gap], once=Once(f"gap:{given.key.source}", given.key.n))
        self._ends.pop(session, None)

    def _leave_gap_in_all(self, engine: Journal, lost: Lost, segment: Segment) -> None:
        """Record a loss in every session that it may have been of."""
        sessions = {note["session"]: None for note in segment.notes() if "session" in note}
        for session in sessions:
            with suppress(DamagedJournal, UnstorableEvent):
                self._leave_gap(engine, session, lost, _ANYBODYS)
        where = f"each of their {len(sessions)} sessions has a gap" if sessions else "nobody knows of which session"
        _log.warning("records that waited for the journal's server are lost (%d): %s", lost.count, where)


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
    """The number and the time of a session's last event."""
    last = engine.last_seq(session)
    return last, max((each.at for each in engine.read(session, last - 1, last)), default=0)


def _in_order(events: Iterable[Recorded], earliest: int) -> list[Stamped]:
    """The events, with times moved forward so that none is before `earliest` or the event before it."""
    ordered: list[Stamped] = []
    for each in events:
        earliest = max(each.at, earliest)
        ordered.append(Stamped(earliest, each.by, each.event))
    return ordered
