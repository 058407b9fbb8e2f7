"""The server that keeps a journal, as one process reaches it: whether it is away, and how it is tried again."""

from collections.abc import Callable, Iterator
from threading import Event, Lock
from time import monotonic
from typing import Final, NamedTuple, TypeVar

from planwire.errors import EngineAway, JournalError, JournalUnavailable
from planwire.journal.away_delivery import AwayDelivery
from planwire.journal.away_folder import AwayFolder
from planwire.journal.protocol import Journal
from planwire.journal.waiting import WaitingRecords, waiting_count

__all__ = ["CLOSED", "AwayServer"]

CLOSED: Final = "the journal is closed: open it again"
_BEHIND: Final = "what waits on this machine is not delivered yet"
_R = TypeVar("_R")


class _Outage(NamedTuple):
    """The server is away: since when (in milliseconds), and why."""

    since: int
    why: str


class AwayServer:
    """A server that `open_engine` reaches. What waits for it is in a folder."""

    def __init__(self, open_engine: Callable[[], Journal], folder: AwayFolder) -> None:
        self.engine: Journal | None = None
        self.closing = Event()
        self._open = open_engine
        self._folder = folder
        self._delivery = AwayDelivery(folder)
        self._outage: _Outage | None = None
        self._reaching = Lock()
        if (lately := folder.away_lately()) is not None:
            self._outage = _Outage(*lately)
            return
        try:
            self.engine = open_engine()
            folder.note_back()
        except EngineAway as error:
            self.note_away(error)

    @property
    def is_away(self) -> bool:
        return self._outage is not None

    def waiting(self) -> WaitingRecords:
        """What waits here, and whether the server is away."""
        outage = self._outage
        count = 0 if self._folder.is_empty() else self._folder.count()
        return WaitingRecords(count, outage.since, outage.why) if outage else WaitingRecords(count)

    def ask(self, ask: Callable[[Journal], _R]) -> _R:
        """The server's answer, or `EngineAway`."""
        engine = self.engine
        if engine is None or self._outage is not None:
            raise self.absence()
        try:
            return ask(engine)
        except EngineAway as error:
            self.note_away(error)
            raise self.absence() from error

    def each(self, given: Iterator[_R]) -> Iterator[_R]:
        """What an answer goes on to give."""
        try:
            yield from given
        except EngineAway as error:
            self.note_away(error)
            raise self.absence() from error

    def deliver(self, patience: float) -> bool:
        """Look whether the server answers, and deliver what waits, for no more than so many seconds. Whether it
        answers; another process may be at it still."""
        until = monotonic() + patience
        if not self._reaching.acquire(timeout=patience):
            return False
        try:
            self._delivery.deliver(self._reached(), until)
        except JournalError as error:
            if self._outage is not None or isinstance(error, EngineAway):
                self.note_away(error)
            return False
        finally:
            self._reaching.release()
        return True

    def note_away(self, error: JournalError) -> None:
        why = str(error)
        self._outage = _Outage(self._folder.note_away(why), why)

    def note_back(self) -> None:
        if self._outage is not None:
            self._outage = None
            self._folder.note_back()

    def absence(self, word: str = "", kind: type[EngineAway] = EngineAway) -> JournalUnavailable:
        """The error of a call that only the server could answer."""
        if self.closing.is_set():
            return JournalUnavailable(CLOSED)
        why = self._outage.why if self._outage else _BEHIND
        return kind("; ".join(filter(None, (why, waiting_count(self.waiting().count), word))))

    def close(self, patience: float) -> None:
        """Let go of it. Whoever is about to reach it closes what it opens."""
        self.closing.set()
        if self._reaching.acquire(timeout=patience):
            self._reaching.release()
        if self.engine is not None:
            self.engine.close()

    def _reached(self) -> Journal:
        if self.closing.is_set():
            raise JournalUnavailable(CLOSED)
        engine = self.engine
        if engine is None:
            engine = self._open()
            if self.closing.is_set():
                engine.close()
            self.engine = engine
        elif self._outage is not None:
            engine.last_position()
        return engine
