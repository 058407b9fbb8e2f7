"""Writing to a JetStream journal: one message right behind the last one of its session, or a refusal.

An answer can get lost when its message did not. Then the same message is sent again, with the same id and to the same
place: it is written once, or was already. Where the server only says that the place is taken, the message that is there
tells whose it is.
"""

from collections.abc import Sequence
from typing import Final

from planwire.errors import Conflict, JournalUnavailable, UnstorableEvent
from planwire.journal.codec import EventRow, chained, refuse_unless_next
from planwire.journal.jetstream_api import JetStreamApi, new_id
from planwire.journal.jetstream_messages import (
    EVENTS_PER_MESSAGE,
    KeyRange,
    Mark,
    SubjectEnd,
    body_of,
    head_of,
    header,
)
from planwire.journal.jetstream_sessions import SessionSubjects, SubjectState
from planwire.journal.protocol import Once, StoredAppend, StoredEvent

__all__ = ["Appender"]

#: Losing this many races in a row is no race any more.
MOST_RACES: Final = 1_000


class Appender:
    """The writers of this process. Those of one session take turns."""

    def __init__(self, api: JetStreamApi, sessions: SessionSubjects, stream: str) -> None:
        self._api = api
        self._sessions = sessions
        self._stream = stream

    def append(
        self, session: str, rows: Sequence[EventRow], expected: int | None, once: Once | None
    ) -> tuple[int, int] | int:
        """Write rows behind the last event, whose number is returned; or the numbers of the first and the last event
        that were written with the same key before."""
        state = self._sessions.state(session)
        self._sessions.take_turn(state)
        try:
            is_fresh = False  # the end was asked for since this append began
            for _ in range(MOST_RACES):
                end = state.end
                if end is None or (not rows and not is_fresh):
                    end, is_fresh = self._sessions.refresh(state), True
                numbers = self._sessions.numbers_with(state, once, end) if once is not None else None
                is_in_conflict = expected is not None and expected != end.last
                if (numbers or is_in_conflict) and not is_fresh:
                    self._sessions.refresh(state)
                    is_fresh = True
                    continue
                if numbers:
                    return numbers
                if expected is not None and is_in_conflict:
                    raise Conflict(session, expected, end.last)
                if not rows:
                    return end.last
                events = chained(session, end.last, end.link, rows)
                keys = (KeyRange(once.source, once.n, end.last + 1, end.last + len(rows)),) if once else ()
                if self._write(state, end, events, keys):
                    return end.last
                is_fresh = True
        except JournalUnavailable:
            state.end = None
            raise
        finally:
            state.turn.release()
        raise JournalUnavailable(f"others write to session {session!r} all the time: try again")

    def store(self, session: str, appends: Sequence[StoredAppend]) -> None:
        """Write events of another journal: in one message if they fit. Else in several, one after the other; where that
        is interrupted, the first of them stay, and the copy can go on behind them."""
        state = self._sessions.state(session)
        self._sessions.take_turn(state)
        try:
            end = self._sessions.refresh(state)
            refuse_unless_next(session, end.last, appends)
            waiting = [each for each in appends if each.events]
            while waiting:
                size = len(waiting)
                while size > 1 and sum(_size(each) for each in waiting[:size]) > self._api.connection.max_payload // 2:
                    size //= 2
                part, waiting = waiting[:size], waiting[size:]
                keys = tuple(
                    KeyRange(each.once.source, each.once.n, each.events[0].seq, each.events[-1].seq)
                    for each in part
                    if each.once is not None
                )
                events = [event for each in part for event in each.events]
                if not self._write(state, state.end or end, events, keys):
                    raise Conflict(session, end.last, self._sessions.refresh(state).last)
        except JournalUnavailable:
            state.end = None
            raise
        finally:
            state.turn.release()

    def _write(
        self, state: SubjectState, end: SubjectEnd, events: Sequence[StoredEvent], keys: tuple[KeyRange, ...]
    ) -> bool:
        """Write a message right behind an end. False if that is not the end any more; the state knows the other."""
        body, is_compressed = body_of(events)
        first_at, last_at = end.first_at if end.messages else events[0].at, events[-1].at
        token = state.subject.rpartition(".")[2]
        mark = Mark(
            end.messages + 1,
            end.last + 1,
            events[-1].seq,
            first_at,
            last_at,
            end.begun,
            is_compressed,
            keys,
            state.session if token.startswith("==") else None,
        )
        identity = new_id()
        head = head_of(mark, identity, end.message)
        self._refuse_too_large(state.session, len(head) + len(body), len(events))
        written = self._api.write(state.subject, head, body)
        number = written.number
        if number is None and not written.is_certain:
            number = self._written_before(state.subject, end.message, identity)
        if number is None:
            self._sessions.refresh(state)
            return False
        state.moved(
            SubjectEnd(number, mark.count, mark.last, events[-1].link, first_at, last_at, end.begun or number), mark
        )
        return True

    def _written_before(self, subject: str, behind: int, identity: str) -> int | None:
        """The number of a message that an attempt without an answer did write."""
        found = self._api.get(self._stream, seq=behind + 1, next_by_subj=subject)
        is_ours = found is not None and header(found.headers, b"Nats-Msg-Id") == identity.encode()
        return found.number if found is not None and is_ours else None

    def _refuse_too_large(self, session: str, size: int, events: int) -> None:
        limit = self._api.connection.max_payload
        if size > limit or events > EVENTS_PER_MESSAGE:
            raise UnstorableEvent(
                f"{events:,} events for session {session!r} make a message of {size:,} bytes; the NATS server takes "
                f"{limit:,}, and {EVENTS_PER_MESSAGE:,} events at most: nothing was written. Write fewer events at a "
                "time, or set max_payload higher in the server's configuration (up to 64MB)"
            )


def _size(append: StoredAppend) -> int:
    """About as many bytes as an append has."""
    return sum(len(each.text) + len(each.by) + 64 for each in append.events)
