"""The bodies of messages: events as they are packed, and compressed from some size on.

Events that fit no message are in parts of their own. Then the message has the numbers of the parts and what depends on
its place, the links of its events: so parts are sent once, however many other writers come first. Links that fit no
message either are in the parts as well, except for the last, which whoever writes next needs.
"""

import zlib
from collections.abc import Sequence
from typing import Final, NamedTuple

import msgspec

from planwire.journal.protocol import StoredEvent

__all__ = ["MessageBody", "PartsReference", "body_of", "read_reference", "reference_to", "rows_of", "unpacked"]

#: Bytes from which a body is compressed. Below it costs more time than the network takes.
_COMPRESSED_FROM: Final = 64 * 1024

_encode: Final = msgspec.msgpack.Encoder().encode
_linked_rows: Final = msgspec.msgpack.Decoder(list[tuple[int, str, bytes, bytes | None]])
_rows: Final = msgspec.msgpack.Decoder(list[tuple[int, str, bytes]])


class MessageBody(NamedTuple):
    """A body, and what its header says of it. One `in_parts` is a `PartsReference`."""

    data: bytes
    is_compressed: bool
    in_parts: bool = False


class PartsReference(msgspec.Struct, array_like=True, frozen=True):
    """What a message has of events that are in parts: the numbers of the parts in the stream, and the links of all
    events, or only the last link if the others are `in_rows`."""

    parts: tuple[int, ...]
    links: tuple[bytes | None, ...]
    in_rows: bool = False


_references: Final = msgspec.msgpack.Decoder(PartsReference)


def body_of(events: Sequence[StoredEvent]) -> MessageBody:
    return MessageBody(*_packed([(each.at, each.by, each.text, each.link) for each in events]))


def rows_of(events: Sequence[StoredEvent]) -> tuple[bytes, bool]:
    """Events without their links, and whether that is compressed."""
    return _packed([(each.at, each.by, each.text) for each in events])


def reference_to(
    parts: Sequence[int], events: Sequence[StoredEvent], is_compressed: bool, links_in_rows: bool
) -> MessageBody:
    links = tuple(each.link for each in (events[-1:] if links_in_rows else events))
    return MessageBody(_encode(PartsReference(tuple(parts), links, links_in_rows)), is_compressed, in_parts=True)


def read_reference(data: bytes) -> PartsReference:
    return _references.decode(data)


def unpacked(body: MessageBody, rows: bytes, first: int) -> list[StoredEvent]:
    """The events of a body, which begin with a number; `rows` are its parts, joined. `zlib.error` or `ValueError` if
    they are damaged."""
    data = rows if body.in_parts else body.data
    if body.is_compressed:
        data = zlib.decompress(data)
    reference = read_reference(body.data) if body.in_parts else None
    if reference is None or reference.in_rows:
        return [StoredEvent(seq, *row) for seq, row in enumerate(_linked_rows.decode(data), first)]
    linked = zip(_rows.decode(data), reference.links, strict=True)
    return [StoredEvent(seq, *row, link) for seq, (row, link) in enumerate(linked, first)]


def _packed(rows: object) -> tuple[bytes, bool]:
    data = _encode(rows)
    if len(data) < _COMPRESSED_FROM:
        return data, False
    return zlib.compress(data), True
