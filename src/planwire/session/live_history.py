"""A history that stays attached to its journal: it takes in what others write, and writes without losing a race.

Before anything is written the view is brought up to date, and a write that somebody else came before is prepared again.
"""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import RLock
from typing import Final

from planwire.chat import ChatStream, Hidden, Ordinary
from planwire.chat.formats import Format
from planwire.chat.history import ChatHistory
from planwire.errors import Conflict, JournalError
from planwire.journal import Journal, Stamped, open_journal
from planwire.model.events import Event, Recorded
from planwire.model.fold import SessionState

__all__ = ["AttachedHistory", "JournalLike", "opened"]

JournalLike = Journal | str | os.PathLike[str] | None

#: A view is kept in the journal once this many events, or as many as it has messages, have come since the last time.
SNAPSHOT_EVERY: Final = 256
_SNAPSHOT: Final = "session"


@contextmanager
def opened(journal: JournalLike) -> Iterator[Journal]:
    """A journal that is given, or the one that is named, which is closed again."""
    if journal is None or isinstance(journal, str | os.PathLike):
        with open_journal(journal) as found:
            yield found
    else:
        yield journal


class AttachedHistory:
    """A session's plans and chat, in a journal that others write to as well. `by` is who it writes as.

    Hold `lock` while what is read must stay what it is.
    """

    def __init__(self, journal: Journal, session: str, form: Format, by: str) -> None:
        self.lock = RLock()
        self._journal = journal
        self._session = session
        self._format = form
        self._by = by
        self._listeners: list[Callable[[], None]] = []
        self._untold: list[Hidden] = []
        self._kept_at = 0
        self._history = self._restored()
        self.read_on()
        self._untold.clear()

    @property
    def state(self) -> SessionState:
        """The session as it was known last."""
        return self._history.state

    @property
    def stream(self) -> ChatStream:
        return self._history.stream

    def take_untold(self) -> list[Hidden]:
        """The hidden messages that came since this was last asked."""
        untold, self._untold = self._untold, []
        return untold

    def write(self, prepare: Callable[[SessionState], Sequence[Event]]) -> None:
        """Append what `prepare` makes of the newest state, which is nothing if it makes nothing."""
        with self.lock:
            self.read_on()
            while events := prepare(self.state):
                now = time.time_ns() // 1_000_000
                stamped = [Stamped(now, self._by, event) for event in events]
                try:
                    recorded = self._journal.append(self._session, stamped, self.state.seq)
                except Conflict:
                    self.read_on()
                    continue
                self._take(recorded)
                return

    def read_on(self) -> SessionState:
        """Take in what others wrote. A session that was forgotten begins anew."""
        with self.lock:
            if self._journal.last_seq(self._session) < self.state.seq:
                self._history = ChatHistory(self._session, self._format)
                self._kept_at = 0
            self._take(self._journal.read(self._session, self.state.seq))
            return self.state

    def on_change(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call a function after every event that comes in, from whichever thread it does. Returns how to stop that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def _take(self, events: Iterable[Recorded]) -> None:
        known = self.state.seq
        for recorded in events:
            message = self._history.apply(recorded)
            if message is not None and not isinstance(message, Ordinary):
                self._untold.append(message)
        if self.state.seq == known:
            return
        if self.state.seq - self._kept_at >= max(SNAPSHOT_EVERY, len(self.stream)):
            self._keep()
        for listener in tuple(self._listeners):
            listener()

    def _restored(self) -> ChatHistory:
        kept = self._journal.snapshot(self._session, _SNAPSHOT)
        history = ChatHistory.restore(kept.data, self._session, self._format) if kept else None
        if history is None:
            return ChatHistory(self._session, self._format)
        self._kept_at = history.state.seq
        return history

    def _keep(self) -> None:
        self._kept_at = self.state.seq
        with suppress(JournalError):  # a view can always be folded again
            self._journal.keep_snapshot(self._session, self.state.seq, self._history.keep(), _SNAPSHOT)
