"""How an event is stored: as JSON text, next to its time and its author.

Every engine writes events through here and reads them through here, so that all of them give the same answer, and what
can't be read again is refused before it is written.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import msgspec

from planwire.errors import DamagedJournal, UnstorableEvent
from planwire.journal.protocol import Stamped
from planwire.model.events import Event, Recorded

__all__ = ["Row", "decode", "encode"]

#: The longest text of one event. It is there to protect: plans and messages are a thousand times shorter.
LARGEST_EVENT: Final = 64 * 1024 * 1024
_INTEGERS: Final = range(-(2**63), 2**63)

_encoder = msgspec.json.Encoder()
_decoder: msgspec.json.Decoder[Event] = msgspec.json.Decoder(Event)


class Row(NamedTuple):
    """An event ready to be stored: `text` is what will be written, `event` what will be read from it."""

    at: int
    by: str
    text: str
    event: Event


def encode(session: str, events: Sequence[Stamped]) -> list[Row]:
    """The events as rows, or an error that names the one that can't be stored."""
    rows: list[Row] = []
    for each in events:
        try:
            rows.append(_row(session, each.at, each.by, each.event))
        except (TypeError, ValueError, OverflowError, RecursionError, msgspec.MsgspecError) as error:
            raise UnstorableEvent(
                f"event {len(rows) + 1} of {len(events)} for session {session!r}, a {type(each.event).__name__}, "
                f"can't be stored: {error}; nothing was written. Events hold JSON values only"
            ) from error
    return rows


def decode(session: str, seq: int, at: int, by: str, text: str | bytes) -> Recorded:
    """An event as it was written."""
    try:
        return Recorded(session, seq, at, by, _decoder.decode(text))
    except (ValueError, TypeError, RecursionError, msgspec.MsgspecError) as error:
        raise DamagedJournal(
            f"event {seq} of session {session!r} can't be read: {error}. It was damaged, or written by another "
            "planwire; the events before it are good"
        ) from error


def _row(session: str, at: int, by: str, event: Event) -> Row:
    if not (session.isascii() and by.isascii()):
        (session + by).encode()
    if type(at) is not int or at not in _INTEGERS:
        raise ValueError(f"the time {at!r} is no number of milliseconds")
    written = _encoder.encode(event)
    if len(written) > LARGEST_EVENT:
        raise ValueError(f"it has {len(written):,} bytes, the most are {LARGEST_EVENT:,}")
    return Row(at, by, written.decode(), _decoder.decode(written))
