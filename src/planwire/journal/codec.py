"""The stored form of an event (JSON text, beside its time and author), and of the terms of a lease.

Every engine writes and reads events through this module. So all engines give the same answer, and an event that could
not be read again never reaches a disk. An event that only a newer planwire knows is read as an `UnknownEvent` and
written back byte for byte. Text that is no planwire's event is damage.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import msgspec

from planwire.errors import Conflict, DamagedJournal, UnstorableEvent
from planwire.journal.chain import NO_LINK, link
from planwire.journal.protocol import Stamped, StoredAppend, StoredEvent, Terms
from planwire.model.events import Event, KnownEvent, Recorded, UnknownEvent

#: The longest text of one event, in bytes. Plans and messages are a thousand times shorter: this only protects.
LARGEST_EVENT: Final = 64 * 1024 * 1024
_LEAST, _MOST = -(2**63), 2**63 - 1

_encoder = msgspec.json.Encoder()
_decoder: msgspec.json.Decoder[KnownEvent] = msgspec.json.Decoder(KnownEvent)
#: How msgspec's error for an unknown tag begins: the tag of an event, or of a kind of change in one.
_UNKNOWN_WORD: Final = "Invalid value "
_terms: Final = msgspec.json.Decoder(Terms)


class EventRow(NamedTuple):
    """An event ready to store. An engine writes `text`; `event` is what reading that text will give."""

    at: int
    by: str
    text: str
    event: Event


def encode(session: str, events: Sequence[Stamped]) -> list[EventRow]:
    """Turn events into rows, or raise `UnstorableEvent`, which names the first that has no stored form."""
    rows: list[EventRow] = []
    for each in events:
        try:
            rows.append(_row(session, each.at, each.by, each.event))
        except (TypeError, ValueError, OverflowError, RecursionError, msgspec.MsgspecError) as error:
            raise UnstorableEvent(
                f"event {len(rows) + 1} of {len(events)} for session {session!r}, a {type(each.event).__name__}, "
                f"can't be stored: {error}; nothing was written. Events hold JSON values only"
            ) from error
    return rows


def chained(session: str, last: int, link_before: bytes | None, rows: Sequence[EventRow]) -> list[StoredEvent]:
    """Rows as they are stored after event number `last`, each with its number and its link."""
    stored: list[StoredEvent] = []
    before = link_before or NO_LINK
    for seq, row in enumerate(rows, start=last + 1):
        text = row.text.encode()
        before = link(before, session, seq, row.at, row.by, text)
        stored.append(StoredEvent(seq, row.at, row.by, text, before))
    return stored


def refuse_unless_next(session: str, last: int, appends: Sequence[StoredAppend]) -> None:
    """Raise `Conflict` unless events of another journal continue right after event number `last`, without a gap."""
    for seq in (each.seq for append in appends for each in append.events):
        if seq != last + 1:
            raise Conflict(session, seq - 1, last)
        last = seq


def decode(session: str, seq: int, at: int, by: str | bytes, text: str | bytes) -> Recorded:
    """Turn a row back into the event that it stores."""
    try:
        return Recorded(session, seq, at, by if isinstance(by, str) else by.decode(), decode_event(text))
    except (ValueError, TypeError, RecursionError, msgspec.MsgspecError) as error:
        raise DamagedJournal(
            f"event {seq} of session {session!r} can't be read: {error}. It was damaged, or written by another "
            "planwire; the events before it are intact"
        ) from error


def encode_event(event: Event) -> bytes:
    """The JSON of an event."""
    return event.text.encode() if isinstance(event, UnknownEvent) else _encoder.encode(event)


def decode_event(text: str | bytes) -> Event:
    """The event in a JSON text. If its name, or the kind of a change in it, is a word that is unknown here, it is a
    newer planwire's (`UnknownEvent`). Raises an error of msgspec or Unicode if the text is no event."""
    try:
        return _decoder.decode(text)
    except msgspec.ValidationError as error:
        if not str(error).startswith(_UNKNOWN_WORD):
            raise
        match msgspec.json.decode(text):
            case {"event": str(name)}:
                return UnknownEvent(name, text if isinstance(text, str) else bytes(text).decode())
        raise


def encode_terms(session: str, terms: Terms) -> str:
    """The stored form of a lease's terms. Raises `ValueError` if they or the session are not valid text."""
    try:
        session.encode()
        written = _encoder.encode(terms)
        _terms.decode(written)
    except (TypeError, ValueError, msgspec.MsgspecError) as error:
        raise ValueError(f"a lease of session {session!r} can't have the terms {terms!r}: {error}") from error
    return written.decode()


def decode_terms(text: str) -> Terms:
    """Turn the stored form back. Terms that only another planwire can read become empty ones."""
    try:
        return _terms.decode(text)
    except (ValueError, msgspec.MsgspecError):
        return Terms()


def _row(session: str, at: int, by: str, event: Event) -> EventRow:
    if not (session.isascii() and by.isascii()):
        (session + by).encode()
    if type(at) is not int or not _LEAST <= at <= _MOST:
        raise ValueError(f"the time {at!r} is not a number of milliseconds")
    written = encode_event(event)
    if len(written) > LARGEST_EVENT:
        raise ValueError(f"it has {len(written):,} bytes; the limit is {LARGEST_EVENT:,}")
    return EventRow(at, by, written.decode(), decode_event(written))
