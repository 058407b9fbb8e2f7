"""Authors: a name, and the way that an act came, unless it was by the person's own hand: `Ann (below claude-code)`.

An event keeps the two apart. Everywhere else they are one text, so that nothing shows, compares or tells a name without
its way. A name has no brackets (`readmodel.authors`), so it can't imitate a way.
"""

import re
import unicodedata
from typing import Final

from planwire.model.plan import Fields

LONGEST_NAME: Final = 64
#: No person was at a terminal.
BY_SCRIPT: Final = "by a script"
#: Words for a person who gave no name.
PERSONS_NAMES: Final = ("somebody", "user", "you")
_UNNAMED: Final = "an agent"
#: Letters and marks that no screen shows.
_HIDDEN: Final = "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef"
#: What no name has, such as the signs that planwire sets between names and texts; but for marks of letters.
_NO_LETTER: Final = re.compile(f"[^\\w.,@/+=#&'’\\\\-]|[{_HIDDEN}]")
_AUTHOR: Final = re.compile(r"(.*) \((below [^()]+|by a script|as [^()]+ reports)\)", re.DOTALL)
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


def authored(name: str, way: str) -> str:
    """A name with the way of its act. One that has a way keeps it: it came from where it began."""
    return f"{name} ({way})" if way and not name_and_way(name)[1] else name


def name_and_way(author: str) -> tuple[str, str]:
    found = _AUTHOR.fullmatch(author) if author.endswith(")") else None
    return (found[1], found[2]) if found else (author, "")


def name_of(author: str) -> str:
    return name_and_way(author)[0]


def below(agent: str) -> str:
    """The way of an act by a process that descends from an agent."""
    return f"below {program_name(agent) or _UNNAMED}"


def reported_by(agent: str) -> str:
    """The way of an answer that an agent's hook says a person gave in its terminal."""
    return f"as {program_name(agent) or _UNNAMED} reports"


def by_fields(author: str) -> Fields:
    """The fields of an author in JSON: `by`, and `way` if there is one."""
    name, way = name_and_way(author)
    return {"by": name, "way": way} if way else {"by": name}


def plain_name(name: str) -> str:
    """A name without what no name has: only letters with their marks, digits, some signs, and single spaces."""
    return " ".join(_NO_LETTER.sub(lambda sign: sign[0] if _is_mark(sign[0]) else " ", name).split())


def _is_mark(sign: str) -> bool:
    """Whether a sign belongs to the letter before it, as vowels do in many scripts."""
    return unicodedata.category(sign) in ("Mn", "Mc") and not re.match(f"[{_HIDDEN}]", sign)


def program_name(name: str) -> str:
    """The name that an agent or a client gives itself, without what a person's name can't have either, and without
    commas; "" if nothing is left, or a word for a person."""
    plain = plain_name(name[: 16 * LONGEST_NAME].replace(",", " "))[:LONGEST_NAME].strip()
    return "" if read_as(plain).removeprefix("the ") in PERSONS_NAMES else plain


def read_as(name: str) -> str:
    """A form that is equal for names that people would confuse: it ignores case, and letters of other alphabets that
    look alike."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().translate(_LATIN).split())
