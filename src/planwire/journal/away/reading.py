"""Reading a journal whose server can be away: from the server, or else from what this process knows.

A process knows the end of each session that it has met, and the session's events that wait. Reading anything else
raises `EngineAway`, unless the process goes by what this machine last knew (`recalled`).
"""

from collections.abc import Iterator
from contextlib import suppress
from threading import RLock
from typing import Final

from planwire.errors import EngineAway
from planwire.journal.away.known_here import KnownHere
from planwire.journal.away.last_known import LastKnown
from planwire.journal.away.recalled import RecalledSessions
from planwire.journal.away.server import AwayServer
from planwire.journal.protocol import Followed, KnownLease, KnownSession, Snapshot, Stop
from planwire.journal.view import STATE
from planwire.model.events import Recorded

__all__ = ["GLANCE", "AwayReader"]

#: Seconds between two looks at whether records still wait.
GLANCE: Final = 0.01
_UNSEEN: Final = "This machine has seen none of its sessions, so nothing can be said about them here"


class AwayReader:
    """Reads for one process. `lock` guards `known`. With `recalled`, it also answers from what this machine knew."""

    def __init__(self, server: AwayServer, known: KnownHere, last_known: LastKnown, lock: RLock) -> None:
        self.recalled: RecalledSessions | None = None
        self._server = server
        self._known = known
        self._last_known = last_known
        self._lock = lock

    def read(self, session: str, after: int = 0, upto: int | None = None) -> Iterator[Recorded]:
        with self._lock:
            if self._is_only_here(session):
                return iter(self._read_here(session, after, upto))
        try:
            events = self._server.ask(lambda engine: engine.read(session, after, upto))
        except EngineAway:
            return iter(self._read_here(session, after, upto))
        return self._read_on(events, session, after, upto)

    def last_seq(self, session: str) -> int:
        with self._lock:
            if self._is_only_here(session):
                return self._last_here(session)
        try:
            last = self._server.ask(lambda engine: engine.last_seq(session))
        except EngineAway:
            return self._last_here(session)
        if not last:
            self._known.note_end(session, 0)
        return last

    def sessions(self) -> list[KnownSession]:
        kept = self._last_known.kept()
        try:
            found = self._server.ask(lambda engine: engine.sessions())
        except EngineAway:
            if self.recalled is None:
                raise
            with self._lock:
                found = self.recalled.sessions()
            if not found:
                raise self._server.absence(_UNSEEN) from None
        else:
            self._last_known.note_all(found, kept)
        return found

    def leases(self) -> list[KnownLease]:
        try:
            return self._server.ask(lambda engine: engine.leases())
        except EngineAway:
            if self.recalled is None:
                raise
            return []  # who serves which session is not known

    def snapshot(self, session: str, name: str = "state") -> Snapshot | None:
        with self._lock:
            if self._is_only_here(session):
                return self._last_snapshot(session, name)
        try:
            kept = self._server.ask(lambda engine: engine.snapshot(session, name))
        except EngineAway:
            return self._last_snapshot(session, name)
        if kept is not None:
            self._known.note_end(session, kept.seq)
        return kept

    def followed(self, events: Iterator[Followed], stop: Stop | None) -> Iterator[Followed]:
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

    def _read_on(self, events: Iterator[Recorded], session: str, after: int, upto: int | None) -> Iterator[Recorded]:
        """The server's events; if it goes away, the rest from what this process knows."""
        known, start = self._known.end(session) or 0, after
        try:
            for each in self._server.each(events):
                self._known.note(each)
                after = each.seq
                yield each
            if upto is None and (after > start or not start):
                self._known.note_whole(session, after, known)
                if after < known:
                    with suppress(OSError):  # then it goes with the next look at all sessions
                        self._last_known.forget(session)
        except EngineAway:
            yield from self._read_here(session, after, upto)

    def _read_here(self, session: str, after: int, upto: int | None) -> list[Recorded]:
        with self._lock:
            self._recall(session)
            found = self._known.read(session, after, upto)
        if found is None:
            raise self._server.absence()
        return found

    def _last_here(self, session: str) -> int:
        with self._lock:
            self._recall(session)
            known = self._known.last(session)
        if known is None:
            raise self._server.absence()
        return known

    def _recall(self, session: str) -> None:
        if self.recalled is not None:
            self.recalled.recall(session)

    def _last_snapshot(self, session: str, name: str) -> Snapshot | None:
        with self._lock:
            self._recall(session)
            return self._last_known.snapshot(session) if name == STATE.name else None

    def _is_only_here(self, session: str) -> bool:
        """Whether only this process's knowledge of a session can be used now. Its caller holds the lock until it has
        used that: once the events that wait are delivered, only the server has them."""
        return self._server.is_away or session in self._known.ahead
