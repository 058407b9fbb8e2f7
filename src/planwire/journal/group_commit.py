"""Group commit: appends that wait at the same time share one commit.

A durable commit waits for the disk, and the disk takes as long for a hundred events as for one. So appends gather in a
batch while the batch before them is being written. The first one in it commits for all, once it has the turn; the
others sleep until it is done, and none of them ever holds a lock that the next one waits for. Each keeps an outcome of
its own: a conflict costs its neighbours nothing. An append that meets no other one skips all of this: right after a
commit the processor's caches are cold, and each line of Python costs three times as much.

An interrupt may come between any two lines. So locks are taken by `with`, which leaves no gap, and one `try` reaches
from joining a batch to settling it: an append that commits for others never leaves them asleep.
"""

from collections.abc import Callable, Iterable
from threading import Lock
from typing import TypeAlias

from msgspec import Struct

from planwire.errors import JournalUnavailable
from planwire.journal.codec import EventRow
from planwire.journal.protocol import Once
from planwire.model.events import Recorded

#: Events that an earlier append wrote may still have to be read: each caller does that itself, by iterating.
Outcome: TypeAlias = Iterable[Recorded] | BaseException


class Append(Struct, eq=False):
    """One append. The first of its batch sets `outcome` for all and wakes the others through `waits`, which is None for
    the first."""

    session: str
    rows: list[EventRow]
    expected: int | None
    once: Once | None = None
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

    def append(self, append: Append) -> Iterable[Recorded]:
        """Write it, at once or with the batch that is gathering."""
        if not self._gathering and not self.turn.locked():
            with self.turn:
                [outcome] = self._commit([append])
        else:
            outcome = self._gather(append)
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    def _gather(self, append: Append) -> Outcome:
        batch: list[Append] = []
        outcomes: list[Outcome] = []
        try:
            with self._door:
                batch = self._gathering
                if batch:
                    append.waits = Lock()
                    append.waits.acquire()  # acquiring it once more is how to wait
                batch.append(append)
            if append.waits is not None:
                append.waits.acquire()
            else:
                with self.turn:
                    self._begin_another()
                    outcomes = self._commit(batch)
        except Exception as error:
            outcomes = [error] * len(batch)
        finally:
            if batch and batch[0] is append:
                try:
                    self._settle(batch, outcomes)
                except BaseException:
                    self._settle(batch, outcomes)
                    raise
        assert append.outcome is not None
        return append.outcome

    def _settle(self, batch: list[Append], outcomes: list[Outcome]) -> None:
        """Give each append its outcome. Missing outcomes mean that an interrupt came in between. Can be done twice."""
        if self._gathering is batch:  # the interrupt came before the turn
            self._begin_another()
        if len(outcomes) < len(batch):
            unknown = JournalUnavailable(
                "writing was interrupted: check the number of the last event before you try again"
            )
            outcomes = [unknown] * len(batch)
        for append, outcome in zip(batch, outcomes, strict=True):
            append.outcome = outcome
            if append.waits is not None and append.waits.locked():
                append.waits.release()

    def _begin_another(self) -> None:
        with self._door:
            self._gathering = []
