"""Mending of lines that are not quite JSON.

Agents in the wild send half of an emoji (`\\ud83d`), NaN from Python, and text in other encodings. The strict decoder
refuses the whole line. Python's own decoder forgives all three but is slow to load, so only broken lines come here.
"""

import json
from typing import Any

from planwire.acp.batches import BYTE_ORDER_MARK


def lenient_value(line: bytes) -> Any:
    """Decode a line, replacing bytes that are not UTF-8 and turning numbers that JSON lacks into texts.

    Keeps halves of an emoji. Raises `ValueError` or `RecursionError` for a line beyond repair.
    """
    text = line.removeprefix(BYTE_ORDER_MARK).decode("utf-8", "replace")
    return json.loads(text, parse_constant=str, parse_float=_finite_or_text)


def mended_text(line: bytes) -> bytes:
    """The line as JSON that every decoder takes, with replacement characters where something broke."""
    text = json.dumps(lenient_value(line), ensure_ascii=False)
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def escaped(value: Any) -> bytes:
    """A value as JSON in ASCII, with halves of an emoji as escapes."""
    return json.dumps(value).encode()


def _finite_or_text(number: str) -> float | str:
    value = float(number)
    return value if abs(value) < float("inf") else number
