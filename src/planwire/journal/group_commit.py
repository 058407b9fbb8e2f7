"""Group commit: appends that wait at the same time are committed together.

A durable commit waits for the disk, and the disk takes as long for a hundred events as for one. So an append gets in
line, and whoever has the turn commits the whole line; the others find their outcome when it is their turn. Each keeps
an outcome of its own: a conflict costs nobody else anything.
"""

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from threading import Event, Lock, Thread
from typing import TypeAlias

from planwire.errors import JournalUnavailable
from planwire.journal.codec import Row
from planwire.model.events import Recorded

__all__ = ["Append", "GroupCommit", "Outcome"]

Outcome: TypeAlias = tuple[Recorded, ...] | BaseException


class Append:
    """One append in line. Only the holder of the turn settles it."""

    __slots__ = ("expected", "future", "outcome", "rows", "session")

    def __init__(
        self,
        session: str,
        rows: list[Row],
        expected: int | None,
        future: Future[tuple[Recorded, ...]] | None = None,
    ) -> None:
        self.session = session
        self.rows = rows
        self.expected = expected
        self.future = future
        self.outcome: Outcome | None = None

    def settle(self, outcome: Outcome) -> None:
        self.outcome = outcome
        if self.future is not None:
            if isinstance(outcome, BaseException):
                self.future.set_exception(outcome)
            else:
                self.future.set_result(outcome)


class GroupCommit:
    """The line of appends. `commit` writes a batch in one transaction and returns the outcomes, or raises for all.

    `turn` is held while it does; who else writes takes it too.
    """

    def __init__(self, commit: Callable[[list[Append]], list[Outcome]]) -> None:
        self.turn = Lock()
        self._commit = commit
        self._line: deque[Append] = deque()
        self._called = Event()
        self._starting = Lock()
        self._clerk: Thread | None = None
        self._closed = False

    def append(self, append: Append) -> tuple[Recorded, ...]:
        """Wait for the turn, commit everyone in line, unless somebody did so meanwhile."""
        self._line.append(append)
        with self.turn:
            if append.outcome is None:
                self._commit_line()
        outcome = append.outcome
        assert outcome is not None
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    def submit(self, append: Append) -> None:
        """Leave it to the clerk, a thread of its own that begins with the first one."""
        self._line.append(append)
        if self._clerk is None:
            with self._starting:
                if self._clerk is None and not self._closed:
                    self._clerk = Thread(target=self._work, name="planwire-journal", daemon=True)
                    self._clerk.start()
        self._called.set()
        if self._closed:  # too late for the clerk to hear
            with self.turn:
                self._commit_line()

    def close(self) -> None:
        """Commit what is in line, and end the clerk."""
        with self._starting:
            self._closed = True
        self._called.set()
        if self._clerk is not None:
            self._clerk.join()
        with self.turn:
            self._commit_line()

    def _work(self) -> None:
        while not self._closed:
            self._called.wait()
            self._called.clear()
            with self.turn:
                self._commit_line()

    def _commit_line(self) -> None:
        batch: list[Append] = []
        outcomes: list[Outcome] = []
        try:
            while self._line:
                append = self._line.popleft()
                if append.future is None or append.future.set_running_or_notify_cancel():
                    batch.append(append)
            if batch:
                outcomes = self._commit(batch)
        except Exception as error:
            outcomes = [error] * len(batch)
        finally:
            if len(outcomes) < len(batch):
                unknown = JournalUnavailable("writing was interrupted: look at the last number before trying again")
                outcomes = [unknown] * len(batch)
            for append, outcome in zip(batch, outcomes, strict=True):
                append.settle(outcome)
