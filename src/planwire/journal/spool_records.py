"""The records in a segment of a spool, as `spool_append` writes them: whole ones, and what is left of torn ones."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple, Protocol

_BLOCK: Final = 1 << 20
_FIRST_LINE: Final = re.compile(rb"(\d{1,18}) (\d{1,10}) (\d{1,10})\n")


class WholeRecord(NamedTuple):
    """A whole record."""

    at: int
    note: dict[str, str]
    body: bytes


class TornRecord(NamedTuple):
    """A record whose writer did not get to its end, or that was damaged since."""

    at: int | None
    note: dict[str, str]
    head: bytes


class Readable(Protocol):
    """A file to read from."""

    def read(self, size: int, /) -> bytes: ...


def pieces(file: Readable) -> Iterator[bytes]:
    """What stands between the bytes that begin records. A longer piece is read in longer blocks, so that the time stays
    proportional to the length."""
    rest = b""
    is_first = True
    while block := file.read(max(_BLOCK, len(rest))):
        *whole, rest = (rest + block).split(b"\x1e")
        for piece in whole:
            if piece or not is_first:
                yield piece
            is_first = False
    if rest:
        yield rest


def read_piece(piece: bytes) -> WholeRecord | TornRecord:
    """A whole record if all of it is there and not a byte more, or else a torn one."""
    first = _FIRST_LINE.match(piece)
    if first is None:
        return TornRecord(None, {}, b"")
    at, for_note, for_body = map(int, first.groups())
    end_of_note = first.end() + for_note
    if piece[end_of_note : end_of_note + 1] != b"\n":
        return TornRecord(at, {}, b"")
    note = read_note(_plain(piece[first.end() : end_of_note]))
    body = piece[end_of_note + 1 :]
    if len(body) == for_body + 1 and body.endswith(b"\n"):
        return WholeRecord(at, note, _plain(body[:-1]))
    return TornRecord(at, note, _plain(body))


def read_note(line: bytes) -> dict[str, str]:
    """A note, as `encode_note` wrote it."""
    fields = (field.partition("=") for field in line.decode("utf-8", "replace").split("\t"))
    return {key: value for key, sign, value in fields if sign}


def _plain(data: bytes) -> bytes:
    return data.replace(b"\x1f^", b"\x1e").replace(b"\x1f_", b"\x1f")
