"""Appends too large for a message: their events in parts, on a second subject of the session.

Nothing reads a part until a message on the session's own subject names it. That message alone makes the append count,
and like any other it names the message that it must follow. A writer killed before that leaves parts that mean nothing.
They go when the session is forgotten, because one purge empties both subjects.

A session can be forgotten after the parts were written and before the message is. The server then refuses the message,
because the one that it must follow is gone. But the first message of a session follows none. So its writer checks
afterwards that the parts are still there, and if not, sends them again, each with the number of the part that it
replaces. It can't take the message back, since others may already have written after it.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from time import monotonic, sleep
from types import TracebackType
from typing import Final, Self

from planwire.errors import EngineAway, JournalError, NotWritable
from planwire.journal.jetstream.api import JetStreamApi, new_id
from planwire.journal.jetstream.bodies import MessageBody, body_of, reference_to, rows_of
from planwire.journal.jetstream.messages import StreamMessage, SubjectEnd, header, parts_subject
from planwire.journal.jetstream.stream import JournalStream
from planwire.journal.protocol import StoredEvent

#: Bytes of a part: few enough that a slow network carries one within the time for an answer.
PART: Final = 256 * 1024
#: Bytes of a part's message that its headers may need.
_ROOM: Final = 256
_INSTEAD: Final = b"Planwire-Instead"
#: Bytes of a link, roughly, and how many parts are asked for at once.
_LINK: Final = 40
_AT_ONCE: Final = 16
#: Seconds that a reader gives the writer of a session's first message to send its parts again, and between two looks.
_SENDING: Final = 2.0
_LOOK: Final = 0.05


class PartStore:
    """The parts of all sessions."""

    def __init__(self, api: JetStreamApi, stream: JournalStream) -> None:
        self._api = api
        self.stream = stream

    def send(self, subject: str, parts: Sequence[bytes], sent: list[int], instead: Sequence[int] = ()) -> None:
        """Write parts for a session, and add the number of each to `sent` as soon as the server has it. `instead`: the
        numbers of the lost parts that they replace."""
        for place, part in enumerate(parts):
            head = b"NATS/1.0\r\nNats-Msg-Id: %b\r\n" % new_id().encode()
            head += b"%b: %d\r\n\r\n" % (_INSTEAD, instead[place]) if instead else b"\r\n"
            number = self._api.write(self.stream.name, parts_subject(subject), head, part).number
            assert number is not None  # a part claims no place, so it can't lose it
            sent.append(number)

    def cut(self, rows: bytes) -> list[bytes]:
        size = max(min(PART, self.stream.room - _ROOM), 1)
        return [rows[begin : begin + size] for begin in range(0, len(rows), size)]

    def whole(self, message: StreamMessage) -> StreamMessage | None:
        """A message with its parts fetched, if it has any. None if it was forgotten meanwhile."""
        mark = message.mark()
        if not mark.in_parts:
            return message
        numbers = message.reference().parts
        found: dict[int, bytes] = {}
        for begin in range(0, len(numbers), _AT_ONCE):
            found |= self.fetched(message.subject, numbers[begin : begin + _AT_ONCE])
        end = monotonic() + (0 if mark.begun else _SENDING)
        while missing := [number for number in numbers if number not in found]:
            if not self.has(message.number):
                return None
            if not mark.begun and (again := self._sent_instead(message, missing)):
                found |= again
            elif monotonic() >= end:
                raise message.damaged(f"{len(missing)} of its {len(numbers)} parts are gone")
            else:
                sleep(_LOOK)
        return message._replace(rows=b"".join(found[number] for number in numbers))

    def wholes(self, messages: Iterable[StreamMessage]) -> Iterator[StreamMessage]:
        """Messages of one session with their parts, ending early if the session is forgotten meanwhile."""
        for each in messages:
            message = self.whole(each)
            if message is None:
                return
            yield message

    def has(self, number: int) -> bool:
        return self._api.get(self.stream.name, seq=number) is not None

    @property
    def interruptions(self) -> int:
        """How often the connection was interrupted."""
        return self._api.connection.interruptions

    def drop(self, numbers: Sequence[int]) -> None:
        """Remove parts that no message names, as far as the server can be reached."""
        with suppress(JournalError):
            for number in numbers:
                self._api.delete(self.stream.name, number)

    def fetched(self, subject: str, numbers: Sequence[int]) -> dict[int, bytes]:
        """Parts by their numbers, from any replica; from the leader those that this didn't give."""
        wanted = set(numbers)
        page = self._api.page(self.stream.name, parts_subject(subject), numbers[0], len(numbers))
        found = {each.number: each.body for each in page if each.number in wanted}
        for number in wanted - found.keys():  # another writer's parts lie between them, or the replica lags behind
            part = self._api.get(self.stream.name, seq=number)
            if part is not None:
                found[number] = part.body
        return found

    def _sent_instead(self, message: StreamMessage, numbers: Sequence[int]) -> dict[int, bytes]:
        """Parts of a message that were sent again, by the numbers of those that they replace."""
        subject, wanted, found, begin = parts_subject(message.subject), set(numbers), dict[int, bytes](), message.number
        while page := self._api.page(self.stream.name, subject, begin + 1):
            for each in page:
                number = int(header(each.headers, _INSTEAD) or 0)
                if number in wanted:
                    found[number] = each.body
            begin = page[-1].number
            if wanted == found.keys():
                break
        return found


class LargeBody:
    """The parts of one append while it is written. On exit, those that no message names are removed."""

    def __init__(self, store: PartStore, subject: str) -> None:
        self._store = store
        self._subject = subject
        self._numbers: list[int] = []
        self._parts: list[bytes] = []
        self._is_compressed = False
        self._links_in_rows = False
        self._place = -1  # what the parts are good for: the end (if they hold links) or beginning of the session
        self._interruptions = 0  # of the connection, when the parts were certainly there

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        is_unknown = isinstance(error, EngineAway) and not isinstance(error, NotWritable)
        if error is None or (isinstance(error, JournalError) and not is_unknown):
            self._drop()  # otherwise a message may have been written that names them

    def body(self, events: Sequence[StoredEvent], end: SubjectEnd) -> MessageBody:
        """The body for a message after `end`: the events themselves, unless their parts were sent already."""
        return self.in_parts(events, end) if self._numbers else body_of(events)

    def in_parts(self, events: Sequence[StoredEvent], end: SubjectEnd) -> MessageBody:
        """The body for a message after `end` whose events are in parts; sends those unless they were sent."""
        self._links_in_rows = len(events) * _LINK > self._store.stream.room // 2
        place = end.message if self._links_in_rows else end.begun
        if place != self._place or not self.is_there():
            self._drop()  # parts for another place
            self._place = -1
            rows, self._is_compressed = body_of(events)[:2] if self._links_in_rows else rows_of(events)
            self._parts = self._store.cut(rows)
            self._interruptions = self._store.interruptions
            self._store.send(self._subject, self._parts, self._numbers)
            self._place = place
        return reference_to(self._numbers, events, self._is_compressed, self._links_in_rows)

    def is_there(self) -> bool:
        """Whether the server has all parts that it took. It is asked if the connection was interrupted since: it may
        have lost them, and have given their numbers to other messages."""
        interruptions = self._store.interruptions
        if self._numbers and self._interruptions != interruptions:
            found = self._store.fetched(self._subject, self._numbers)
            if found != dict(zip(self._numbers, self._parts, strict=False)):
                return False
        self._interruptions = interruptions
        return True

    def _drop(self) -> None:
        """Remove the parts, as far as the server can be reached."""
        with suppress(JournalError):
            if self.is_there():
                self._store.drop(self._numbers)
        self._numbers = []

    def see_to_parts(self, message: int) -> None:
        """Send the parts again if they were forgotten before the message that names them was written. Checking the
        first is enough: a `forget` that took any part took that one."""
        if self._numbers and not self._store.has(self._numbers[0]):
            sent: list[int] = []
            self._store.send(self._subject, self._parts, sent, self._numbers)
            if not self._store.has(message):  # the message was forgotten, too
                self._store.drop(sent)

    def was_written(self) -> None:
        """Keep the parts: a message names them now."""
        self._numbers = []
