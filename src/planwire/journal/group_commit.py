"""Group commit: appends that wait at the same time share one commit.

A durable commit waits for the disk, and the disk takes as long for a hundred events as for one. So appends gather in a
batch while the batch before them is being written. The first one in it commits for all, once it has the turn; the
others sleep until it is done, and none of them ever holds a lock that the next one waits for. Each keeps an outcome of
its own: a conflict costs its neighbours nothing.
"""

from collections.abc import Callable
from threading import Lock
from typing import TypeAlias

from msgspec import Struct, field

from planwire.errors import JournalUnavailable
from planwire.journal.codec import EventRow
from planwire.model.events import Recorded

__all__ = ["Append", "GroupCommit", "Outcome"]

Outcome: TypeAlias = tuple[Recorded, ...] | BaseException


class Append(Struct, eq=False):
    """One append. Only the first of its batch sets its outcome, and releases `waits` then."""

    session: str
    rows: list[EventRow]
    expected: int | None
    outcome: Outcome | None = None
    waits: Lock = field(default_factory=Lock)


class GroupCommit:
    """`commit` writes a batch in one transaction and returns the outcomes, or raises for all.

    Hold `turn` for any other write to the same file.
    """

    def __init__(self, commit: Callable[[list[Append]], list[Outcome]]) -> None:
        self.turn = Lock()
        self._commit = commit
        self._door = Lock()
        self._gathering: list[Append] = []

    def append(self, append: Append) -> tuple[Recorded, ...]:
        """Write it, together with all that gather meanwhile."""
        append.waits.acquire()  # to acquire it once more is to wait
        with self._door:
            batch = self._gathering
            batch.append(append)
        if batch[0] is append:
            self._commit_batch(batch)
        else:
            append.waits.acquire()
        outcome = append.outcome
        assert outcome is not None
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    def _commit_batch(self, batch: list[Append]) -> None:
        outcomes: list[Outcome] = []
        try:
            with self.turn:
                self._begin_another()
                outcomes = self._commit(batch)
        except Exception as error:
            outcomes = [error] * len(batch)
        finally:
            if self._gathering is batch:  # an interrupt came before its turn
                self._begin_another()
            if len(outcomes) < len(batch):
                unknown = JournalUnavailable("writing was interrupted: look at the last number before trying again")
                outcomes = [unknown] * len(batch)
            for append, outcome in zip(batch, outcomes, strict=True):
                append.outcome = outcome
                append.waits.release()

    def _begin_another(self) -> None:
        with self._door:
            self._gathering = []
