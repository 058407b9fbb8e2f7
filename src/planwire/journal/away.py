"""A journal whose server can be away: this process works on, and what it records waits on this machine.

While the server answers, every call goes to it, and costs the names in one folder more. When it does not, appends that
may wait (`may_wait`) go to a spool that all processes of this user share (`away_outbox`), under provisional numbers
(`provisional`); those that may not raise `EngineAway`. What this process knows it can still read, at least the end of
it; everything else raises `EngineAway`, too. A thread looks every second whether the server is back, and delivers what
waits (`away_delivery`). Until all of it is delivered, new appends go behind it: the order within a session is kept.
"""

import logging
import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from threading import Event, Lock, RLock, Thread
from time import monotonic, time_ns
from typing import Final, NamedTuple, Self, TypeVar
from weakref import ref

from planwire.errors import Conflict, EngineAway, JournalError, JournalUnavailable
from planwire.journal.away_delivery import OutboxDelivery
from planwire.journal.away_leases import AwayLeases
from planwire.journal.away_outbox import Outbox
from planwire.journal.away_records import WaitingAppend
from planwire.journal.codec import EventRow, encode, encode_terms
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
from planwire.journal.waiting import Waiting
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
#: The last events of a session that are kept in memory: one part of this process may be a few behind another.
TAIL: Final = 16

_CLOSED: Final = "the journal is closed: open it again"
_NO_WAITING: Final = "Nothing was written: this can't wait until the server is back"
_NOT_KNOWN: Final = "Whether it was written is not known: look once the server is back"
_FULL: Final = "Nothing was written: there is no room on this machine for more that waits"
_BEHIND: Final = "what waits on this machine is not delivered yet"

_log = logging.getLogger("planwire")
_R = TypeVar("_R")


class _Outage(NamedTuple):
    """The server is away: since when (in milliseconds), and why."""

    since: int
    why: str


class AwayJournal:
    """A `Journal` around one that a server keeps. `folder` is where appends wait; `thoughts` opens those beside the
    journal, for as long as there is no server to say where they are."""

    def __init__(
        self, open_engine: Callable[[], Journal], folder: Path, thoughts: Callable[[], Thoughts] | None = None
    ) -> None:
        self._open_engine = open_engine
        self._open_thoughts = thoughts
        self._thoughts: Thoughts | None = None
        self._outbox = Outbox(folder)
        self._delivery = OutboxDelivery(self._outbox)
        self._leases = AwayLeases(self._asked)
        self._writer = os.urandom(8).hex()
        self._lock = RLock()
        self._tending = Lock()
        self._engine: Journal | None = None
        self._outage: _Outage | None = None
        self._ahead: dict[str, AheadEvents] = {}
        self._known: dict[str, int] = {}
        self._tails: dict[str, deque[Recorded]] = {}
        self._closing = Event()
        if (lately := self._outbox.away_lately()) is not None:
            self._outage = _Outage(*lately)
        else:
            try:
                self._engine = open_engine()
            except EngineAway as error:
                self._note_away(error)
        if self._engine is not None and not self._outbox.is_empty():
            self.tend(PATIENCE)
        Thread(target=_tend_on, args=(ref(self), self._closing), name="planwire-away", daemon=True).start()

    # -- what waits

    @property
    def is_away(self) -> bool:
        """Whether what is appended now would wait."""
        return self._outage is not None or bool(self._ahead)

    def waiting(self) -> Waiting:
        """What waits here, and whether the server is away."""
        outage = self._outage
        count = 0 if self._outbox.is_empty() else self._outbox.count()
        return Waiting(count, outage.since, outage.why) if outage else Waiting(count)

    def begin_without(self, session: str) -> bool:
        """Begin to record a session of which only the server knows what it holds. Whether the server is away."""
        with self._lock:
            if self._outage is None:
                return False
            ahead = self._ahead.get(session)
            if ahead is None:
                self._ahead[session] = AheadEvents(session, 0, (), _now())
            else:
                ahead.base = 0
            return True

    def tend(self, patience: float = LOOK_PATIENCE) -> bool:
        """Look whether the server is back, and deliver what waits for no more than so many seconds. Whether nothing
        waits any more. A thread does this all the time."""
        until = monotonic() + patience
        if not self._tending.acquire(timeout=patience):
            return False
        try:
            self._delivery.deliver(self._back(), until)
        except JournalError as error:
            if self._outage is not None or isinstance(error, EngineAway):
                self._note_away(error)
            return False
        finally:
            self._tending.release()
        with self._lock:
            self._outage = None
            is_empty = self._outbox.is_empty()
            if is_empty:
                self._ahead.clear()
        self._outbox.note_back()
        self._leases.settle_all()
        return is_empty

    def _back(self) -> Journal:
        """The journal of a server that answers."""
        if self._closing.is_set():
            raise JournalUnavailable(_CLOSED)
        engine = self._engine
        if engine is None:
            engine = self._open_engine()
            if self._closing.is_set():  # nobody waited for it
                engine.close()
            self._engine = engine
        elif self._outage is not None:
            engine.last_position()
        return engine

    def _is_delivered(self, patience: float) -> bool:
        """Whether nothing waits any more, after no more than so many seconds."""
        until = monotonic() + patience
        while self._outage is None:
            if self.tend(patience):
                return True
            if monotonic() > until:
                break
            self._closing.wait(GLANCE)
        return False

    # -- events

    def append(
        self, session: str, events: Sequence[Stamped], expected_seq: int | None = None, once: Once | None = None
    ) -> tuple[Recorded, ...]:
        if self._outage is not None or self._ahead or not self._outbox.is_empty():
            can_wait = all(may_wait(each.event) for each in events)
            if not self._is_delivered(MAKE_WAY if can_wait else PATIENCE):
                return self._append_later(session, events, expected_seq, once)
        engine = self._engine
        if engine is None:
            raise self._absence()
        try:
            written = engine.append(session, events, expected_seq, once)
        except EngineAway as error:
            self._note_away(error)
            return self._append_later(session, events, expected_seq, once, in_doubt=True)
        for each in written:
            self._note(each)
        return written

    def read(self, session: str, after: int = 0, upto: int | None = None) -> Iterator[Recorded]:
        with self._lock:
            ahead, is_here = self._ahead.get(session), True
            if ahead is not None:
                found = ahead.read(after, upto)
            elif self._outage is not None:
                found = self._kept(session, after, upto)
            else:
                is_here = False
        if not is_here:
            return self._read(self._asked(lambda engine: engine.read(session, after, upto)))
        if found is None:
            raise self._absence()
        return iter(found)

    def last_seq(self, session: str) -> int:
        with self._lock:
            if (ahead := self._ahead.get(session)) is not None:
                return ahead.last
            if self._outage is not None:
                if session not in self._known:
                    raise self._absence()
                return self._known[session]
        last = self._asked(lambda engine: engine.last_seq(session))
        if not last:
            self._known[session] = 0
            self._tails.pop(session, None)
        return last

    def stored(self, session: str, after: int = 0) -> Iterator[StoredAppend]:
        return self._each(self._asked(lambda engine: engine.stored(session, after)))

    def store(self, session: str, appends: Sequence[StoredAppend]) -> None:
        self._require_delivered()
        self._asked(lambda engine: engine.store(session, appends))

    def last_position(self) -> int:
        return self._asked(lambda engine: engine.last_position())

    def sessions(self) -> list[KnownSession]:
        return self._asked(lambda engine: engine.sessions())

    def facts(self) -> JournalFacts:
        return self._asked(lambda engine: engine.facts())

    def follow(
        self,
        after: int | None = None,
        *,
        session: str | None = None,
        stop: Stop | None = None,
        timeout: float | None = None,
    ) -> Iterator[Followed]:
        return self._each(
            self._asked(lambda engine: engine.follow(after, session=session, stop=stop, timeout=timeout))
        )

    def forget(self, *sessions: str) -> None:
        self._require_delivered()
        self._asked(lambda engine: engine.forget(*sessions))
        for each in sessions:
            self._known.pop(each, None)
            self._tails.pop(each, None)

    # -- beside the events

    @property
    def thoughts(self) -> Thoughts:
        if self._engine is not None:
            return self._engine.thoughts
        if self._open_thoughts is None:
            raise self._absence()
        if self._thoughts is None:
            self._thoughts = self._open_thoughts()
        return self._thoughts

    def snapshot(self, session: str, name: str = "state") -> Snapshot | None:
        if self._outage is not None or session in self._ahead:
            return None
        kept = self._asked(lambda engine: engine.snapshot(session, name))
        if kept is not None and kept.seq > self._known.get(session, -1):
            self._known[session] = kept.seq
            self._tails.pop(session, None)
        return kept

    def keep_snapshot(self, session: str, seq: int, data: bytes, name: str = "state") -> None:
        if not is_provisional(seq) and self._outage is None:
            self._asked(lambda engine: engine.keep_snapshot(session, seq, data, name))

    def lease(self, session: str, terms: Terms = Terms()) -> Lease:
        encode_terms(session, terms)
        return self._leases.lease(session, terms)

    def leases(self) -> list[KnownLease]:
        return self._asked(lambda engine: engine.leases())

    def end_lease(self, known: KnownLease, events: Sequence[Stamped] = (), expected_seq: int | None = None) -> None:
        self._asked(lambda engine: engine.end_lease(known, events, expected_seq))

    def close(self) -> None:
        if self._closing.is_set():
            return
        if self._outage is None and self._engine is not None and not self._outbox.is_empty():
            self.tend(PATIENCE)
        self._closing.set()
        if self._tending.acquire(timeout=PATIENCE):  # or else whoever has it closes what it opens
            self._tending.release()
        if self._engine is not None:
            self._engine.close()
        if self._thoughts is not None:
            self._thoughts.close()

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
            if self._closing.is_set():
                raise JournalUnavailable(_CLOSED)
            ahead = self._ahead.get(session)
            if ahead is not None and once is not None and once in ahead.keys:
                return ahead.keys[once]
            if not rows:
                return ()
            has_remarks = ahead is not None and ahead.has_remarks
            if not all(may_wait(row.event) and not (has_remarks and names_remarks(row.event)) for row in rows):
                raise self._absence(_NOT_KNOWN if in_doubt else _NO_WAITING)
            if ahead is None:
                base = self._known.get(session, 0) if expected_seq is None else expected_seq
                ahead = self._ahead[session] = AheadEvents(session, base, self._tails.get(session, ()), _now())
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
        if not self._outbox.put(waiting):
            raise self._absence(_FULL)

    def _kept(self, session: str, after: int, upto: int | None) -> list[Recorded] | None:
        """The end of a session as this process knows it; None if only the server has what is asked for."""
        known, tail = self._known.get(session), self._tails.get(session, ())
        if known is None or (after < known and not (tail and after >= tail[0].seq - 1)):
            return None
        return [each for each in tail if after < each.seq and (upto is None or each.seq <= upto)]

    def _note_away(self, error: JournalError) -> None:
        why = str(error)
        since = self._outbox.note_away(why)
        with self._lock:
            self._outage = _Outage(since, why)

    def _absence(self, word: str = "") -> JournalUnavailable:
        """The error of a call that only the server could answer."""
        if self._closing.is_set():
            return JournalUnavailable(_CLOSED)
        why = self._outage.why if self._outage else _BEHIND
        count = self.waiting().count
        waits = f"{count:,} record{' waits' if count == 1 else 's wait'} on this machine and will be delivered"
        return EngineAway("; ".join(filter(None, (why, waits if count else "", word))))

    # -- while it answers

    def _asked(self, ask: Callable[[Journal], _R]) -> _R:
        engine = self._engine
        if engine is None or self._outage is not None:
            raise self._absence()
        try:
            return ask(engine)
        except EngineAway as error:
            self._note_away(error)
            raise self._absence() from error

    def _each(self, given: Iterator[_R]) -> Iterator[_R]:
        try:
            yield from given
        except EngineAway as error:
            self._note_away(error)
            raise self._absence() from error

    def _read(self, events: Iterator[Recorded]) -> Iterator[Recorded]:
        for each in self._each(events):
            self._note(each)
            yield each

    def _note(self, recorded: Recorded) -> None:
        """Remember that this process has an event, if it is a new one."""
        session, seq = recorded.session, recorded.seq
        known = self._known.get(session, 0)
        if seq > known or seq == 1:
            tail = self._tails.get(session)
            if tail is None or seq != known + 1:
                tail = self._tails[session] = deque(maxlen=TAIL)
            tail.append(recorded)
            self._known[session] = seq

    def _require_delivered(self) -> None:
        """What waits would come behind the end of a session that goes, or is written as a whole."""
        if not self._outbox.is_empty() and not self._is_delivered(PATIENCE):
            raise self._absence(_NO_WAITING)

    @property
    def _next_look(self) -> float:
        return SOON if self._ahead and self._outage is None else TRY

    def _look(self) -> None:
        if self._outage is not None or self._ahead or not self._outbox.is_empty():
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
