"""The writing side of a journal: each append gets its numbers and links here, and keeps its place in any race.

A link depends on all events before it, so an append is made for the end of its session: the one that is known here, or
the beginning. If that is out of date, the store writes nothing and says where the session ends now. An append that
expects no number is made anew for that end, until it comes first. Appends that wait at the same time go to the store
together (`group_commit`).

A session that ends before an event that is known here was forgotten, or its store has lost events: it came back from a
backup, or without its last writes. The last position tells, since no `forget` moves it back.
"""

from collections.abc import Sequence
from contextlib import closing
from random import random
from time import monotonic, sleep
from typing import Final, cast

from msgspec.structs import replace

from planwire.errors import Conflict, JournalError, JournalUnavailable
from planwire.journal.codec import EventRow, chained, refuse_unless_next
from planwire.journal.group_commit import GroupCommit, GroupedAppend, Outcome
from planwire.journal.protocol import Once, StoredAppend
from planwire.journal.reading import EventReader
from planwire.journal.store import Append, Appended, KeySpan, SessionEnd, Store
from planwire.journal.unusable import went_back
from planwire.model.events import Recorded

#: Seconds for which an append keeps trying while other writers come first.
PATIENCE: Final = 30.0
#: The longest of the pauses in which others get their turn.
LONGEST_PAUSE: Final = 0.0005
#: How many sessions' ends are remembered.
REMEMBERED: Final = 1_000


class Appends:
    """Appends to a store. The `reader` finds the events that an earlier append wrote."""

    def __init__(self, store: Store, reader: EventReader) -> None:
        self.group = GroupCommit(self._commit)
        self._store = store
        self._reader = reader
        self._known: dict[str, SessionEnd] = {}  # the ends of sessions, as far as this process knows

    def append(
        self, session: str, rows: Sequence[EventRow], expected: int | None, once: Once | None
    ) -> tuple[Recorded, ...]:
        return tuple(self.group.append(GroupedAppend(session, rows, expected, once)))

    def store(self, session: str, appends: Sequence[StoredAppend]) -> None:
        """Write events of another journal after the last one of a session."""
        with self.group.turn:
            self._known.pop(session, None)
            end = self._write(_question(SessionEnd(session=session), None)).end
            refuse_unless_next(session, end.last, appends)
            rows = [event for each in appends for event in each.events]
            keyed = [each for each in appends if each.once is not None and each.events]
            keys = [KeySpan(each.events[0].seq - 1, each.events[-1].seq, each.once) for each in keyed if each.once]
            if rows and not (answer := self._write(Append(session, rows, end, keys))).is_written:
                raise Conflict(session, end.last, answer.end.last)

    def forget(self, *sessions: str) -> None:
        """Forget what is known of sessions here."""
        for session in sessions:
            self._known.pop(session, None)

    def _write(self, append: Append) -> Appended:
        [answer] = self._store.append([append])
        if isinstance(answer, Exception):
            raise answer
        return answer

    def _commit(self, batch: list[GroupedAppend]) -> list[Outcome]:
        """Write a batch. `GroupCommit` makes sure that only one thread does so at a time."""
        outcomes = self._tried(batch)
        if None in outcomes:
            self._try_again(batch, outcomes)
        return cast("list[Outcome]", outcomes)

    def _try_again(self, batch: list[GroupedAppend], outcomes: list[Outcome | None]) -> None:
        """Try those appends again that have no outcome yet, until they have one."""
        give_up, pause = monotonic() + PATIENCE, 0.0
        while left := [place for place, outcome in enumerate(outcomes) if outcome is None]:
            sleep(random() * pause)  # noqa: S311  (so that two losers don't meet again)
            pause = LONGEST_PAUSE
            again = [batch[place] for place in left]
            tried: list[Outcome | None]
            try:
                tried = self._tried(again) if monotonic() < give_up else [self._too_busy(each) for each in again]
            except Exception as error:  # what an earlier round has written is written
                tried = [error] * len(again)
            for place, outcome in zip(left, tried, strict=True):
                outcomes[place] = outcome

    def _tried(self, batch: list[GroupedAppend]) -> list[Outcome | None]:
        """What became of each append: None if it must be tried again, because another writer came first."""
        appends = self._prepared(batch)
        try:
            answers = self._store.append(appends)
        except BaseException:
            self.forget(*[each.session for each in batch])
            raise
        return list(map(self._outcome, batch, appends, answers))

    def _prepared(self, batch: list[GroupedAppend]) -> list[Append]:
        """Appends for the store, each after the one before it in its session."""
        ends: dict[str, SessionEnd] = {}
        appends = []
        for each in batch:
            session, rows, once = each.session, each.rows, each.once
            end = ends.get(session) or self._known.get(session) or SessionEnd(session=session)
            if not rows or (each.expected is not None and each.expected != end.last):
                appends.append(_question(end, once))
                continue
            new = chained(session, end.last, end.link, rows)
            appends.append(Append(session, new, end, (KeySpan(end.last, new[-1].seq, once),) if once else ()))
            if len(batch) > 1:
                ends[session] = replace(end, last=new[-1].seq, link=new[-1].link)
        return appends

    def _outcome(self, asked: GroupedAppend, append: Append, answer: Appended | Exception) -> Outcome | None:
        """What an append returns or raises; None if it must be tried again, after the end that was found."""
        session, before = append.session, append.after
        if isinstance(answer, Exception):
            self._known.pop(session, None)
            return answer
        end, is_written, keyed = answer
        self._remember(session, end)
        if is_written:
            return [
                Recorded(session, seq, row.at, row.by, row.event) for seq, row in enumerate(asked.rows, before.last + 1)
            ]
        if before.number and (end.number != before.number or end.last < before.last):
            try:
                self._refuse_lost(before)
            except JournalError as error:
                return error
        if keyed is not None:
            return self._reader.events(end, keyed.after, keyed.last)
        if asked.expected not in (None, end.last):
            return Conflict(session, asked.expected or 0, end.last)
        return None if asked.rows else ()

    def _refuse_lost(self, known: SessionEnd) -> None:
        """Raise `JournalUnavailable` if the store ends before an event that it had."""
        with closing(self._store.tail(None)) as pages:
            page = next(pages, None)
        if page is not None and page.position < known.position:
            raise went_back(self._store.where)

    def _remember(self, session: str, end: SessionEnd) -> None:
        self._known[session] = end
        if len(self._known) > REMEMBERED:
            del self._known[next(iter(self._known))]

    def _too_busy(self, append: GroupedAppend) -> JournalUnavailable:
        return JournalUnavailable(
            f"session {append.session!r} of {self._store.where} is too busy: other writers came first for "
            f"{PATIENCE:g} seconds. Nothing was written; try again"
        )


def _question(end: SessionEnd, once: Once | None) -> Append:
    """An append that writes nothing: it asks where a session ends, and for a key."""
    return Append(end.session, (), end, () if once is None else (KeySpan(0, 0, once),))
