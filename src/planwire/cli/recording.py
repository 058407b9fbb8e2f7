"""Recorded connections: files with one message per line, bare or wrapped with its sender and time."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Final

import msgspec
from msgspec import Struct, field

from planwire.cli.input_output import opened

_SENDERS: Final = ("client", "agent")


class RecordedLine(Struct, frozen=True):
    """One line of a connection: its number in the file (from 1), its bytes, and sender and time if known."""

    number: int
    line: bytes
    sender: str | None = None
    at: float | None = None


class _Wrapped(Struct):
    line: str
    sender: str = field(name="from")
    t: float | None = None


_decode_wrapped = msgspec.json.Decoder(_Wrapped).decode


def as_recorded(recorded: RecordedLine) -> bytes:
    """The line in the wrapped form."""
    wrapped = {"from": recorded.sender, "line": recorded.line.decode("utf-8", "replace")}
    return msgspec.json.encode(wrapped if recorded.at is None else {"t": recorded.at, **wrapped}) + b"\n"


def read_recording(name: str) -> Iterator[RecordedLine]:
    """The lines of a file, or of standard input if its name is "-"."""
    with opened(name) as file:
        for number, line in enumerate(file, 1):
            text = line.rstrip(b"\r\n")
            if text:
                yield _recorded(number, text)


def _recorded(number: int, line: bytes) -> RecordedLine:
    if b'"from"' in line:
        with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            wrapped = _decode_wrapped(line)
            sender = wrapped.sender if wrapped.sender in _SENDERS else None
            return RecordedLine(number, wrapped.line.encode(), sender, wrapped.t)
    return RecordedLine(number, line)
