"""Authors as people read them, and the names that people may have."""

import unicodedata
from typing import Final

from planwire.errors import InputError
from planwire.model.records import HOOK, USER
from planwire.readmodel.audience import audience
from planwire.readmodel.plain_text import one_line

__all__ = ["author", "person_name"]

#: Authors that planwire itself writes, and words by which it speaks of them.
_RESERVED: Final = (
    *("agent", "assistant", "client", "hook", "model", "planwire", "relay", "somebody", "system", "user", "you"),
)
_LONGEST: Final = 64


def author(by: str) -> str:
    """The name to show for an author. A person without a name is the reader, where there is one: nobody else steers
    there. A hook is planwire's own doing."""
    if by == USER:
        return audience().unnamed
    return "planwire" if by == HOOK else one_line(by)


def person_name(name: str) -> str:
    """The name, if a person may have it. Raises `InputError` for one that reads as another author, or as none."""
    read_as = " ".join(unicodedata.normalize("NFKC", name).casefold().split()).removeprefix("the ")
    if read_as in _RESERVED:
        raise InputError(f"the name {one_line(name)!r} is reserved: choose a name other than {', '.join(_RESERVED)}")
    is_plain = all(unicodedata.category(each)[0] != "C" and each not in "\u2028\u2029" for each in name)
    if not name or name != name.strip() or not is_plain or len(name) > _LONGEST:
        raise InputError(
            f"the name {one_line(name)!r} can't be recorded: a name has 1 to {_LONGEST} characters, none of them "
            "invisible, and no space at its ends"
        )
    return name
