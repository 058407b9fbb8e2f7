"""A history that stays attached to its journal: it takes in what others write, and writes without losing a race."""

import logging
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from threading import RLock
from time import time_ns
from typing import Final, NamedTuple

from planwire.chat import ChatStream, Hidden, Ordinary
from planwire.chat.adopt import Adopted
from planwire.chat.formats import Format
from planwire.chat.history import ChatHistory
from planwire.chat.narrate import merged_plans
from planwire.errors import EngineAway, JournalError
from planwire.journal import Journal, Once, Stamped, read_on
from planwire.journal.view import UNKEEPABLE
from planwire.journal.waiting import begin_away, is_waiting, note_state
from planwire.model.events import Event, Recorded, SessionOpened
from planwire.model.readers import LEAD
from planwire.model.records import SessionState
from planwire.session.change import SessionChange
from planwire.session.pending_reviews import PendingReviews
from planwire.session.writer import append_latest, check_session_id, reopening, stamped

JournalLike = Journal | str | os.PathLike[str] | None

#: The journal gets a snapshot once this many events, or as many as the chat has messages, came since the last one.
SNAPSHOT_EVERY: Final = 256
_SNAPSHOT: Final = "session"

_log = logging.getLogger("planwire")


class _Anew(NamedTuple):
    """A session's history before its first event."""

    id: str
    seq: int = 0


class LiveHistory:
    """A session's plans and chat, in a journal that others write to as well. `by` is the name it writes under.

    Hold `lock` for as long as what you read must not change. `lives` counts how often the session began: it begins
    again after it was forgotten.
    """

    def __init__(self, journal: Journal, session: str, form: Format, by: str, reader: str = LEAD) -> None:
        check_session_id(session)
        self.lock = RLock()
        self.id = session
        self.reader = reader
        self._journal = journal
        self._format = form
        self._by = by
        self.pending_reviews = PendingReviews(journal)
        self._listeners: list[Callable[[SessionChange], object]] = []
        self._changes: deque[SessionChange] = deque()  # the first is being told to the listeners
        self._unsent: list[Hidden] = []
        self._kept_at = 0
        self._opened: SessionOpened | None = None  # as last known: the session may have been forgotten since
        self.lives = 1
        self.only_here: set[str] = set()  # the names of messages that no event makes
        self._recalled = 0  # the number of the last event in the state that this machine recalled, if it began with one
        self._sent: set[str] = set()  # the names of messages that the model had before the session was read again
        self._history = self._restored()
        self._begin_reading()
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

    def renamed(self, events: Iterable[Recorded]) -> str | None:
        """The name that the message of the last of these events got instead of one that was taken; None if none did."""
        names = [name for each in events if (name := self._history.renamed.get(each.seq))]
        return names[-1] if names else None

    def take_unsent(self) -> list[Hidden]:
        """The hidden messages that came since the last call."""
        unsent, self._unsent = self._unsent, []
        return unsent

    def give_back(self, messages: list[Hidden]) -> None:
        """Mark taken messages that did not arrive as unsent again."""
        self._unsent[:0] = messages

    def write(
        self,
        prepare: Callable[[SessionState], Sequence[Event | Adopted]],
        once: Once | None = None,
        *,
        waits: bool = True,
    ) -> tuple[Recorded, ...]:
        """Append the events that `prepare` makes from the newest state, if any. Returns the events that were written,
        now or when the key `once` was first used. Unless it `waits`, nothing is kept for a server that is away."""

        def prepared(state: SessionState) -> list[Stamped]:
            events = [each if isinstance(each, Adopted) else Adopted(each) for each in prepare(state)]
            known = reopening(state, [each.event for each in events], self._opened)
            events = [*map(Adopted, known), *events]
            return [each for one in events for each in stamped([one.event], one.by or self._by, waits=lambda _: waits)]

        with self.lock:
            written = append_latest(self._journal, self.read_on, prepared, once)
            self._take(each for each in written if each.seq > self.seq)
            return written

    def read_on(self) -> SessionState:
        """Take in what others wrote, and hand on what is due. A forgotten session begins anew."""
        with self.lock:
            self._read_on()
            if self.pending_reviews.hand_on(self.state):
                self._read_on()
            return self.state

    def _read_on(self) -> None:
        def take(known: LiveHistory | _Anew, events: Iterator[Recorded]) -> LiveHistory | _Anew:
            taken = tuple(events)  # all of them before anything is let go
            if known is not self:
                self._begin()
            return self._take(taken)

        known: LiveHistory | _Anew = self
        read_on(self._journal, known, lambda: _Anew(self.id), take)

    def _begin_reading(self) -> None:
        try:
            self.read_on()
        except EngineAway:
            state = begin_away(self._journal, self.id, time_ns() // 1_000_000)
            if state is None:
                raise
            self._begin_with(state)
            self.read_on()

    def _begin_with(self, state: SessionState) -> None:
        """Begin with a state that this machine last knew. Only the server has the chat: the plans stand for it."""
        self._recalled = state.seq
        self._opened = state.opened
        self._history.state = state
        name = f"recalled-{state.seq}-{time_ns() // 1_000_000 & 0xFFFFFFFF:08x}"
        for each in merged_plans(state, name, reader=self.reader):
            self._history.stream.add(each)
            self.only_here.add(each.id)

    def on_change(self, listener: Callable[[SessionChange], object]) -> Callable[[], None]:
        """Call a function with every change, in the thread that brings it. Returns a function that ends this."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener) if listener in self._listeners else None

    @property
    def _snapshot(self) -> str:
        """The name of the snapshot. Each reader has a chat of its own."""
        return f"{_SNAPSHOT}:{self.reader}" if self.reader else _SNAPSHOT

    def _begin(self) -> None:
        self.lives += 1
        if not is_waiting(self.seq):
            self._recalled = 0
        self._sent = {each.id for each in self.stream.messages} - {each.id for each in self._unsent}
        self._history = ChatHistory(self.id, self._format, self.reader)
        self._unsent.clear()
        self._kept_at = 0

    def _take(self, events: Iterable[Recorded]) -> "LiveHistory":
        before, taken = self.state, tuple(events)
        for recorded in taken:
            message = self._history.apply(recorded)
            if message is None or isinstance(message, Ordinary) or recorded.seq <= self._recalled:
                continue
            if message.id not in self._sent:
                self._unsent.append(message)
        self._opened = self.state.opened or self._opened
        if self.seq != before.seq:
            note_state(self._journal, self.state)
            if self.seq - self._kept_at >= max(SNAPSHOT_EVERY, len(self.stream)):
                self._keep()
            if self._listeners:
                self._tell(SessionChange(before, self.state, taken))
        return self

    def _tell(self, change: SessionChange) -> None:
        """Tell the listeners of a change, in order: a change that a listener makes waits until all have heard this one.
        A listener's error is logged, and the other listeners are still told."""
        self._changes.append(change)
        if len(self._changes) > 1:
            return
        while self._changes:
            for listener in tuple(self._listeners):
                try:
                    listener(self._changes[0])
                except Exception:
                    _log.exception("a listener of session %s failed", self.id)
            self._changes.popleft()

    def _restored(self) -> ChatHistory:
        kept = self._journal.snapshot(self.id, self._snapshot)
        history = ChatHistory.restore(kept.data, self.id, self._format, self.reader) if kept else None
        if history is None:
            return ChatHistory(self.id, self._format, self.reader)
        self._kept_at = history.state.seq
        return history

    def _keep(self) -> None:
        self._kept_at = self.seq
        with suppress(JournalError, *UNKEEPABLE):  # a view can always be folded again
            self._journal.keep_snapshot(self.id, self.seq, self._history.keep(), self._snapshot)
