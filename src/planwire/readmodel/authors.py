"""Authors as people read them, and the names that people may have."""

import unicodedata
from typing import Final

from planwire.errors import InputError
from planwire.model.authors import BY_SCRIPT, LONGEST_NAME, authored, name_and_way
from planwire.model.records import HOOK, USER
from planwire.readmodel.audience import audience
from planwire.readmodel.plain_text import has_unseen, one_line

__all__ = ["BY_SCRIPT", "author", "authored", "name_and_way", "person_name", "read_as"]

#: Authors that planwire itself writes, and words that it uses for them.
_RESERVED: Final = (
    *("agent", "assistant", "client", "hook", "model", "planwire", "relay", "somebody", "system", "user", "you"),
)
#: Scripts that people write today, as the names of their letters begin. Others have letters that look like these.
_SCRIPTS: Final = (
    "ARABIC ARMENIAN BENGALI BOPOMOFO CJK CYRILLIC DEVANAGARI ETHIOPIC GEORGIAN GREEK GUJARATI GURMUKHI HANGUL HEBREW "
    "HIRAGANA KANNADA KATAKANA KATAKANA-HIRAGANA KHMER LAO LATIN MALAYALAM MYANMAR ORIYA SINHALA TAMIL TELUGU THAI "
    "THAANA TIBETAN"
)
#: Scripts that stand together in one word.
_TOGETHER: Final = frozenset(("BOPOMOFO", "CJK", "HANGUL", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA"))
#: Latin letters, and the Cyrillic, Greek and other letters that look like them in small or capital form.
_ALIKE: Final = {
    "a": "\u0430\u03b1",
    "b": "\u0432\u03b2",
    "c": "\u0441\u03f2",
    "d": "\u0501",
    "e": "\u0435\u03b5",
    "g": "\u0261",
    "h": "\u043d\u04bb\u03b7",
    "i": "\u0456\u03b9\u0131\u04cf",
    "j": "\u0458\u03f3",
    "k": "\u043a\u03ba",
    "m": "\u043c\u03bc",
    "n": "\u03bd",
    "o": "\u043e\u03bf\u0585",
    "p": "\u0440\u03c1",
    "q": "\u051b",
    "s": "\u0455",
    "t": "\u0442\u03c4",
    "u": "\u057d",
    "v": "\u0475",
    "w": "\u051d",
    "x": "\u0445\u03c7",
    "y": "\u0443\u03c5",
    "z": "\u03b6",
}
_LATIN: Final = str.maketrans({each: letter for letter, others in _ALIKE.items() for each in others})


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
    is_plain = all(unicodedata.category(each)[0] != "C" and each not in "()" for each in name) and not has_unseen(name)
    is_plain = is_plain and all(map(_is_of_one_script, unicodedata.normalize("NFKC", name).split()))
    if not name or name != " ".join(name.split()) or not is_plain or len(name) > LONGEST_NAME:
        raise InputError(
            f"the name {one_line(name)!r} can't be recorded: a name has 1 to {LONGEST_NAME} characters, none of them "
            "invisible or a bracket, words of one script that people write today, and single spaces between them"
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


def read_as(name: str) -> str:
    """A form that is equal for names that people would confuse: it ignores case, and letters of other alphabets that
    look alike."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().translate(_LATIN).split())
