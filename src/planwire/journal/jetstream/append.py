"""Writing to a JetStream journal: one message directly after the last one of its session, or a refusal.

A message can be written and its acknowledgement lost. The same message is then sent again, with the same id and for the
same place, so it is written once. If the server answers only that the place is taken, the message in that place shows
whether it is our own.
"""

from collections.abc import Sequence
from typing import Final

from planwire.errors import Conflict, JournalUnavailable, UnstorableEvent
from planwire.journal.codec import EventRow, chained, refuse_unless_next
from planwire.journal.jetstream.api import JetStreamApi, new_id
from planwire.journal.jetstream.bodies import MessageBody
from planwire.journal.jetstream.messages import (
    EVENTS_PER_MESSAGE,
    LONGEST_HEAD,
    KeyRange,
    Mark,
    SubjectEnd,
    bytes_of,
    head_of,
    header,
    keys_of,
)
from planwire.journal.jetstream.parts import LargeBody, PartStore
from planwire.journal.jetstream.sessions import SessionSubjects, SubjectState
from planwire.journal.protocol import Once, StoredAppend, StoredEvent

#: An append gives up after this many lost races in a row.
MOST_RACES: Final = 1_000


class Appender:
    """Appends for all threads of this process. Writers to the same session take turns."""

    def __init__(self, api: JetStreamApi, sessions: SessionSubjects, parts: PartStore) -> None:
        self._api = api
        self._sessions = sessions
        self._parts = parts
        self._stream = parts.stream

    def append(
        self, session: str, rows: Sequence[EventRow], expected: int | None, once: Once | None
    ) -> tuple[int, int] | int:
        """Write rows after the session's last event, and return that event's number. If the key was used before, write
        nothing and return the numbers of the first and last event written with it."""
        state = self._sessions.state(session)
        self._sessions.take_turn(state)
        try:
            with LargeBody(self._parts, state.subject) as large:
                return self._append(state, rows, expected, once, large)
        except JournalUnavailable:
            state.end = None
            raise
        finally:
            state.turn.release()

    def _append(
        self,
        state: SubjectState,
        rows: Sequence[EventRow],
        expected: int | None,
        once: Once | None,
        large: LargeBody,
    ) -> tuple[int, int] | int:
        is_fresh = False  # whether the server was asked for the end since this append began
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
                self._stream.info()  # refuses a stream made anew, which lacks what the old one had
                return numbers
            if expected is not None and is_in_conflict:
                raise Conflict(state.session, expected, end.last)
            if not rows:
                return end.last
            events = chained(state.session, end.last, end.link, rows)
            keys = (KeyRange(once.source, once.n, end.last + 1, end.last + len(rows)),) if once else ()
            if self._write(state, end, events, keys, large):
                return end.last
            is_fresh = True
        raise JournalUnavailable(
            f"session {state.session!r} is too busy: other writers came first {MOST_RACES:,} times. Try again"
        )

    def store(self, session: str, appends: Sequence[StoredAppend]) -> None:
        """Write events copied from another journal, in one message if they fit, otherwise in several. An interrupted
        copy keeps the messages already written and can continue after them."""
        state = self._sessions.state(session)
        self._sessions.take_turn(state)
        try:
            end = self._sessions.refresh(state)
            refuse_unless_next(session, end.last, appends)
            waiting = [each for each in appends if each.events]
            while waiting:
                size = len(waiting)
                while size > 1 and self._is_much(waiting[:size]):
                    size //= 2
                part, waiting = waiting[:size], waiting[size:]
                events = [event for each in part for event in each.events]
                with LargeBody(self._parts, state.subject) as large:
                    is_written = self._write(state, state.end or end, events, keys_of(part), large)
                if not is_written:
                    raise Conflict(session, end.last, self._sessions.refresh(state).last)
        except JournalUnavailable:
            state.end = None
            raise
        finally:
            state.turn.release()

    def _is_much(self, appends: Sequence[StoredAppend]) -> bool:
        """Whether appends should be split over several messages."""
        return (
            sum(_size(each) for each in appends) > self._stream.room // 2
            or bytes_of(keys_of(appends)) > LONGEST_HEAD // 2
        )

    def _write(
        self,
        state: SubjectState,
        end: SubjectEnd,
        events: Sequence[StoredEvent],
        keys: tuple[KeyRange, ...],
        large: LargeBody,
    ) -> bool:
        """Write a message directly after `end`. False if the session has moved on; `state` then has its new end."""
        self._stream.refuse_losses()
        identity = new_id()
        body = large.body(events, end)
        mark = _mark(state, end, events, keys, body)
        head = head_of(mark, identity, end.message)
        _refuse_long_head(state.session, len(head))
        if len(head) + len(body.data) > self._stream.room or len(events) > EVENTS_PER_MESSAGE:
            body = large.in_parts(events, end)
            mark = _mark(state, end, events, keys, body)
            head = head_of(mark, identity, end.message)
            self._refuse_too_large(state.session, len(head) + len(body.data), len(events))

        def is_apt() -> bool:
            return self._sessions.has(state, end) and large.is_there()

        written = self._api.write(self._stream.name, state.subject, head, body.data, is_apt)
        number = written.number
        if number is None and not written.is_certain:
            number = self._written_before(state.subject, end.message, identity)
        if number is None:
            self._sessions.refresh(state)
            return False
        if not end.message:
            large.see_to_parts(number)
        large.was_written()
        state.moved(
            SubjectEnd(
                number, mark.count, mark.last, events[-1].link, mark.first_at, mark.last_at, end.begun or number
            ),
            mark,
        )
        return True

    def _written_before(self, subject: str, behind: int, identity: str) -> int | None:
        """The number of our message, if an unanswered attempt has written it."""
        found = self._api.get(self._stream.name, seq=behind + 1, next_by_subj=subject)
        is_ours = found is not None and header(found.headers, b"Nats-Msg-Id") == identity.encode()
        return found.number if found is not None and is_ours else None

    def _refuse_too_large(self, session: str, size: int, events: int) -> None:
        limit = self._stream.room
        if size > limit or events > EVENTS_PER_MESSAGE:
            raise UnstorableEvent(
                f"{events:,} events for session {session!r} make a message of {size:,} bytes; this NATS server takes "
                f"{limit:,} bytes, and {EVENTS_PER_MESSAGE:,} events, at most. Nothing was written. Write fewer "
                "events at a time, or raise max_payload in the server's configuration (up to 64MB)"
            )


def _mark(
    state: SubjectState, end: SubjectEnd, events: Sequence[StoredEvent], keys: tuple[KeyRange, ...], body: MessageBody
) -> Mark:
    return Mark(
        count=end.messages + 1,
        first=end.last + 1,
        last=events[-1].seq,
        first_at=end.first_at if end.messages else events[0].at,
        last_at=events[-1].at,
        begun=end.begun,
        is_compressed=body.is_compressed,
        keys=keys,
        session=state.session if state.subject.rpartition(".")[2].startswith("==") else None,
        in_parts=body.in_parts,
    )


def _refuse_long_head(session: str, size: int) -> None:
    if size > LONGEST_HEAD:
        raise UnstorableEvent(
            f"the name of session {session[:80]!r}, or the key of this append to it, is too long: "
            f"the headers of the message have {size:,} bytes, and NATS takes {LONGEST_HEAD:,}. Nothing was written"
        )


def _size(append: StoredAppend) -> int:
    """The size of an append in bytes, roughly."""
    key = 100 + len(append.once.source) if append.once else 0
    return key + sum(len(each.text) + len(each.by) + 64 for each in append.events)
