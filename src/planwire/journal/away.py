"""A journal whose server can be away: this process works on, and what it records waits on this machine.

While the server answers, every call goes to it, and costs the names in one folder more. When it does not, appends that
may wait (`may_wait`) go to a spool that all processes of this user share (`away_folder`), under provisional numbers
(`provisional`); those that may not raise `EngineAway`. What this process knows it can still read, at least the end of
it; everything else raises `EngineAway`, too. A thread looks every second whether the server is back, and delivers what
waits (`away_delivery`). Until all of it is delivered, new appends go behind it: the order within a session is kept.
"""

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from threading import Event, RLock, Thread
from time import monotonic, time_ns
from typing import Final, Self
from weakref import ref

from planwire.errors import CannotWait, Conflict, EngineAway, JournalUnavailable
from planwire.journal.away_folder import AwayFolder
from planwire.journal.away_leases import AwayLeases
from planwire.journal.away_records import WaitingAppend
from planwire.journal.away_server import CLOSED, AwayServer
from planwire.journal.codec import EventRow, encode, encode_terms
from planwire.journal.known_here import KnownHere
from planwire.journal.may_wait import may_wait
from planwire.journal.protocol import (
    Followed,
    Journal,
    JournalFacts,
    KnownLease,
    KnownSession,
    Lease,
    Once,
    Snapshot,
    Stamped,
    Stop,
    StoredAppend,
    Terms,
    Thoughts,
)
from planwire.journal.provisional import AheadEvents, Doubt, deliverable, is_provisional, names_remarks
from planwire.journal.waiting import WaitingRecords
from planwire.model.events import Recorded

__all__ = ["AwayJournal"]

#: Seconds between two looks at a server that is away, and between those while it answers and something waits.
TRY: Final = 1.0
SOON: Final = 0.05
#: Seconds that a look may take to deliver what waits, that an append waits for the end of that if it can wait itself
#: (so that nobody writes faster than it is delivered), that any other append waits, and between two glances meanwhile.
LOOK_PATIENCE: Final = 30.0
MAKE_WAY: Final = 0.2
PATIENCE: Final = 2.0
GLANCE: Final = 0.01

_NO_WAITING: Final = "Nothing was written: this can't wait until the server is back"
_NOT_KNOWN: Final = "Whether it was written is not known: look once the server is back"
_FULL: Final = "Nothing was written: there is no room on this machine for more that waits"

_log = logging.getLogger("planwire")


class AwayJournal:
    """A `Journal` around one that a server keeps. `folder` is where appends wait. Until the server has been reached
    once, nobody knows where the thoughts beside the journal are: what is recorded then has none."""

    def __init__(self, open_engine: Callable[[], Journal], folder: Path) -> None:
        self._folder = AwayFolder(folder)
        self._server = AwayServer(open_engine, self._folder)
        self._leases = AwayLeases(self._server.ask)
        self._writer = os.urandom(8).hex()
        self._lock = RLock()
        self._known = KnownHere()
        if not self._server.is_away and not self._folder.is_empty():
            self.tend(PATIENCE)
        task = (ref(self), self._server.closing)
        Thread(target=_tend_on, args=task, name="planwire-away", daemon=True).start()

    # -- what waits

    @property
    def is_away(self) -> bool:
        """Whether what is appended now would wait."""
        return self._server.is_away or bool(self._known.ahead)

    def waiting(self) -> WaitingRecords:
        """What waits here, and whether the server is away."""
        return self._server.waiting()

    def begin_without(self, session: str) -> bool:
        """Begin to record a session of which only the server knows what it holds. Whether the server is away."""
        with self._lock:
            if not self._server.is_away:
                return False
            self._known.begin_without(session, _now())
            return True

    def tend(self, patience: float = LOOK_PATIENCE) -> bool:
        """Look whether the server is back, and deliver what waits for no more than so many seconds. Whether nothing
        waits any more. A thread does this all the time."""
        if not self._server.deliver(patience):
            return False
        with self._lock:
            self._server.note_back()
            is_empty = self._folder.is_empty()
            if is_empty:
                self._known.ahead.clear()
        self._leases.settle_all()
        return is_empty

    def _is_delivered(self, patience: float) -> bool:
        """Whether nothing waits any more, after no more than so many seconds."""
        until = monotonic() + patience
        while not self._server.is_away:
            if self.tend(patience):
                return True
            if monotonic() > until:
                break
            self._server.closing.wait(GLANCE)
        return False

    # -- events

    def append(
        self, session: str, events: Sequence[Stamped], expected_seq: int | None = None, once: Once | None = None
    ) -> tuple[Recorded, ...]:
        if self._server.is_away or self._known.ahead or not self._folder.is_empty():
            can_wait = all(may_wait(each.event) for each in events)
            if not self._is_delivered(MAKE_WAY if can_wait else PATIENCE):
                return self._append_later(session, events, expected_seq, once)
        engine = self._server.engine
        if engine is None:
            raise self._server.absence()
        try:
            written = engine.append(session, events, expected_seq, once)
        except EngineAway as error:
            self._server.note_away(error)
            return self._append_later(session, events, expected_seq, once, in_doubt=True)
        for each in written:
            self._known.note(each, is_new=once is None)
        return written

    def read(self, session: str, after: int = 0, upto: int | None = None) -> Iterator[Recorded]:
        if not self._is_only_here(session):
            try:
                events = self._server.ask(lambda engine: engine.read(session, after, upto))
                return self._read_on(events, session, after, upto)
            except EngineAway:
                pass
        return iter(self._read_here(session, after, upto))

    def last_seq(self, session: str) -> int:
        if not self._is_only_here(session):
            try:
                last = self._server.ask(lambda engine: engine.last_seq(session))
            except EngineAway:
                pass
            else:
                if not last:
                    self._known.note_end(session, 0)
                return last
        with self._lock:
            known = self._known.last(session)
        if known is None:
            raise self._server.absence()
        return known

    def stored(self, session: str, after: int = 0) -> Iterator[StoredAppend]:
        return self._server.each(self._server.ask(lambda engine: engine.stored(session, after)))

    def store(self, session: str, appends: Sequence[StoredAppend]) -> None:
        self._require_delivered()
        self._server.ask(lambda engine: engine.store(session, appends))

    def last_position(self) -> int:
        return self._server.ask(lambda engine: engine.last_position())

    def sessions(self) -> list[KnownSession]:
        return self._server.ask(lambda engine: engine.sessions())

    def facts(self) -> JournalFacts:
        return self._server.ask(lambda engine: engine.facts())

    def follow(
        self,
        after: int | None = None,
        *,
        session: str | None = None,
        stop: Stop | None = None,
        timeout: float | None = None,
    ) -> Iterator[Followed]:
        ask = self._server.ask
        followed = ask(lambda engine: engine.follow(after, session=session, stop=stop, timeout=timeout))
        return self._followed(followed, stop)

    def forget(self, *sessions: str) -> None:
        self._require_delivered()
        self._server.ask(lambda engine: engine.forget(*sessions))
        self._known.forget(*sessions)

    # -- beside the events

    @property
    def thoughts(self) -> Thoughts:
        if self._server.engine is None:
            raise self._server.absence()
        return self._server.engine.thoughts

    def snapshot(self, session: str, name: str = "state") -> Snapshot | None:
        if self._is_only_here(session):
            return None
        try:
            kept = self._server.ask(lambda engine: engine.snapshot(session, name))
        except EngineAway:
            return None
        if kept is not None:
            self._known.note_end(session, kept.seq)
        return kept

    def keep_snapshot(self, session: str, seq: int, data: bytes, name: str = "state") -> None:
        if not is_provisional(seq) and not self._server.is_away:
            self._server.ask(lambda engine: engine.keep_snapshot(session, seq, data, name))

    def lease(self, session: str, terms: Terms = Terms()) -> Lease:
        encode_terms(session, terms)
        return self._leases.lease(session, terms)

    def leases(self) -> list[KnownLease]:
        return self._server.ask(lambda engine: engine.leases())

    def end_lease(self, known: KnownLease, events: Sequence[Stamped] = (), expected_seq: int | None = None) -> None:
        self._server.ask(lambda engine: engine.end_lease(known, events, expected_seq))

    def close(self) -> None:
        if self._server.closing.is_set():
            return
        if not self._server.is_away and not self._folder.is_empty():
            self.tend(PATIENCE)
        self._server.close(PATIENCE)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # -- while the server is away

    def _append_later(
        self,
        session: str,
        events: Sequence[Stamped],
        expected_seq: int | None,
        once: Once | None,
        *,
        in_doubt: bool = False,
    ) -> tuple[Recorded, ...]:
        rows = encode(session, events)
        with self._lock:
            if self._server.closing.is_set():
                raise JournalUnavailable(CLOSED)
            ahead = self._known.ahead.get(session)
            if ahead is not None and once is not None and once in ahead.keys:
                return ahead.keys[once]
            if not rows:
                return ()
            has_remarks = ahead is not None and ahead.has_remarks
            if not all(may_wait(row.event) and not (has_remarks and names_remarks(row.event)) for row in rows):
                if in_doubt:
                    raise self._server.absence(_NOT_KNOWN)
                raise self._server.absence(_NO_WAITING, CannotWait)
            ahead = self._known.go_ahead(session, expected_seq, _now())
            doubt = None
            if in_doubt and once is None:
                ahead.doubt = doubt = _doubt(expected_seq, ahead.base, rows)
            if expected_seq not in (None, ahead.last):
                raise Conflict(session, expected_seq or 0, ahead.last)
            if ahead.doubt is not None and ahead.doubt.means(rows):
                doubt, ahead.doubt = ahead.doubt, None
            self._wait(session, ahead, rows, once, doubt)
            return ahead.add(rows, once)

    def _wait(
        self, session: str, ahead: AheadEvents, rows: Sequence[EventRow], once: Once | None, doubt: Doubt | None
    ) -> None:
        if ahead.has_remarks:
            rows = encode(session, [Stamped(row.at, row.by, deliverable(row.event)) for row in rows])
        texts = tuple((row.at, row.by, row.text) for row in rows)
        waiting = WaitingAppend(session, self._writer, ahead.base, ahead.last + 1, texts, once, doubt)
        if not self._folder.put(waiting):
            raise self._server.absence(_FULL, CannotWait)

    def _read_on(self, events: Iterator[Recorded], session: str, after: int, upto: int | None) -> Iterator[Recorded]:
        """What the server gives, and once it goes away, what this process knows."""
        known, start = self._known.last(session) or 0, after
        try:
            for each in self._server.each(events):
                self._known.note(each)
                after = each.seq
                yield each
            if upto is None and (after > start or not start):
                self._known.note_whole(session, after, known)
        except EngineAway:
            yield from self._read_here(session, after, upto)

    def _read_here(self, session: str, after: int, upto: int | None) -> list[Recorded]:
        with self._lock:
            found = self._known.read(session, after, upto)
        if found is None:
            raise self._server.absence()
        return found

    def _followed(self, events: Iterator[Followed], stop: Stop | None) -> Iterator[Followed]:
        """Events as they come. One of a session that has others waiting here is held until all are delivered: whoever
        hears of it finds it."""
        for each in self._server.each(events):
            while each.recorded.session in self._known.ahead and not (stop and stop.is_set()):
                if self._server.is_away or self._server.closing.wait(GLANCE):
                    raise self._server.absence()
            self._known.note(each.recorded, is_new=True)
            yield each

    def _is_only_here(self, session: str) -> bool:
        """Whether all that can be said of a session now is what this process knows."""
        return self._server.is_away or session in self._known.ahead

    def _require_delivered(self) -> None:
        """What waits would come behind the end of a session that goes, or is written as a whole."""
        if not self._folder.is_empty() and not self._is_delivered(PATIENCE):
            raise self._server.absence(_NO_WAITING, CannotWait)

    @property
    def _next_look(self) -> float:
        return SOON if self._known.ahead and not self._server.is_away else TRY

    def _look(self) -> None:
        if self._server.is_away or self._known.ahead or not self._folder.is_empty():
            self.tend()


def _tend_on(journal: "ref[AwayJournal]", closing: Event) -> None:
    """Look after a journal for as long as it is open, and somebody has it."""
    wait = TRY
    while not closing.wait(wait):
        found = journal()
        if found is None:
            return
        try:
            found._look()
        except Exception:
            _log.exception("what waits for a journal's server could not be delivered")
        wait = found._next_look
        del found


def _doubt(expected_seq: int | None, base: int, rows: Sequence[EventRow]) -> Doubt:
    texts = tuple((row.at, row.by, row.text) for row in rows)
    return Doubt(base if expected_seq is None else expected_seq, expected_seq is not None, texts)


def _now() -> int:
    return time_ns() // 1_000_000
