"""Authors as people read them, and the names that people may have."""

import unicodedata
from typing import Final

from planwire.errors import InputError
from planwire.model.authors import BY_SCRIPT, authored, name_and_way
from planwire.model.records import HOOK, USER
from planwire.readmodel.audience import audience
from planwire.readmodel.plain_text import has_unseen, one_line

__all__ = ["BY_SCRIPT", "author", "authored", "person_name", "read_as"]

#: Authors that planwire itself writes, and words that it uses for them.
_RESERVED: Final = (
    *("agent", "assistant", "client", "hook", "model", "planwire", "relay", "somebody", "system", "user", "you"),
)
_LONGEST: Final = 64
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
    is_plain = all(unicodedata.category(each)[0] != "C" for each in name) and not has_unseen(name)
    if not name or name != " ".join(name.split()) or not is_plain or len(name) > _LONGEST:
        raise InputError(
            f"the name {one_line(name)!r} can't be recorded: a name has 1 to {_LONGEST} characters, none of them "
            "invisible, with single spaces between words and none at its ends"
        )
    return name


def read_as(name: str) -> str:
    """A form that is equal for names that people would confuse: it ignores case, and letters of other alphabets that
    look alike."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().translate(_LATIN).split())
