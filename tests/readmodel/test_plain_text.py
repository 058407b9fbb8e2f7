"""Agents' words on a screen: nothing in them is obeyed, reordered or hidden, and honest text stays as it is."""

import json
import re
import sys
import unicodedata
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from planwire.readmodel.plain_text import escaped_json, one_line, printable

#: Unicode's Default_Ignorable_Code_Point, as DerivedCoreProperties.txt lists it: characters that a screen leaves out.
IGNORABLE = re.compile(
    "[\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
REORDERING = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
IGNORED = [chr(code) for code in range(sys.maxunicode + 1) if IGNORABLE.match(chr(code))]
TEXTS = st.text(st.characters() | st.sampled_from([*IGNORED, "a", "\x1b", "\r"]), max_size=40)
#: A selector and a joiner, as in many emoji.
JOINED = re.compile("[\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]\u200d")


def is_obeyed(sign: str) -> bool:
    """By Unicode's own data: controls, separators of lines, and all that changes the direction of text."""
    return (
        (unicodedata.category(sign) in ("Cc", "Cs", "Zl", "Zp") and sign not in "\t\n")
        or unicodedata.bidirectional(sign) in REORDERING
        or unicodedata.name(sign, "") == "ARABIC LETTER MARK"
        or "INTERLINEAR ANNOTATION" in unicodedata.name(sign, "")
        or 0xE0000 <= ord(sign) <= 0xE007F
    )


@given(TEXTS)
@example("a\u2028b\u2029c\u061cd")
@example("ok\U000e0072\U000e006d\U000e0020\U000e002d\U000e0072\U000e0066")
def test_nothing_in_a_printed_text_is_obeyed_or_reordered(text: str) -> None:
    shown = printable(text)
    assert not any(map(is_obeyed, shown))
    assert printable(shown) == shown
    assert len(one_line(text).splitlines()) <= 1


@given(TEXTS)
@example("a\u200b\u200c\u200b\u200c\u200b")
@example("a\ufe00\ufe01\ufe02\U000e0101")
@example("a\ufe0f\u200d\ufe0f\u200d\ufe0f\u200d")
def test_no_text_is_hidden_between_two_visible_characters(text: str) -> None:
    runs = re.findall(f"{IGNORABLE.pattern}+", printable(text))
    assert all(len(run) == 1 or JOINED.fullmatch(run) for run in runs)


def test_no_text_is_drawn_over_the_lines_around_it() -> None:
    assert printable("e" + "\u0301" * 4 + "nd") == "e" + "\u0301" * 4 + "nd"
    assert printable("e" + "\u0301\u0489" * 30 + "nd") == "e" + "\u0301\u0489" * 2 + "\ufffd" * 56 + "nd"


@pytest.mark.parametrize(
    "text",
    [
        "plain words, — “quoted” …",
        "👩‍💻 👁️‍🗨️ 🏳️‍🌈 👍🏽 1️⃣",
        "می‌خواهم",
        "שלום עולם",
        "מחיר: 5\u200e, (א)\u200f.",
        "ไทย\u200bภาษา",
        "Vie\u0323\u0302t",
        "בְּרֵאשִׁ֖ית",
        "葛\U000e0100城",
        "co\xadoperate",
        "a\tb\nc",
    ],
)
def test_honest_text_stays_as_it_is(text: str) -> None:
    assert printable(text) == text


@given(st.recursive(st.none() | TEXTS, lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner)))
@example("\U000e0041\u2028\x9b\u200b\u200b")
def test_escaped_json_says_the_same_and_is_safe(value: Any) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:  # JSON text on a wire holds no half of a pair
        return
    text = escaped_json(json.dumps(value, ensure_ascii=False))
    assert json.loads(text) == value
    assert printable(text) == text


SPACES = "".join(sign for sign in map(chr, range(0x3001)) if sign.isspace())


@pytest.mark.parametrize("blank", SPACES + "\u115f\u2800\u3164\uffa0", ids=ascii)
def test_no_text_on_one_line_has_a_gap(blank: str) -> None:
    """Two blank cells in a row are planwire's: what stands behind them is not its author's."""
    for text in (f"a{blank}b", f"a{blank * 3}b", f"a {blank} {blank} b", f"a {blank}b", f"a{blank} b"):
        line = one_line(text)
        assert not re.search("[\\s\u2800]{2}|[\u115f\u3164\uffa0]", line), (text, line)
