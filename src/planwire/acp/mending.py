"""Lines that are not quite JSON, read all the same.

Seen in the wild: half of an emoji (`\\ud83d`), NaN from Python, text in another encoding. The strict decoder refuses a
whole line for it. Python's own decoder is forgiving, and slow to load: only what is broken comes here.
"""

import json
from typing import Any

from planwire.acp.batches import BYTE_ORDER_MARK

__all__ = ["escaped", "lenient_value", "mended_text"]


def lenient_value(line: bytes) -> Any:
    """The value of a line. Bytes that are no UTF-8 are replaced, numbers that JSON lacks become texts.

    Raises `ValueError` or `RecursionError` if nothing can be had of it. Halves of an emoji are still in it.
    """
    text = line.removeprefix(BYTE_ORDER_MARK).decode("utf-8", "replace")
    return json.loads(text, parse_constant=str, parse_float=_finite_or_text)


def mended_text(line: bytes) -> bytes:
    """The line as JSON that every decoder takes, with what could not be kept replaced."""
    text = json.dumps(lenient_value(line), ensure_ascii=False)
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def escaped(value: Any) -> bytes:
    """A value as JSON in ASCII, halves of an emoji spelled out."""
    return json.dumps(value).encode()


def _finite_or_text(number: str) -> float | str:
    value = float(number)
    return value if abs(value) < float("inf") else number
