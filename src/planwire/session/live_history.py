"""A history that stays attached to its journal: it takes in what others write, and writes without losing a race."""

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from threading import RLock
from typing import Final

from planwire.chat import ChatStream, Hidden, Ordinary
from planwire.chat.formats import Format
from planwire.chat.history import ChatHistory
from planwire.errors import JournalError
from planwire.journal import Journal, Once, Stamped, read_on
from planwire.journal.view import UNKEEPABLE
from planwire.model.events import Event, Recorded
from planwire.model.records import SessionState
from planwire.session.writer import append_latest, stamped

__all__ = ["JournalLike", "LiveHistory"]

JournalLike = Journal | str | os.PathLike[str] | None

#: The journal gets a snapshot once this many events, or as many as the chat has messages, came since the last one.
SNAPSHOT_EVERY: Final = 256
_SNAPSHOT: Final = "session"


class LiveHistory:
    """A session's plans and chat, in a journal that others write to as well. `by` is the name it writes under.

    Hold `lock` for as long as what you read must not change. `lives` counts how often the session began: once more
    after it was forgotten.
    """

    def __init__(self, journal: Journal, session: str, form: Format, by: str) -> None:
        self.lock = RLock()
        self.id = session
        self._journal = journal
        self._format = form
        self._by = by
        self._listeners: list[Callable[[], None]] = []
        self._unsent: list[Hidden] = []
        self._kept_at = 0
        self.lives = 1
        self._history = self._restored()
        self.read_on()
        self._unsent.clear()

    @property
    def state(self) -> SessionState:
        """The session as of the last event that was read."""
        return self._history.state

    @property
    def seq(self) -> int:
        return self.state.seq

    @property
    def stream(self) -> ChatStream:
        return self._history.stream

    def take_unsent(self) -> list[Hidden]:
        """The hidden messages that came since the last call."""
        unsent, self._unsent = self._unsent, []
        return unsent

    def give_back(self, messages: list[Hidden]) -> None:
        """Messages that were taken, and did not arrive: they are unsent again."""
        self._unsent[:0] = messages

    def write(
        self, prepare: Callable[[SessionState], Sequence[Event]], once: Once | None = None
    ) -> tuple[Recorded, ...]:
        """Append what `prepare` makes of the newest state; nothing, if it makes nothing. Returns the events that were
        written, now or earlier with the same key."""

        def prepared(state: SessionState) -> list[Stamped]:
            return stamped(prepare(state), self._by)

        with self.lock:
            written = append_latest(self._journal, self.read_on, prepared, once)
            if once is None:
                self._take(written)
            else:  # they may be older than what others wrote
                self.read_on()
            return written

    def read_on(self) -> SessionState:
        """Take in what others wrote. A session that was forgotten begins anew."""
        with self.lock:
            read_on(self._journal, self, self._begin, LiveHistory._take)
            return self.state

    def on_change(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call a function after every event that comes in, from whichever thread brings it. Returns how to end that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def _begin(self) -> "LiveHistory":
        self.lives += 1
        self._history = ChatHistory(self.id, self._format)
        self._unsent.clear()
        self._kept_at = 0
        return self

    def _take(self, events: Iterable[Recorded]) -> "LiveHistory":
        known = self.seq
        for recorded in events:
            message = self._history.apply(recorded)
            if message is not None and not isinstance(message, Ordinary):
                self._unsent.append(message)
        if self.seq != known:
            if self.seq - self._kept_at >= max(SNAPSHOT_EVERY, len(self.stream)):
                self._keep()
            for listener in tuple(self._listeners):
                listener()
        return self

    def _restored(self) -> ChatHistory:
        kept = self._journal.snapshot(self.id, _SNAPSHOT)
        history = ChatHistory.restore(kept.data, self.id, self._format) if kept else None
        if history is None:
            return ChatHistory(self.id, self._format)
        self._kept_at = history.state.seq
        return history

    def _keep(self) -> None:
        self._kept_at = self.seq
        with suppress(JournalError, *UNKEEPABLE):  # a view can always be folded again
            self._journal.keep_snapshot(self.id, self.seq, self._history.keep(), _SNAPSHOT)
