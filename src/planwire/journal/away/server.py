"""The server that keeps a journal, as one process reaches it: whether it is away, and how it is tried again.

A thread connects. The caller that opens the journal waits for it, but only as long as its patience lasts; then the
server counts as away until the thread gets through. A server that answers but takes no events, such as a standby, is
not away: it can be read, and records wait.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from math import inf
from threading import Event, Lock, Thread
from time import monotonic, time_ns
from typing import Final, TypeVar

from planwire.errors import EngineAway, JournalError, JournalUnavailable, LoginRefused, NotWritable
from planwire.journal.away.delivery import AwayFolder
from planwire.journal.away.outage import Outage
from planwire.journal.haste import take_time
from planwire.journal.protocol import Journal
from planwire.journal.unusable import closed
from planwire.journal.waiting import MOMENT, WaitingRecords, waiting_count

#: Seconds until a server that takes no events is asked again whether it does.
REFUSAL: Final = 1.0
_BEHIND: Final = "what waits on this machine is not delivered yet"
_SILENT: Final = "the journal's server has not answered yet"
_R = TypeVar("_R")


class AwayServer:
    """A server that `open_engine` reaches. What waits for it is in `folder`."""

    def __init__(self, open_engine: Callable[[], Journal], folder: AwayFolder) -> None:
        self.engine: Journal | None = None
        self.closing = Event()
        #: Whether the last call reached the server. It may still count as away, until what waits is delivered.
        self.answers = False
        self._open = open_engine
        self._folder = folder
        self._outage: Outage | None = None
        self._trouble = ""  # why a server that answers has not received what waits
        self._writable_at = 0.0  # when to try again to write to one that takes no events
        self._reaching = Lock()
        self._is_tried = Event()
        self._failure: BaseException | None = None

    @property
    def is_away(self) -> bool:
        return self._outage is not None

    @property
    def takes_events(self) -> bool:
        """Whether to try to write: the server is not away, and has not just refused to take events."""
        return self._outage is None and monotonic() >= self._writable_at

    @property
    def refusal(self) -> str | None:
        """Why the server refuses the login, if it does."""
        outage = self._outage
        return outage.why if outage and outage.is_refusal else None

    def begin(self, patience: float | None, reach: Callable[[], None]) -> None:
        """Call `reach`, which starts a thread that calls `try_first` and later `deliver`, and wait for the server as
        long as `patience` allows. Raises what went wrong, unless it is that the server is away."""
        outage = self._folder.outage
        seconds = outage.patience(patience)
        if not seconds and (known := outage.known()):
            self._outage = known
            self._is_tried.set()
        elif not seconds:  # the outage has just ended
            seconds = outage.patience(patience)
        reach()
        if not self._is_tried.wait(None if seconds == inf else seconds):
            self.note_away(EngineAway(_SILENT))
        elif self._failure is not None:
            raise self._failure

    def try_first(self) -> None:
        """Reach the server for the first time, unless another process has just found that it is away."""
        if self._is_tried.is_set():
            return
        begun = monotonic()
        try:
            with self._reaching, self._folder.outage.look():
                self._reach()
            self._folder.outage.end()
        except EngineAway as error:
            self.note_away(error, monotonic() - begun)
        except BaseException as error:
            self._failure = error
        finally:
            self._is_tried.set()

    def waiting(self) -> WaitingRecords:
        """What waits here, and whether the server is away."""
        outage = self._outage
        count = 0 if self._folder.is_empty() else self._folder.count()
        if outage is not None:
            return WaitingRecords(count, outage.since, outage.why)
        return WaitingRecords(count, why=self._trouble if count or not self.takes_events else "")

    def ask(self, ask: Callable[[Journal], _R]) -> _R:
        """The server's answer, or `EngineAway`."""
        engine = self.engine
        if engine is None or self._outage is not None:
            raise self.absence()
        try:
            return ask(engine)
        except NotWritable:
            raise
        except EngineAway as error:
            self.note_away(error)
            raise self.absence() from error

    def each(self, given: Iterator[_R]) -> Iterator[_R]:
        """The items of an answer that is an iterator, with `EngineAway` noted if the server goes away in the middle."""
        try:
            yield from given
        except EngineAway as error:
            self.note_away(error)
            raise self.absence() from error

    def deliver(self, patience: float) -> bool:
        """Look whether the server answers, and deliver what waits, for at most `patience` seconds. Whether it answers;
        another process may still be delivering."""
        until = monotonic() + patience
        if not self._reaching.acquire(timeout=patience):
            return False
        begun = monotonic()
        try:
            engine = self._reached()
            if engine is not None:
                with take_time(engine):
                    self._folder.deliver(engine, until)
            self._trouble = ""
        except JournalError as error:
            if self._outage is not None or isinstance(error, EngineAway):
                self.note_away(error, monotonic() - begun)
            else:
                self._trouble = str(error)
            return False
        finally:
            self._reaching.release()
        return engine is not None

    def note_away(self, error: JournalError, seconds: float = inf) -> None:
        """Note why the server can't be used, and how many seconds it took to find out. If it is away, tell the other
        processes as well; not if it refuses the login, because theirs may be another."""
        why, known = str(error), self._outage
        if isinstance(error, NotWritable) and self.engine is not None:
            self._outage, self._trouble, self._writable_at = None, why, monotonic() + REFUSAL
            return
        self.answers = False
        if isinstance(error, EngineAway) and not isinstance(error, LoginRefused):
            self._outage = self._folder.outage.note(why, seconds)
        else:
            since = known.since if known else time_ns() // 1_000_000
            self._outage = Outage(since, why, isinstance(error, LoginRefused))

    def note_back(self) -> None:
        if self._outage is not None:
            self._outage = None
            self._folder.outage.end()

    def absence(self, word: str = "", kind: type[EngineAway] = EngineAway) -> JournalUnavailable:
        """The error of a call that only the server could answer."""
        if self.closing.is_set():
            return closed()
        why = self._outage.why if self._outage else self._trouble or _BEHIND
        said = "; ".join(filter(None, (why, waiting_count(self.waiting().count))))
        return kind(". ".join(filter(None, (said, word))))

    def close(self, patience: float) -> None:
        """Close the engine. While the server is away, hardly wait: not for a thread that is connecting, which closes
        what it opens, nor for an engine's goodbye to a silent server. What it holds there ends by itself."""
        self.closing.set()
        if self._outage is None and self._reaching.acquire(timeout=patience):
            self._reaching.release()
        if self.engine is not None and self._outage is None:
            self.engine.close()
        elif self.engine is not None:
            goodbye = Thread(target=_let_go, args=(self.engine,), name="planwire-goodbye", daemon=True)
            goodbye.start()
            goodbye.join(MOMENT)

    def _reached(self) -> Journal | None:
        """The engine, once the server answers; None if another process looks for the server."""
        if self.closing.is_set():
            raise closed()
        if self.engine is not None and self._outage is None:
            return self.engine
        with self._folder.outage.look() as is_ours:
            return self._reach() if is_ours or self._folder.outage.known() is None else None

    def _reach(self) -> Journal:
        engine = self.engine
        if engine is not None:
            with take_time(engine):
                engine.last_position()
            self.answers = True
            return engine
        begun = monotonic()
        self.engine = engine = self._open()
        if self.closing.is_set():  # `close` may have come before there was an engine
            engine.close()
        self._folder.outage.note_answer(monotonic() - begun)
        self.answers = True
        return engine


def _let_go(engine: Journal) -> None:
    with suppress(JournalError):
        engine.close()
