"""The sessions of a JetStream journal: where each one ends, which keys it has, and where in the stream an event is.

What a process remembers of a session may be out of date. That is safe: a write names the message that it must follow,
so the server refuses one that relies on old knowledge, and reads ask the server. But what is remembered ends with the
connection: a server that lost its last messages may have given their numbers to others by the time it is reached again.
"""

from collections.abc import Iterator
from threading import Lock
from time import monotonic
from typing import Final

from planwire.journal.jetstream.api import JetStreamApi
from planwire.journal.jetstream.follow import OrderedConsumer
from planwire.journal.jetstream.messages import Mark, StreamMessage, SubjectEnd, is_text, token_of
from planwire.journal.protocol import KnownSession, Once

#: The end of a session that has no events.
NOTHING: Final = SubjectEnd(0, 0, 0, None, 0, 0, 0)
#: Seconds that a writer waits for another thread that is writing to the same session.
TURN: Final = 15.0
#: How many sessions' ends and keys are remembered.
REMEMBERED: Final = 1_000
#: How many subjects one request asks the server for.
SUBJECTS: Final = 500
#: Reading this many events too many is cheaper than another request to find where to begin.
NEAR: Final = 100
#: The token of a subject that is always empty, for names that can't be encoded.
NOWHERE: Final = "==="


class SubjectState:
    """What is known of one session. A writer holds its `turn`."""

    def __init__(self, session: str, subject: str) -> None:
        self.session = session
        self.subject = subject
        self.turn = Lock()
        self.end: SubjectEnd | None = None
        self.keys: dict[tuple[str, int], tuple[int, int]] | None = None  # complete up to the message `keys_upto`
        self.keys_upto = 0
        self.begun = 0
        self.interruptions = 0  # of the connection, when all that was learned

    def outlast(self, interruptions: int) -> None:
        """Forget all if the connection was interrupted since the state was learned."""
        if interruptions != self.interruptions:
            self.interruptions = interruptions
            self.end, self.keys, self.keys_upto, self.begun = None, None, 0, 0

    def moved(self, end: SubjectEnd, mark: Mark | None = None) -> None:
        """Note the session's new end; `mark` is that of its last message."""
        before, self.end = self.end, end
        if end.begun != self.begun:  # it was forgotten, or never known
            self.begun = end.begun
            self.keys, self.keys_upto = ({}, 0) if end.messages <= 1 else (None, 0)
            before = NOTHING
        if self.keys is None or mark is None or before is None:
            return
        if end.messages == before.messages + 1 and self.keys_upto == before.message:
            self._add(mark)
            self.keys_upto = end.message

    def _add(self, mark: Mark) -> None:
        assert self.keys is not None
        for key in mark.keys:
            self.keys[key.source, key.n] = key.first, key.last


class SessionSubjects:
    """All sessions of a stream."""

    def __init__(self, api: JetStreamApi, name: str) -> None:
        self._api = api
        self._stream = name
        self.all = f"{name}.events.*"
        self._known: dict[str, SubjectState] = {}
        self._knowing = Lock()
        self._listing = Lock()
        self._version: object = None
        self._removed: object = None
        self._listed: dict[str, tuple[int, int, KnownSession]] = {}

    def subject(self, session: str) -> str:
        return f"{self._stream}.events.{token_of(session) if is_text(session) else NOWHERE}"

    def whole(self, session: str) -> str:
        """A wildcard for the subject of a session and that of its parts."""
        return f"{self._stream}.*.{token_of(session)}"

    def state(self, session: str) -> SubjectState:
        with self._knowing:
            found = self._known.pop(session, None) or SubjectState(session, self.subject(session))
            self._known[session] = found  # now it is the last to be dropped
            while len(self._known) > REMEMBERED:
                oldest = next(iter(self._known))
                if self._known[oldest].turn.locked():
                    break
                del self._known[oldest]
            return found

    def take_turn(self, state: SubjectState) -> None:
        if not state.turn.acquire(timeout=TURN):
            raise self._api.connection.away("another thread is still waiting for an answer about this session")
        state.outlast(self._api.connection.interruptions)

    def last(self, session: str) -> StreamMessage | None:
        """The last message of a session."""
        return self._api.get(self._stream, last_by_subj=self.subject(session)) if is_text(session) else None

    def refresh(self, state: SubjectState) -> SubjectEnd:
        """Ask the server where the session ends, and note it. The caller has the turn."""
        state.outlast(self._api.connection.interruptions)
        found = self.last(state.session)
        if found is None:
            state.moved(NOTHING)
            state.keys, state.keys_upto = {}, 0
            return NOTHING
        end = found.end()
        state.moved(end, found.mark())
        return end

    def has(self, state: SubjectState, end: SubjectEnd) -> bool:
        """Whether the server still has the message at the end that the state has. It is asked only if the connection
        was interrupted since that was learned. The caller has the turn."""
        interruptions = self._api.connection.interruptions
        if state.interruptions != interruptions and end.message:
            found = self._api.get(self._stream, seq=end.message, next_by_subj=state.subject)
            if found is None or found.end() != end:
                return False
        state.interruptions = interruptions
        return True

    def numbers_with(self, state: SubjectState, once: Once, end: SubjectEnd) -> tuple[int, int] | None:
        """The numbers of the first and last event written with a key, looking up to `end`, which the state has."""
        if state.keys is None:
            state.keys, state.keys_upto = {}, 0
        if state.keys_upto < end.message:
            for each in self.headers(state.subject, state.keys_upto + 1 if state.keys_upto else end.begun, end.message):
                state._add(each.mark())
            state.keys_upto = end.message
        return state.keys.get((once.source, once.n))

    def headers(self, subject: str, number: int, last: int) -> Iterator[StreamMessage]:
        """The messages of a subject from number `number` to `last`, without their bodies."""
        consumer: OrderedConsumer | None = None
        asked = monotonic()
        try:
            while number <= last:
                if consumer is None or consumer.is_lost:
                    if consumer is not None:
                        consumer.close()
                    consumer = OrderedConsumer(self._api, self._stream, subject, number, headers_only=True)
                found = consumer.next(1.0)
                if found is not None:
                    asked = monotonic()
                    number = found.number + 1
                    if found.number <= last:
                        yield found
                elif monotonic() - asked > 1.0:  # the rest may have been forgotten
                    if self._api.get(self._stream, seq=number, next_by_subj=subject) is None:
                        return
                    asked = monotonic()
        finally:
            if consumer is not None:
                consumer.close()

    def messages(self, session: str, after: int, last: StreamMessage, upto: int) -> Iterator[StreamMessage]:
        """The messages of a session with events after a number, up to `last`, its last one as the caller found it."""
        end = last.mark()
        if after >= end.first - 1:
            yield last
            return
        subject = self.subject(session)
        number = self._find(subject, after + 1, end.begun, last)
        reached = 0
        while number < last.number:
            batch = self._api.page(self._stream, subject, number, upto - after + NEAR)
            for each in batch:
                number = each.number + 1
                if each.number >= last.number:
                    break
                mark = each.mark()
                if mark.first > upto or each.begun() != end.begun:
                    return
                yield each
                reached = mark.last
            if not batch and self._api.get(self._stream, seq=number, next_by_subj=subject) is None:
                return  # it was forgotten meanwhile
        if reached + 1 != end.first and self._api.get(self._stream, seq=last.number) is None:
            return  # and begun anew
        if end.first <= upto:
            yield last

    def _find(self, subject: str, event: int, begun: int, last: StreamMessage) -> int:
        """The number of the message with an event, or of one shortly before it. Bisection with guesses: where the event
        would be if the events were spread evenly over the stream."""
        end = last.mark()
        low, low_event, high, high_event = begun, 1, last.number, end.first
        guesses = 0
        while event > low_event and high - low > 1:
            share = (event - low_event) / max(high_event - low_event, 1)
            middle = low + (int((high - low) * share) if guesses % 3 < 2 else (high - low) // 2)
            middle = min(max(middle, low + 1), high - 1)
            guesses += 1
            found = self._api.near(self._stream, subject, middle)
            if found is None or found.number >= high:
                high = middle
                continue
            mark = found.mark()
            if mark.first <= event <= mark.last:
                return found.number
            if event < mark.first:
                high, high_event = middle, mark.first
            else:
                low, low_event = found.number, mark.first
                if event - mark.last < NEAR:  # the events in between fit into the same page
                    return found.number
        return low

    def known(self) -> list[KnownSession]:
        """All sessions, in the order in which they began. Asks only for those that changed since the last call."""
        with self._listing:
            interruptions = self._api.connection.interruptions
            info = self._api.call(f"STREAM.INFO.{self._stream}")["state"]
            version = interruptions, info["last_seq"], info["messages"]
            if version != self._version:
                removed = interruptions, info["last_seq"] - info["messages"]
                if removed != self._removed:  # messages were removed: the same count may mean other messages
                    self._listed = {}
                self._list(self._counts())
                self._version, self._removed = version, removed
            return [each for _, _, each in sorted(self._listed.values(), key=lambda each: each[1])]

    def overfull(self) -> Iterator[str]:
        """The sessions with more messages than their last one counts, which happens if another client publishes an old
        message again. A session ends where its last message says, so events after that are hidden."""
        counts = self._counts()
        for begin in range(0, len(counts), SUBJECTS):
            for last in self._api.last_of(self._stream, sorted(counts)[begin : begin + SUBJECTS]):
                if counts[last.subject] > last.mark().count and self._is_overfull(last.subject):
                    yield last.session()

    def _is_overfull(self, subject: str) -> bool:
        """Look again: others may be writing, and the replica that answered first may lag behind."""
        before = self._api.get(self._stream, last_by_subj=subject)
        count = self._counts(subject).get(subject, 0)
        behind = self._api.get(self._stream, last_by_subj=subject)
        if before is None or behind is None or before.begun() != behind.begun():
            return False  # it was forgotten meanwhile
        return count > behind.mark().count

    def _counts(self, subjects: str | None = None) -> dict[str, int]:
        """How many messages each subject has."""
        counts: dict[str, int] = {}
        wanted = subjects or self.all
        while True:
            info = self._api.call(f"STREAM.INFO.{self._stream}", subjects_filter=wanted, offset=len(counts))
            page = info["state"].get("subjects") or {}
            counts.update(page)
            if not page or len(counts) >= info.get("total", 0):
                return counts

    def _list(self, counts: dict[str, int]) -> None:
        listed = {subject: each for subject, each in self._listed.items() if subject in counts}
        wanted = [subject for subject, count in counts.items() if subject not in listed or listed[subject][0] != count]
        for begin in range(0, len(wanted), SUBJECTS):
            part = set(wanted[begin : begin + SUBJECTS])
            for last in self._api.last_of(self._stream, sorted(part)):
                mark = last.mark()
                if mark.count >= counts[last.subject]:
                    part.discard(last.subject)
                    listed[last.subject] = _listed(last, mark)
            for subject in part:  # the replica that answered lags behind
                found = self._api.get(self._stream, last_by_subj=subject)
                if found is not None:
                    listed[subject] = _listed(found, found.mark())
                else:
                    listed.pop(subject, None)
        self._listed = listed


def _listed(last: StreamMessage, mark: Mark) -> tuple[int, int, KnownSession]:
    return mark.count, last.begun(), KnownSession(last.session(), mark.last, mark.first_at, mark.last_at)
