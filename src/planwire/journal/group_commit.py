"""Group commit: appends that wait at the same time share one commit.

A durable commit waits for the disk, and the disk takes as long for a hundred events as for one. So an append gets in
line, and the thread that has the turn commits the whole line; the others find their outcome when their turn comes. Each
keeps an outcome of its own: a conflict costs its neighbours nothing.
"""

from collections import deque
from collections.abc import Callable
from threading import Lock
from typing import TypeAlias

from planwire.errors import JournalUnavailable
from planwire.journal.codec import EventRow
from planwire.model.events import Recorded

__all__ = ["Append", "GroupCommit", "Outcome"]

Outcome: TypeAlias = tuple[Recorded, ...] | BaseException


class Append:
    """One append in line. Only the holder of the turn sets its outcome."""

    __slots__ = ("expected", "outcome", "rows", "session")

    def __init__(self, session: str, rows: list[EventRow], expected: int | None) -> None:
        self.session = session
        self.rows = rows
        self.expected = expected
        self.outcome: Outcome | None = None


class GroupCommit:
    """The line of appends. `commit` writes a batch in one transaction and returns the outcomes, or raises for all.

    Hold `turn` for any other write to the same file.
    """

    def __init__(self, commit: Callable[[list[Append]], list[Outcome]]) -> None:
        self.turn = Lock()
        self._commit = commit
        self._line: deque[Append] = deque()

    def append(self, append: Append) -> tuple[Recorded, ...]:
        """Wait for the turn, then commit everyone in line, unless another thread did so meanwhile."""
        self._line.append(append)
        with self.turn:
            if append.outcome is None:
                self._commit_line()
        outcome = append.outcome
        assert outcome is not None
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    def _commit_line(self) -> None:
        batch: list[Append] = []
        outcomes: list[Outcome] = []
        try:
            while self._line:
                batch.append(self._line.popleft())
            outcomes = self._commit(batch)
        except Exception as error:
            outcomes = [error] * len(batch)
        finally:
            if len(outcomes) < len(batch):
                unknown = JournalUnavailable("writing was interrupted: look at the last number before trying again")
                outcomes = [unknown] * len(batch)
            for append, outcome in zip(batch, outcomes, strict=True):
                append.outcome = outcome
