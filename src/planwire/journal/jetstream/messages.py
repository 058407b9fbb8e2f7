"""The messages of a JetStream journal: one for each append, on the subject of its session.

A message has its events in its body. A header holds what must be known about the session without reading events. So the
last message of a subject tells where the session ends, and a pass over headers finds the keys of all appends (`Once`).

Positions: the last event of message number N of the stream has the position N · 2²⁰; the events before it have the
positions directly below. So the number of the stream's last message gives the last position.
"""

import re
import zlib
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import msgspec

from planwire.errors import DamagedJournal
from planwire.journal.chain import sha256
from planwire.journal.codec import decode
from planwire.journal.jetstream.bodies import MessageBody, PartsReference, read_reference, unpacked
from planwire.journal.protocol import Followed, Once, StoredAppend, StoredEvent
from planwire.model.events import Recorded

_SHIFT: Final = 20
EVENTS_PER_MESSAGE: Final = 1 << _SHIFT
#: The most bytes of headers that a stream takes, whatever the server's `max_payload`.
LONGEST_HEAD: Final = (1 << 16) - 1
#: A bound on the numbers of messages: positions of higher ones would not fit into 63 bits.
_LAST_MESSAGE: Final = (1 << 63 - _SHIFT) - 2
_LONGEST_TOKEN: Final = 128
_PLAIN: Final = re.compile(r"[A-Za-z0-9_-]+")

_json: Final = msgspec.json.Encoder()


class KeyRange(msgspec.Struct, array_like=True, frozen=True):
    """The key of an append, and the numbers of the first and the last event that were written with it."""

    source: str
    n: int
    first: int
    last: int


class Mark(msgspec.Struct, array_like=True, frozen=True):
    """What the header says. The message is the `count`-th of its session, with the events `first` to `last`. `begun` is
    the stream's number for the session's first message (0 in that message itself). `session` is set only if the subject
    doesn't spell its name. Events `in_parts` are not in the body (`bodies`)."""

    count: int
    first: int
    last: int
    first_at: int
    last_at: int
    begun: int
    is_compressed: bool = False
    keys: tuple[KeyRange, ...] = ()
    session: str | None = None
    in_parts: bool = False


_marks: Final = msgspec.json.Decoder(Mark)


class SubjectEnd(NamedTuple):
    """The end of a session: the stream's number for its last message (0: none), and what the next one builds on."""

    message: int
    messages: int
    last: int
    link: bytes | None
    first_at: int
    last_at: int
    begun: int


class StreamMessage(NamedTuple):
    """A message as the stream has it. `rows` are its parts, joined, once fetched (`parts`)."""

    number: int
    subject: str
    headers: bytes
    body: bytes
    rows: bytes = b""

    def mark(self) -> Mark:
        try:
            return _marks.decode(header(self.headers, b"Planwire") or b"")
        except msgspec.MsgspecError as error:
            raise DamagedJournal(
                f"message {self.number} on {self.subject} is not planwire's ({error}): someone else wrote to the "
                "journal's stream. Delete that message, or name another stream"
            ) from error

    def begun(self) -> int:
        """The number of the session's first message."""
        return self.mark().begun or self.number

    def session(self) -> str:
        """The name of the session."""
        named = self.mark().session
        return named if named is not None else id_of(self.subject.rpartition(".")[2])

    def events(self, mark: Mark) -> list[StoredEvent]:
        try:
            return unpacked(MessageBody(self.body, mark.is_compressed, mark.in_parts), self.rows, mark.first)
        except (zlib.error, ValueError) as error:
            raise self.damaged(error) from error

    def reference(self) -> PartsReference:
        """The reference to the parts that hold the events."""
        try:
            return read_reference(self.body)
        except ValueError as error:
            raise self.damaged(error) from error

    def damaged(self, why: object) -> DamagedJournal:
        return DamagedJournal(
            f"message {self.number} on {self.subject} can't be read: {why}. The messages before it are intact"
        )

    def end(self) -> SubjectEnd:
        mark = self.mark()
        link = self.reference().links[-1] if mark.in_parts else self.events(mark)[-1].link
        return SubjectEnd(self.number, mark.count, mark.last, link, mark.first_at, mark.last_at, self.begun())

    def recorded(self, session: str) -> list[Recorded]:
        return [decode(session, each.seq, each.at, each.by, each.text) for each in self.events(self.mark())]

    def followed(self, after: int) -> Iterator[Followed]:
        """The events after a position."""
        mark, session = self.mark(), self.session()
        for each in self.events(mark):
            position = (self.number << _SHIFT) - (mark.last - each.seq)
            if position > after:
                yield Followed(position, decode(session, each.seq, each.at, each.by, each.text))

    def appends(self, after: int) -> Iterator[StoredAppend]:
        """The events after a number, as stored appends: one for each key, and for each run of events without one."""
        mark = self.mark()
        rows = self.events(mark)
        first = mark.first
        ranges: list[tuple[int, int, Once | None]] = []
        for key in mark.keys:
            if first < key.first:
                ranges.append((first, key.first - 1, None))
            ranges.append((key.first, key.last, Once(key.source, key.n)))
            first = key.last + 1
        if first <= mark.last:
            ranges.append((first, mark.last, None))
        for begin, end, once in ranges:
            events = tuple(rows[max(begin, after + 1) - mark.first : end + 1 - mark.first])
            if events:
                yield StoredAppend(events, once)


def is_text(name: str) -> bool:
    """Whether a name can be stored: one with half a surrogate pair can't."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def token_of(name: str) -> str:
    """The part of a subject that stands for a name: itself if it is plain, its hash if it is long, else in hex."""
    if _PLAIN.fullmatch(name) and len(name) <= _LONGEST_TOKEN:
        return name
    written = name.encode()
    if 2 * len(written) > _LONGEST_TOKEN:
        return f"=={sha256(written).hexdigest()}"
    return f"={written.hex()}"


def id_of(token: str) -> str:
    """The name that a token stands for; the token must not be a hash."""
    return bytes.fromhex(token[1:]).decode() if token.startswith("=") else token


def parts_subject(subject: str) -> str:
    """The subject of the parts of a session's messages."""
    stream, _, token = subject.split(".")
    return f"{stream}.parts.{token}"


def keys_of(appends: Sequence[StoredAppend]) -> tuple[KeyRange, ...]:
    """The keys of appends, all of which have events."""
    return tuple(
        KeyRange(each.once.source, each.once.n, each.events[0].seq, each.events[-1].seq)
        for each in appends
        if each.once is not None
    )


def bytes_of(keys: tuple[KeyRange, ...]) -> int:
    """The bytes that keys take in the headers."""
    return len(_json.encode(keys))


def head_of(mark: Mark, message_id: str, behind: int) -> bytes:
    """The headers of a message to be written directly after message number `behind` of its subject."""
    return b"NATS/1.0\r\nNats-Msg-Id: %b\r\nNats-Expected-Last-Subject-Sequence: %d\r\nPlanwire: %b\r\n\r\n" % (
        message_id.encode(),
        behind,
        _json.encode(mark),
    )


def header(headers: bytes, name: bytes) -> bytes | None:
    """The value of a header, up to the line break. Ours have none inside: JSON escapes them."""
    mark = b"\r\n%b: " % name
    begin = headers.find(mark)
    if begin < 0:
        return None
    begin += len(mark)
    return headers[begin : headers.find(b"\r\n", begin)]


def first_message_behind(position: int) -> int:
    """The number of the first message that can have events after a position."""
    return min(max(position, 0) >> _SHIFT, _LAST_MESSAGE) + 1


def last_position_of(message: int) -> int:
    return message << _SHIFT
