"""JSON for programs, which can't harm the terminal of a person who looks at it."""

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
    """Text on standard output, whatever encoding the system believes in: JSON and markdown are UTF-8.

    `now` is for those who wait for every line.
    """
    sys.stdout.buffer.write(text.encode())
    if now:
        sys.stdout.buffer.flush()
