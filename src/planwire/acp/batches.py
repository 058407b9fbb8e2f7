"""Batches: several JSON-RPC messages on one line (R36)."""

from typing import Final

import msgspec
from msgspec import Raw

BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
#: Every error a decoder raises for a line that is not JSON.
UNREADABLE: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)

_decode_batch = msgspec.json.Decoder(list[Raw]).decode


def is_batch(line: bytes) -> bool:
    return line.removeprefix(BYTE_ORDER_MARK).lstrip()[:1] == b"["


def split_batch(line: bytes) -> list[bytes]:
    """The messages of a batch, each with its own bytes; none if the line is no batch.

    If one message is not quite JSON, all of them come re-encoded, and the reader mends the bad one.
    """
    if not is_batch(line):
        return []
    try:
        return [bytes(message) for message in _decode_batch(line.removeprefix(BYTE_ORDER_MARK))]
    except UNREADABLE:
        return _split_leniently(line)


def _split_leniently(line: bytes) -> list[bytes]:
    from planwire.acp.mending import escaped, lenient_value  # noqa: PLC0415  (2 ms that only broken lines cost)

    try:
        messages = lenient_value(line)
        return [escaped(message) for message in messages] if isinstance(messages, list) else []
    except (ValueError, RecursionError):
        return []
