"""Plain text for people: agents' words made safe to print, on one line if asked for, times as ages, and counts.

Plans come from models that read untrusted text, and a person approves what they see. So four sorts of characters never
reach a screen; a mark replaces them:

- Those that a terminal obeys. An escape sequence in a step must not move the cursor or paste into the window, and a
  line break that only some programs recognise (U+2028, U+2029) must not break a line.
- Those that reorder text: Unicode's bidirectional controls make one text read as another. A text in Arabic or Hebrew
  does without them, but not without the two directional marks (U+200E, U+200F), which place a full stop or a digit.
- Those that look like a gap: planwire sets its own words two spaces away from an author's. So none of the wide blanks
  that are no spaces (Hangul fillers) stays, nor a blank (U+2800) beside a space.
- Those that hide text: tags (U+E0000 …) spell whole sentences that no screen shows and every model reads. So do runs
  of variation selectors and of zero-width characters. A single one is spelling and stays, such as the joiner (U+200D)
  in an emoji, the non-joiner (U+200C) in Persian or the space (U+200B) between Thai words. A second one in a row has no
  such use. And runs of combining marks, which are drawn over the lines above and below, planwire's own among them:
  spelling stacks four at most.
"""

import re
from collections.abc import Callable
from typing import Final

from planwire.model.text import in_quotes, shortened, unwrapped

__all__ = [
    "age",
    "ago",
    "counted",
    "escaped_json",
    "in_quotes",
    "one_line",
    "printable",
    "shortened",
    "spelled_out",
]

_OBEYED: Final = "\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff"
#: Unicode's property Bidi_Control, but for the two directional marks.
_REORDERING: Final = "\u061c\u202a-\u202e\u2066-\u2069"
#: Invisible operators, deprecated format characters, annotations, formats of shorthand and music, and tags.
_HIDING: Final = (
    "\u2061-\u2065\u206a-\u206f\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"
)
_SELECTORS: Final = "\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef"
_JOINER: Final = "\u200d"
#: Blanks as wide as two spaces.
_WIDE: Final = "\u115f\u3164\uffa0"
#: A blank that is not a space: within a text in Braille, it is one.
_BLANK: Final = "\u2800"
#: The other characters that Unicode wants ignored (Default_Ignorable_Code_Point), and the blank. One alone is spelling.
_ZERO_WIDTH: Final = f"\xad\u034f\u1160\u17b4\u17b5\u180e\u200b\u200c\u200e\u200f\u2060{_BLANK}\ufeff"
#: The combining marks of Latin, Greek, Cyrillic, Hebrew, Arabic and Thai, and those for any script.
_COMBINING: Final = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u064b-\u065f\u06d6-\u06dc\u06df-\u06e4\u0e31\u0e34-\u0e3a\u0e47-\u0e4e"
    "\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
)
#: A joiner may follow a selector: many emoji are joined after one.
_UNSAFE: Final = re.compile(
    f"[{_OBEYED}{_REORDERING}{_HIDING}{_WIDE}]"
    rf"|(?<=\s){_BLANK}|{_BLANK}(?=\s)"
    f"|(?<=[{_SELECTORS}{_ZERO_WIDTH}{_JOINER}])[{_SELECTORS}{_ZERO_WIDTH}]"
    f"|(?<=[{_ZERO_WIDTH}{_JOINER}]){_JOINER}"
    f"|(?<=[{_COMBINING}]{{4}})[{_COMBINING}]"
)
#: A unit of time, its milliseconds, and the count from which on the next larger unit reads better.
_UNITS: Final = (("s", 1_000, 60), ("min", 60_000, 60), ("h", 3_600_000, 48), ("d", 86_400_000, 0))


def printable(text: str) -> str:
    """The text, with a mark for every character that a screen would obey, reorder by, hide, or draw over others. Line
    feeds and tabs stay."""
    if text.isascii() and text.isprintable():  # true of nearly every word, and a long history has many
        return text
    return _UNSAFE.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n"))


def one_line(text: str, most: int | None = None) -> str:
    """The text, printable and on one line, with at most `most` characters."""
    line = unwrapped(printable(text))
    return line if most is None else shortened(line, most)


def escaped_json(text: str) -> str:
    """JSON text that means the same, with escapes in place of the characters that `printable` marks."""
    return spelled_out(text, _escape)


def spelled_out(text: str, spelling: Callable[[str], str]) -> str:
    """The text, with a spelling in place of each of the characters that `printable` marks."""
    return _UNSAFE.sub(lambda found: spelling(found[0]), text)


def _escape(sign: str) -> str:
    code = ord(sign)
    if code <= 0xFFFF:
        return f"\\u{code:04x}"
    return f"\\u{0xD800 + (code - 0x10000 >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"


def counted(number: int, noun: str) -> str:
    """So many things: `1 session`, `1,200 sessions`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def age(then: int, now: int) -> str:
    """The time between two Unix times in milliseconds: `now`, `12 s`, `5 min`, `3 h`, `40 d`."""
    passed = max(now - then, 0)
    for unit, size, most in _UNITS:
        count = passed // size
        if count < most or not most:
            return f"{count} {unit}" if count else "now"
    raise AssertionError("the largest unit has no end")


def ago(then: int, now: int) -> str:
    """How long ago it was, without seconds, which would keep changing on screen."""
    return "just now" if now - then < 60_000 else f"{age(then, now)} ago"
