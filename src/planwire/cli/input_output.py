"""Files to read, questions to people, and text and JSON for programs that is also safe on a terminal."""

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import IO, Any

import msgspec

from planwire.errors import InputError, reason
from planwire.readmodel.plain_text import escaped_json, one_line, printable


@contextmanager
def opened(name: str) -> Iterator[IO[bytes]]:
    """The file with that name, or standard input if it is "-"."""
    try:
        with nullcontext(sys.stdin.buffer) if name == "-" else Path(name).open("rb") as file:
            yield file
    except OSError as error:
        raise InputError(f"{name} can't be read: {reason(error)}") from None


def agreed(question: str, *, otherwise: bool = False) -> bool:
    """Whether a person says yes. Enter alone means `otherwise`; the end of input means no."""
    try:
        answer = input(f"{question} [{'Y/n' if otherwise else 'y/N'}] ").strip().lower()
    except EOFError:
        print()
        return False
    return answer in ("y", "yes") or (otherwise and not answer)


def chosen(question: str, names: Sequence[str]) -> int | None:
    """The index of the name that a person chooses from a list by number; None if they choose none."""
    for number, name in enumerate(names, start=1):
        print(f"  {number}  {one_line(name)}")
    try:
        answer = input(f"{question} [1-{len(names)}, Enter for none] ").strip()
    except EOFError:
        print()
        return None
    return int(answer) - 1 if answer.isascii() and answer.isdigit() and 1 <= int(answer) <= len(names) else None


def note(words: str | None) -> None:
    """Print words on standard error, beside the output of a command, if there are any."""
    if words:
        print(f"planwire: {printable(words)}", file=sys.stderr)


def print_json(value: Any) -> None:
    """One JSON value, indented."""
    write_text(escaped_json(indented_json(value)) + "\n")


def indented_json(value: Any) -> str:
    return msgspec.json.format(_encoded(value), indent=2).decode()


def json_line(value: Any) -> str:
    """One JSON value on a line of its own."""
    return escaped_json(_encoded(value).decode()) + "\n"


def _encoded(value: Any) -> bytes:
    """The JSON of a value. The name of a file may hold bytes that are not text: these become question marks."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return json.dumps(msgspec.to_builtins(value), ensure_ascii=False).encode("utf-8", "replace")


def write_line(line: bytes) -> None:
    """Write a line of another program's JSON: byte for byte, unless a terminal would obey some of it."""
    safe = escaped_json(line.decode("utf-8", "replace")).encode() if sys.stdout.isatty() else line
    sys.stdout.buffer.write(safe + b"\n")


def write_text(text: str, *, now: bool = False) -> None:
    """Write UTF-8 to standard output, whatever encoding the system prefers. `now` flushes, for live readers."""
    sys.stdout.buffer.write(text.encode())
    if now:
        sys.stdout.buffer.flush()
