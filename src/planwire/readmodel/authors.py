"""Authors as people read them, and the names that people may have."""

import unicodedata
from typing import Final

from planwire.errors import InputError
from planwire.model.authors import (
    BY_SCRIPT,
    LONGEST_NAME,
    PERSONS_NAMES,
    authored,
    name_and_way,
    plain_name,
    program_name,
    read_as,
)
from planwire.model.records import HOOK, USER
from planwire.readmodel.audience import audience
from planwire.readmodel.plain_text import one_line

__all__ = ["BY_SCRIPT", "author", "authored", "name_and_way", "person_name", "program_name", "read_as"]

#: Authors that planwire itself writes, and words that it uses for them.
_RESERVED: Final = (
    *("agent", "assistant", "client", "hook", "model", "planwire", "relay", "system"),
    *PERSONS_NAMES,
)
#: Scripts that people write today, as the names of their letters begin. Others have letters that look like these.
_SCRIPTS: Final = (
    "ARABIC ARMENIAN BENGALI BOPOMOFO CJK CYRILLIC DEVANAGARI ETHIOPIC GEORGIAN GREEK GUJARATI GURMUKHI HANGUL HEBREW "
    "HIRAGANA KANNADA KATAKANA KATAKANA-HIRAGANA KHMER LAO LATIN MALAYALAM MYANMAR ORIYA SINHALA TAMIL TELUGU THAI "
    "THAANA TIBETAN"
)
#: Scripts that stand together in one word.
_TOGETHER: Final = frozenset(("BOPOMOFO", "CJK", "HANGUL", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA"))


def author(by: str) -> str:
    """The name to show for an author. On a personal face, a person without a name is the reader: no one else steers
    there. A hook shows as planwire."""
    name, way = name_and_way(by)
    if name == USER:
        return authored(audience().unnamed, way)
    return "planwire" if name == HOOK else one_line(by)


def person_name(name: str) -> str:
    """The name, if a person may have it. Raises `InputError` for a name that reads like another author or can't be
    read."""
    if read_as(name).removeprefix("the ") in _RESERVED:
        raise InputError(f"the name {one_line(name)!r} is reserved: choose a name other than {', '.join(_RESERVED)}")
    is_plain = name == plain_name(name) and all(map(_is_of_one_script, unicodedata.normalize("NFKC", name).split()))
    if not name or not is_plain or len(name) > LONGEST_NAME:
        raise InputError(
            f"the name {one_line(name)!r} can't be recorded: a name has 1 to {LONGEST_NAME} letters, digits and "
            ". , @ / + = # & ' - _, words of one script that people write today, and single spaces between them"
        )
    return name


def _is_of_one_script(word: str) -> bool:
    """Whether the letters of a word are of one script, or of those that stand together, and none is a phonetic one."""
    letters = [each for each in word if each.isalpha()]
    scripts = {unicodedata.name(each, "").split(" ")[0] for each in letters}
    is_phonetic = any(
        "\u0250" <= each <= "\u1dff" and unicodedata.name(each, "").startswith("LATIN") for each in letters
    )
    return scripts <= {*_SCRIPTS.split()} and (len(scripts) < 2 or scripts <= _TOGETHER) and not is_phonetic
