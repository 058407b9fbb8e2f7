"""A journal whose server can be away: this process goes on working, and its records wait on this machine.

While the server answers, every call goes to it, at hardly any extra cost. While it doesn't, appends that may wait
(`may_wait`) are kept in a spool that all processes of this user share (`delivery`), and all others raise `EngineAway`.
A process can still read what it knows (`known_here`): the end of each session that it has met, and the session's events
that wait. Anything else raises `EngineAway`, unless the process goes by what this machine last knew, with what waits
here: that is all that one which starts during an outage can know (`last_known`). A thread looks every second whether
the server is back, and delivers what waits. Until everything is delivered, new appends wait as well, so a session keeps
its order.

What waits is delivered as it is. The ids in it are final: while the server is away, writers give new steps and remarks
ids with a suffix of their own. A writer that decided before it knew of the outage gets a `Conflict`, and decides anew.
Only an append whose answer was lost keeps its ids, because the server may have it. Names of messages are written into
the events. References to other events by number go no further than what the server had (`may_wait.within`).
"""

import logging
import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from secrets import choice
from threading import Thread
from time import monotonic, time_ns
from typing import Final, Self, TypeVar
from weakref import ref

from msgspec.structs import replace

from planwire.errors import CannotWait, Conflict, EngineAway, JournalUnavailable, NotWritable, reason
from planwire.journal.away.delivery import AwayFolder, WaitingAppend, file_name, read_waiting
from planwire.journal.away.known_here import KnownHere
from planwire.journal.away.last_known import LastKnown
from planwire.journal.away.leases import AwayLease, settle_all
from planwire.journal.away.server import AwayServer
from planwire.journal.checked import Checked, Trouble
from planwire.journal.codec import decode, encode, encode_terms
from planwire.journal.may_wait import can_wait, within
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
from planwire.journal.unusable import closed
from planwire.journal.view import STATE
from planwire.journal.waiting import NOT_KNOWN, WaitingRecords, is_waiting
from planwire.model.events import Recorded
from planwire.model.names import named
from planwire.model.records import SessionState

#: What the ends of ids are made of: no letter that looks like another, or like a digit.
_LETTERS: Final = "abcdefghjkmnpqrstuvwxyz23456789"
#: Seconds between two attempts to reach a server that is away.
TRY: Final = 1.0
#: Seconds between two deliveries while the server answers and records wait.
SOON: Final = 0.05
#: The longest that one delivery by the background thread may take, in seconds.
LOOK_PATIENCE: Final = 30.0
#: Seconds that an append which may wait gives a delivery to finish, so that no writer outruns the delivery.
MAKE_WAY: Final = 0.2
#: Seconds that an append which may not wait gives a delivery to finish, before it is refused.
PATIENCE: Final = 2.0
#: Seconds between two writes of the last known states, for processes that start while the server is away.
KEEP: Final = 5.0

#: Seconds between two looks at whether records still wait.
GLANCE: Final = 0.01
NO_WAITING: Final = "Nothing was written: this can't wait on this machine"
_FULL: Final = "{} is full, or this user can't write to it"
_UNSEEN: Final = "This machine has seen none of its sessions, so nothing can be said about them here"
#: How many keys of lost appends are remembered.
_MOST_LOST: Final = 64
_R = TypeVar("_R")

_log = logging.getLogger("planwire")


class AwayJournal:
    """A `Journal` around one that a server keeps. Appends wait in `folder`. Until the server has been reached once, it
    is not known where the journal's thoughts are kept, so what is recorded until then has none."""

    def __init__(self, open_engine: Callable[[], Journal], folder: Path, patience: float | None = None) -> None:
        self._folder = AwayFolder(folder)
        self._server = AwayServer(open_engine, self._folder)
        self._known = KnownHere()
        self._last_known = LastKnown(folder / "known")
        self._lock = self._known.lock
        self._unsettled: set[AwayLease] = set()
        self._recalls = False
        self._read_waiting: tuple[object, dict[str, list[WaitingAppend]]] = ((), {})
        self._lost: deque[tuple[str, Once | None]] = deque(maxlen=_MOST_LOST)
        self._source, self._numbers = os.urandom(8).hex(), count()
        self._written_at = monotonic()
        self._suffix = "".join(choice(_LETTERS) for _ in range(5))
        thread = Thread(target=_tend_on, args=(ref(self), self._server), name="planwire-away", daemon=True)
        try:
            self._server.begin(patience, thread.start)
        except BaseException:
            self._server.closing.set()
            raise
        if not self._server.is_away and not self._folder.is_empty():
            self.tend(PATIENCE if patience is None else min(patience, PATIENCE))

    # -- what waits

    @property
    def is_away(self) -> bool:
        """Whether what is appended now would wait."""
        return not self._server.takes_events or bool(self._known.ahead)

    @property
    def id_suffix(self) -> str:
        """The end of the ids that are given while the server is away."""
        return self._suffix if self.is_away else ""

    def waiting(self) -> WaitingRecords:
        """What waits here, and whether the server is away."""
        return self._server.waiting()

    def is_lost(self, session: str, once: Once | None) -> bool:
        """Whether it is unknown if the server has what was appended with a key and could not wait."""
        return once is not None and (session, once) in self._lost

    @property
    def refusal(self) -> str | None:
        """Why the server refuses the login, if it does."""
        return self._server.refusal

    def note_state(self, state: SessionState) -> None:
        """Remember the newest state of a session, for when the server is away."""
        self._last_known.note(state)

    def tend(self, patience: float = LOOK_PATIENCE) -> bool:
        """Look whether the server is back, and deliver what waits, for at most `patience` seconds. Whether nothing
        waits any more. A thread calls this again and again."""
        if not self._server.deliver(patience):
            return False
        with self._lock:
            self._server.note_back()
            if is_empty := self._folder.is_empty():
                self._known.return_to_server()
        settle_all(self._unsettled)
        return is_empty

    def _is_delivered(self, patience: float) -> bool:
        """Help deliver for about `patience` seconds. Whether nothing waits any more."""
        until = monotonic() + patience
        while self._server.takes_events:
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
        is_behind = self.is_away or not self._folder.is_empty()
        if is_behind and not self._is_delivered(MAKE_WAY if can_wait(events) else PATIENCE):
            return self._wait(session, events, expected_seq, once, is_lost=False)
        engine = self._server.engine
        if engine is None:
            raise self._server.absence()
        try:
            written = engine.append(session, events, expected_seq, once)
        except EngineAway as error:
            self._server.note_away(error)
            return self._wait(session, events, expected_seq, once, is_lost=not isinstance(error, NotWritable))
        for each in written:
            self._known.note(each, is_new=once is None)
        if expected_seq is not None:  # this writer, at least, goes by the server again
            self._known.go_by_server(session)
        return written

    def stored(self, session: str, after: int = 0) -> Iterator[StoredAppend]:
        return self._server.each(self._server.ask(lambda engine: engine.stored(session, after)))

    def store(self, session: str, appends: Sequence[StoredAppend]) -> None:
        self._require_delivered()
        self._server.ask(lambda engine: engine.store(session, appends))

    def last_position(self) -> int:
        return self._server.ask(lambda engine: engine.last_position())

    def facts(self) -> JournalFacts:
        return self._server.ask(lambda engine: engine.facts())

    def troubles(self) -> Iterator[Trouble]:
        """See `checked`."""
        ask = self._server.ask
        return self._server.each(ask(lambda engine: engine.troubles() if isinstance(engine, Checked) else iter(())))

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
        try:
            self._last_known.forget(*sessions)
            self._folder.forget_aside(*map(file_name, sessions))
        except OSError as error:
            where = error.filename or self._folder.folder
            raise JournalUnavailable(
                f"the server has forgotten it, but {where} stays on this machine ({reason(error)}): remove that file"
            ) from error

    # -- beside the events

    @property
    def thoughts(self) -> Thoughts:
        if self._server.engine is None:
            raise self._server.absence()
        return self._server.engine.thoughts

    def keep_snapshot(self, session: str, seq: int, data: bytes, name: str = "state") -> None:
        if not is_waiting(seq) and not self._server.is_away:
            self._server.ask(lambda engine: engine.keep_snapshot(session, seq, data, name))

    def lease(self, session: str, terms: Terms = Terms()) -> Lease:
        encode_terms(session, terms)
        return AwayLease(self._server.ask, self._unsettled, session, terms)

    def end_lease(self, known: KnownLease, events: Sequence[Stamped] = (), expected_seq: int | None = None) -> None:
        self._server.ask(lambda engine: engine.end_lease(known, events, expected_seq))

    def close(self) -> None:
        if self._server.closing.is_set():
            return
        try:
            if self._server.answers and not self._folder.is_empty():
                self.tend(PATIENCE)
            self._last_known.write()
        finally:
            self._server.close(PATIENCE)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # -- what is known here

    def go_by_last_known(self) -> None:
        """From now on, answer from what this machine last knew while the server is away."""
        self._recalls = True

    def seen_here(self) -> list[KnownSession]:
        """The sessions that this machine knew last, and those that wait here, in the order in which they began."""
        found = {each.id: each for each in self._last_known.sessions()}
        for session, waiting in self._waiting().items():
            kept, times = found.get(session), [at for each in waiting for at, _, _ in each.rows]
            if kept is not None or not waiting[0].base:
                last = max(times) if kept is None else max(*times, kept.last_at)
                first = min(times) if kept is None else kept.first_at
                found[session] = KnownSession(session, kept.last_seq if kept else len(times), first, last)
        return sorted(found.values(), key=lambda each: each.first_at)

    def begin_away(self, session: str, at: int) -> SessionState | None:
        """Begin to work with a session at a time (in milliseconds) although only the server knows what it holds. The
        state to begin with, which `read` continues. None, and nothing done, if the server is not away."""
        with self._lock:
            if not self._server.is_away:
                return None
            state = self._last_known.state(session) or SessionState(session)
            self._recall(session, at)
            if state.seq > (self._known.last(session) or 0):
                self._known.note_end(session, state.seq)
            if self._known.read(session, state.seq, None) is None:
                state = SessionState(session)
                self._known.begin_without(session, at)
            return state

    def read(self, session: str, after: int = 0, upto: int | None = None) -> Iterator[Recorded]:
        return self._either(
            session,
            lambda engine: self._read_on(engine.read(session, after, upto), session, after, upto),
            lambda: iter(self._read_here(session, after, upto)),
        )

    def last_seq(self, session: str) -> int:
        def asked(engine: Journal) -> int:
            if not (last := engine.last_seq(session)):
                self._known.note_end(session, 0)
            return last

        return self._either(session, asked, lambda: self._certain(self._known.last(session)))

    def snapshot(self, session: str, name: str = "state") -> Snapshot | None:
        def asked(engine: Journal) -> Snapshot | None:
            if (kept := engine.snapshot(session, name)) is not None:
                self._known.note_end(session, kept.seq)
            return kept

        return self._either(session, asked, lambda: self._last_known.snapshot(session) if name == STATE.name else None)

    def sessions(self) -> list[KnownSession]:
        kept = self._last_known.kept()
        try:
            found = self._server.ask(lambda engine: engine.sessions())
        except EngineAway:
            if not self._recalls:
                raise
            if not (found := self.seen_here()):
                raise self._server.absence(_UNSEEN) from None
        else:
            self._last_known.note_all(found, kept)
        return found

    def leases(self) -> list[KnownLease]:
        try:
            return self._server.ask(lambda engine: engine.leases())
        except EngineAway:
            if not self._recalls:
                raise
            return []  # who serves which session is not known

    # -- waiting

    def _wait(
        self, session: str, events: Sequence[Stamped], expected_seq: int | None, once: Once | None, *, is_lost: bool
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
                numbered = (
                    Recorded(session, last + n, each.at, each.by, each.event) for n, each in enumerate(events, 1)
                )
                events = [Stamped(each.at, each.by, named(each)) for each in numbered]
            base = 0 if is_waiting(ahead.base) else ahead.base
            rows = encode(session, [replace(each, event=within(each.event, base)) for each in events])
            key = once or Once(f"away:{self._source}", next(self._numbers))
            texts = tuple((row.at, row.by, row.text) for row in rows)
            is_kept = self._folder.put(WaitingAppend(session, base, texts, key, is_lost and once is None))
            added = ahead.add(events, key) if is_kept else ()
            if is_lost:
                ahead.mark(events[-1].at)
            if not is_kept:
                raise self._refusal(session, once, _FULL.format(self._folder.folder), is_lost=is_lost)
            return added

    def _refusal(self, session: str, once: Once | None, why: str = "", *, is_lost: bool) -> JournalUnavailable:
        """The error for events that are not kept."""
        if is_lost and once is not None:
            self._lost.append((session, once))
        if is_lost or self.is_lost(session, once):
            return self._server.absence(f"{why}. {NOT_KNOWN}" if why else NOT_KNOWN)
        return self._server.absence(f"Nothing was written: {why}" if why else NO_WAITING, CannotWait)

    def _followed(self, events: Iterator[Followed], stop: Stop | None) -> Iterator[Followed]:
        """Events as they come. While events of its session wait here, an event is held back until those are delivered,
        because readers would not find it yet. If the server takes no events, it is passed on: holding it would also
        hold up every other session."""
        for each in self._server.each(events):
            while each.recorded.session in self._known.ahead and not (stop and stop.is_set()):
                if self._server.is_away or self._server.closing.wait(GLANCE):
                    raise self._server.absence()
                if not self._server.takes_events:
                    break
            self._known.note(each.recorded, is_new=True)
            yield each

    def _either(self, session: str, ask: Callable[[Journal], _R], here: Callable[[], _R]) -> _R:
        """The server's answer about a session, or that of what is known here, if only that can be used now. It is used
        under the lock: once the events that wait are delivered, only the server has them."""
        with self._lock:
            if self._server.is_away or session in self._known.ahead:
                self._recall(session)
                return here()
        try:
            return self._server.ask(ask)
        except EngineAway:
            with self._lock:
                self._recall(session)
                return here()

    def _read_on(self, events: Iterator[Recorded], session: str, after: int, upto: int | None) -> Iterator[Recorded]:
        """The server's events; if it goes away, the rest from what is known here."""
        known, start = self._known.end(session) or 0, after
        try:
            for each in self._server.each(events):
                self._known.note(each)
                after = each.seq
                yield each
            if upto is None and (after > start or not start):
                self._known.note_end(session, after, known)
                if after < known:
                    with suppress(OSError):  # then it goes with the next look at all sessions
                        self._last_known.forget(session)
        except EngineAway:
            with self._lock:
                self._recall(session)
                found = self._read_here(session, after, upto)
            yield from found

    def _read_here(self, session: str, after: int, upto: int | None) -> list[Recorded]:
        return self._certain(self._known.read(session, after, upto))

    def _certain(self, found: _R | None) -> _R:
        if found is None:
            raise self._server.absence()
        return found

    def _recall(self, session: str, at: int | None = None) -> None:
        """Add what this machine last knew of a session to what the process knows, unless the process has met it, or
        does not go by that. `at` is when the process meets it, in milliseconds, if that was before now."""
        if (at is None and not self._recalls) or self._known.last(session) is not None:
            return
        kept, waiting = self._last_known.snapshot(session), self._waiting().get(session, [])
        if kept is not None or (waiting and not waiting[0].base):
            now = time_ns() // 1_000_000 if at is None else at
            ahead = self._known.go_ahead(session, kept.seq if kept else 0, now)
            for each in waiting:
                ahead.add([decode(session, 0, *row) for row in each.rows], each.once)

    def _waiting(self) -> dict[str, list[WaitingAppend]]:
        """What waits, by session. Read for all sessions at once, and again only when something changes."""
        if (sizes := self._folder.sizes()) != self._read_waiting[0]:
            found: dict[str, list[WaitingAppend]] = {}
            for each in self._folder.waiting():
                with suppress(ValueError):  # delivery will set it aside
                    waiting = read_waiting(each.body)
                    found.setdefault(waiting.session, []).append(waiting)
            self._read_waiting = (sizes, found)
        return self._read_waiting[1]

    # -- delivery

    def _require_delivered(self) -> None:
        """Raise `CannotWait` while records wait. Delivered later, they would land in a session that was forgotten, or
        in the middle of one that is being copied."""
        if not self._folder.is_empty() and not self._is_delivered(PATIENCE):
            raise self._server.absence(NO_WAITING, CannotWait)

    def _look(self) -> None:
        if self._server.is_away or monotonic() - self._written_at > KEEP:
            self._last_known.write()
            self._written_at = monotonic()
        if self._server.is_away or self._known.ahead or not self._folder.is_empty():
            self.tend()


def _tend_on(journal: "ref[AwayJournal]", server: AwayServer) -> None:
    """Look after a journal until it is closed or garbage-collected."""
    server.try_first()
    wait = SOON if server.is_away and server.engine is not None else TRY
    while not server.closing.wait(wait):
        found = journal()
        if found is None:
            return
        try:
            found._look()
        except Exception:
            if not server.closing.is_set():  # if it is, nothing is wrong: the journal was closed in the middle
                _log.exception("what waits for a journal's server could not be delivered")
        wait = SOON if found._known.ahead and server.takes_events else TRY
        del found
