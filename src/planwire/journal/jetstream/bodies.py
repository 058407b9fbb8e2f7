"""The bodies of messages: packed events, compressed from a certain size on.

Events too large for a message go into separate parts. The message then holds the numbers of the parts, and the links of
its events, which depend on the message's place. So the parts are sent only once, however many other writers come first.
Links too large for the message go into the parts as well, except for the last one, which the next writer needs.
"""

import zlib
from collections.abc import Sequence
from typing import Final, NamedTuple

import msgspec

from planwire.journal.protocol import StoredEvent

#: A body of this many bytes or more is compressed. Below that, compressing takes longer than sending.
_COMPRESSED_FROM: Final = 64 * 1024

_encode: Final = msgspec.msgpack.Encoder().encode
_linked_rows: Final = msgspec.msgpack.Decoder(list[tuple[int, str, bytes, bytes | None]])
_rows: Final = msgspec.msgpack.Decoder(list[tuple[int, str, bytes]])


class MessageBody(NamedTuple):
    """A body, and what the header says about it. The data of one `in_parts` is a `PartsReference`."""

    data: bytes
    is_compressed: bool
    in_parts: bool = False


class PartsReference(msgspec.Struct, array_like=True, frozen=True):
    """The body of a message whose events are in parts: the numbers of the parts in the stream, and the links of all
    events, or only the last link if they are `in_rows`."""

    parts: tuple[int, ...]
    links: tuple[bytes | None, ...]
    in_rows: bool = False


_references: Final = msgspec.msgpack.Decoder(PartsReference)


def body_of(events: Sequence[StoredEvent]) -> MessageBody:
    return MessageBody(*_packed([(each.at, each.by, each.text, each.link) for each in events]))


def rows_of(events: Sequence[StoredEvent]) -> tuple[bytes, bool]:
    """The events packed without their links, and whether the result is compressed."""
    return _packed([(each.at, each.by, each.text) for each in events])


def reference_to(
    parts: Sequence[int], events: Sequence[StoredEvent], is_compressed: bool, links_in_rows: bool
) -> MessageBody:
    links = tuple(each.link for each in (events[-1:] if links_in_rows else events))
    return MessageBody(_encode(PartsReference(tuple(parts), links, links_in_rows)), is_compressed, in_parts=True)


def read_reference(data: bytes) -> PartsReference:
    return _references.decode(data)


def unpacked(body: MessageBody, rows: bytes, first: int) -> list[StoredEvent]:
    """The events of a body, numbered from `first`; `rows` are its parts, joined. `zlib.error` or `ValueError` if the
    data is damaged."""
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
