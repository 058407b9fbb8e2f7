"""Group commit: appends that wait at the same time share one commit.

A durable commit waits for the disk, and the disk takes as long for a hundred events as for one. So appends gather in a
batch while the batch before them is being written. The first one in it commits for all, once it has the turn; the
others sleep until it is done, and none of them ever holds a lock that the next one waits for. Each keeps an outcome of
its own: a conflict costs its neighbours nothing. An append that meets no other one skips all of this: right after a
commit the processor has forgotten everything, and each line of Python costs three times what it costs elsewhere.
"""

from collections.abc import Callable
from threading import Lock
from typing import TypeAlias

from msgspec import Struct

from planwire.errors import JournalUnavailable
from planwire.journal.codec import EventRow
from planwire.model.events import Recorded

__all__ = ["Append", "GroupCommit", "Outcome"]

Outcome: TypeAlias = tuple[Recorded, ...] | BaseException


class Append(Struct, eq=False):
    """One append. The first of its batch sets its outcome, and releases `waits` then unless it is that first one."""

    session: str
    rows: list[EventRow]
    expected: int | None
    outcome: Outcome | None = None
    waits: "Lock | None" = None


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
        if not self._gathering and self.turn.acquire(blocking=False):
            try:
                [outcome] = self._commit([append])
            finally:
                self.turn.release()
        else:
            outcome = self._gather(append)
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    def _gather(self, append: Append) -> Outcome:
        with self._door:
            batch = self._gathering
            if batch:
                append.waits = Lock()
                append.waits.acquire()  # to acquire it once more is to wait
            batch.append(append)
        if append.waits is None:
            self._commit_batch(batch)
        else:
            append.waits.acquire()
        assert append.outcome is not None
        return append.outcome

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
                if append.waits is not None:
                    append.waits.release()

    def _begin_another(self) -> None:
        with self._door:
            self._gathering = []
