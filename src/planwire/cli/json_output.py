"""JSON for programs, harmless on a terminal all the same."""

import sys
from typing import Any

import msgspec

from planwire.readmodel.plain_text import escaped_json

__all__ = ["json_line", "print_json", "write_text"]


def print_json(value: Any) -> None:
    """One JSON value, indented."""
    write_text(escaped_json(msgspec.json.format(msgspec.json.encode(value), indent=2).decode()) + "\n")


def json_line(value: Any) -> str:
    """One JSON value on a line of its own."""
    return escaped_json(msgspec.json.encode(value).decode()) + "\n"


def write_text(text: str, *, now: bool = False) -> None:
    """Write UTF-8 to standard output, whatever encoding the system prefers. `now` flushes, for live readers."""
    sys.stdout.buffer.write(text.encode())
    if now:
        sys.stdout.buffer.flush()
