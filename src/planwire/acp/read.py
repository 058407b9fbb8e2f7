"""The reader: a line in, its plan updates, messages and reports out. It raises nothing and drops nothing in silence.

Lines with a proper list of entries take one of the routes in `fast_read`. `salvage` takes everything else apart value
by value and reports each defect.
"""

from typing import Any, Final

import msgspec

from planwire.acp.batches import BYTE_ORDER_MARK, UNREADABLE
from planwire.acp.dialects import Dialect
from planwire.acp.fast_read import read_around_entries, read_strictly
from planwire.acp.messages import Message, Reading, Report, Update
from planwire.acp.salvage import MAX_REPORTS, Reports, excerpt, salvage
from planwire.acp.unknown_values import unknown_values

#: Longer lines are not read: no plan needs 64 MiB, and decoding one would take many times that in memory. The relay
#: still forwards them.
MAX_LINE_BYTES: Final = 64 * 1024 * 1024


_decode_message = msgspec.json.Decoder(Message).decode
_decode_value = msgspec.json.Decoder().decode


def read(line: Any, dialect: Dialect | None = None) -> Reading:
    """Read a line, given as bytes, as text, or as its parsed JSON value.

    With a dialect, reports also cover the words that other readers of that dialect would not know.
    """
    reading = _read_bytes(line if isinstance(line, bytes) else _as_bytes(line))
    if dialect is None or not reading.updates:
        return reading
    notes = [note for update in reading.updates for note in unknown_values(update, dialect)]
    if not notes:
        return reading
    return msgspec.structs.replace(reading, reports=(*reading.reports, *notes)[:MAX_REPORTS])


def _read_bytes(line: bytes) -> Reading:
    if len(line) > MAX_LINE_BYTES:
        problem = f"the line is {len(line):,} bytes long; lines over {MAX_LINE_BYTES:,} are not read"
        return Reading(reports=(Report("line-too-long", "", problem),))
    try:
        if line.endswith(_LIST_AT_THE_END):
            update = read_strictly(line)
        elif b'"plan' in line or (b"\\" in line and b"\\u" in line):  # an escape could spell it
            update = read_around_entries(line)
        else:
            if not line.isascii():
                line.decode()  # the decoder does not check text that it skips
            return Reading(messages=(_decode_message(line),))
    except UNREADABLE:
        return _read_loosely(line)
    return _read_loosely(line) if update is None else Reading((update,))


#: The endings of most lines that follow the schema exactly. A line with another ending likely has fields of its own.
_LIST_AT_THE_END = (b"]}}}", b"]}}}}", b"]}}}\n", b"]}}}}\n")


def _as_bytes(line: Any) -> bytes:
    if isinstance(line, str):
        return line.encode("utf-8", "surrogatepass")
    if isinstance(line, (bytearray, memoryview)):
        return bytes(line)
    try:
        return msgspec.json.encode(line)
    except (TypeError, ValueError, RecursionError):
        return _as_ascii(line)


def _as_ascii(value: Any) -> bytes:
    """Escape a value that UTF-8 can't hold, such as half of an emoji, so that the reader mends and reports it."""
    from planwire.acp.mending import escaped  # noqa: PLC0415  (2 ms that only broken values cost)

    try:
        return escaped(value)
    except (TypeError, ValueError, RecursionError):
        return repr(value).encode("utf-8", "replace")  # not a JSON value: the reader will report that


def _read_loosely(line: bytes) -> Reading:
    reports = Reports()
    line = line.removeprefix(BYTE_ORDER_MARK)
    try:
        value = _decode_value(line)
    except UNREADABLE as problem:
        if not line.strip():
            return Reading()
        value = _decode_mended(line, problem, reports)
        if value is _NOTHING:
            return Reading(reports=tuple(reports.made))
    if isinstance(value, list):
        if not value:
            reports.add("empty-batch", "", "a batch has at least one message", "R36")
        read = [salvage(message, reports, f"[{index}]") for index, message in enumerate(value)]
    else:
        read = [salvage(value, reports)]
    updates = [item for item in read if isinstance(item, Update)]
    messages = [item for item in read if isinstance(item, Message)]
    return Reading(tuple(updates), tuple(messages), tuple(reports.made))


def _decode_mended(line: bytes, problem: Exception, reports: Reports) -> Any:
    """The value of a line that is not quite JSON, after mending; `_NOTHING` for a line beyond repair."""
    from planwire.acp.mending import mended_text  # noqa: PLC0415  (2 ms that only broken lines cost)

    try:
        value = _decode_value(mended_text(line))
    except (ValueError, *UNREADABLE):
        what = "nested too deeply" if isinstance(problem, RecursionError) else f"not JSON ({problem})"
        shown = excerpt(line.decode("utf-8", "replace"))
        reports.add("not-json", "", f"the line is {what}: {shown}", "R34")
        return _NOTHING
    reports.add("not-quite-json", "", f"the line had to be mended to be read ({problem})", "R34")
    return value


_NOTHING = object()
