"""Plain text for people: agents' words made safe to print, on one line if asked for, and times as ages.

Plans come from models that read the world. An escape sequence in a step must not move the cursor, set the title of the
window or paste into it, and a bidirectional override must not make a text read as another one. A mark stands in its
place.
"""

import re
from typing import Final

from planwire.model.text import shortened, unwrapped

__all__ = ["age", "escaped_json", "one_line", "printable", "shortened"]

_OBEYED: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
#: A unit of time, its milliseconds, and the count from which on the next larger unit reads better.
_UNITS: Final = (("s", 1_000, 60), ("min", 60_000, 60), ("h", 3_600_000, 48), ("d", 86_400_000, 0))


def printable(text: str) -> str:
    """The text, with a mark for every character that a terminal would obey. Line feeds and tabs stay."""
    return _OBEYED.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n"))


def one_line(text: str) -> str:
    """The text, printable and on one line."""
    return unwrapped(printable(text))


def escaped_json(text: str) -> str:
    """JSON text that means the same, with escapes for all characters that a terminal would obey."""
    return _OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def age(then: int, now: int) -> str:
    """The time between two Unix times in milliseconds: `now`, `12 s`, `5 min`, `3 h`, `40 d`."""
    passed = max(now - then, 0)
    for unit, size, most in _UNITS:
        count = passed // size
        if count < most or not most:
            return f"{count} {unit}" if count else "now"
    raise AssertionError("the largest unit has no end")
