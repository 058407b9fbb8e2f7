"""Reading a journal whose server can be away: from the server, or else from what is known here.

A process knows the end of each session that it has met, and the session's events that wait. Reading anything else
raises `EngineAway`, unless the process goes by what this machine last knew, with what waits here: that is all that one
which starts during an outage can know.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from threading import RLock
from time import time_ns
from typing import Final, TypeVar

from planwire.errors import EngineAway
from planwire.journal.away.delivery import AwayFolder, WaitingAppend, read_waiting
from planwire.journal.away.known_here import KnownHere
from planwire.journal.away.last_known import LastKnown
from planwire.journal.away.server import AwayServer
from planwire.journal.codec import decode
from planwire.journal.protocol import Followed, Journal, KnownLease, KnownSession, Snapshot, Stop
from planwire.journal.view import STATE
from planwire.model.events import Recorded
from planwire.model.records import SessionState

#: Seconds between two looks at whether records still wait.
GLANCE: Final = 0.01
_UNSEEN: Final = "This machine has seen none of its sessions, so nothing can be said about them here"
_R = TypeVar("_R")


class AwayReader:
    """The reading side of an `AwayJournal`. `_lock` guards `_known`."""

    def __init__(self, server: AwayServer, folder: AwayFolder) -> None:
        self._server = server
        self._folder = folder
        self._known = KnownHere()
        self._last_known = LastKnown(folder.path / "known")
        self._lock = RLock()
        self._recalls = False
        self._read_waiting: tuple[object, dict[str, list[WaitingAppend]]] = ((), {})

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
            for each in self._folder.spool.waiting():
                with suppress(ValueError):  # delivery will set it aside
                    waiting = read_waiting(each.body)
                    found.setdefault(waiting.session, []).append(waiting)
            self._read_waiting = (sizes, found)
        return self._read_waiting[1]
