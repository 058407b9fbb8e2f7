"""Text from agents, made safe to print: what a terminal would obey is shown instead.

Plans come from models that read the world. An escape sequence in a step must not move the cursor, set the title of
the window or paste into it, and a bidirectional override must not make a text read as another one.
"""

import re
from typing import Final

__all__ = ["escaped_json", "one_line", "printable"]

_OBEYED: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    """The text, with a mark in place of every character that a terminal would obey. Line feeds and tabs stay."""
    return _OBEYED.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n"))


def one_line(text: str) -> str:
    """The same on one line."""
    return " ".join(printable(text).split())


def escaped_json(text: str) -> str:
    """JSON text that says the same and holds nothing that a terminal would obey: such characters stand in strings."""
    return _OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
