"""Keeps a session up to date with what others write to it. One follower per journal serves all sessions; the pool
reads."""

import logging
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress

from planwire.errors import JournalError
from planwire.journal import Followed, Journal, follower_of
from planwire.journal.waiting import is_waiting
from planwire.session.live_history import LiveHistory
from planwire.session.pool import start_in_pool

_log = logging.getLogger("planwire")


class Following:
    """Keeps a view up to date from the first `begin` on, until `end`."""

    def __init__(self, journal: Journal, view: LiveHistory) -> None:
        self._journal = journal
        self._view = view
        self._subscription: Future[Callable[[], None]] | None = None
        self._is_due = self._is_over = False

    def begin(self) -> None:
        """Take in what others write from now on. Subscribing reads the journal, so the pool does it."""
        if self._subscription is None:
            self._is_over = False
            self._subscription = start_in_pool(self._subscribe)

    def end(self) -> None:
        """Take in nothing more. Waits for a subscription in progress."""
        self._is_over = True
        subscription, self._subscription = self._subscription, None
        if subscription is not None:
            subscription.result()()

    def _subscribe(self) -> Callable[[], None]:
        try:
            unsubscribe = follower_of(self._journal).subscribe(self._hear, self._view.id, self._look)
        except JournalError as error:
            self._warn(error)
            return lambda: None
        self._read()  # what came before the subscription
        return unsubscribe

    def _hear(self, followed: Followed) -> None:
        """Called in the follower's thread, which others wait for: the pool does the reading, once for many events."""
        seq = followed.recorded.seq
        is_shorter = seq == 1 or is_waiting(self._view.seq)  # forgotten and begun anew, or delivered
        if seq > self._view.seq or is_shorter:
            self._look()

    def _look(self, trouble: JournalError | None = None) -> None:
        """Read on soon, also after trouble: it may have kept events of this session from the follower."""
        self._warn(trouble)
        if not self._is_due and not self._is_over:
            self._is_due = True
            with suppress(RuntimeError):  # the interpreter is about to end
                start_in_pool(self._read)

    def _read(self) -> None:
        self._is_due = False
        try:
            if not self._is_over:
                self._view.read_on()
        except JournalError as error:
            self._warn(error)

    def _warn(self, trouble: JournalError | None) -> None:
        if trouble is not None and not self._is_over:
            _log.warning("changes that others make to session %s are not seen now: %s", self._view.id, trouble)
