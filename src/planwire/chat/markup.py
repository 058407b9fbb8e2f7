"""The markup of everything that planwire tells a model: elements that name the author of each text, and their escapes.

Every line of planwire's own begins with `<`, and no line of a text does, whatever line breaks the text has: `<` and `&`
are entities in it. So no text can pass for an element, or for another author's words. A text of several lines is on
lines of its own between its tags. A character that XML does not allow becomes an element (`<char code="27"/>`), so that
neither a provider nor a terminal obeys it. `said` reads all of it back.
"""

import re
from typing import Final, TypeAlias

from planwire.model.authors import name_and_way

#: The values that an attribute takes; None leaves it out.
Value: TypeAlias = str | int | None

_IN_TEXT: Final = {"&": "&amp;", "<": "&lt;", "]]>": "]]&gt;", "\r": "&#13;"}
_IN_ATTRIBUTE: Final = {
    "\t": "&#9;",
    "\n": "&#10;",
    "\r": "&#13;",
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
    "'": "&apos;",
}
_ANY_IN_TEXT: Final = re.compile("[\x00-\x08\x0b-\x1f&<\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]|]]>")
_ANY_IN_ATTRIBUTE: Final = re.compile("[\x00-\x1f&<>\"'\x7f-\x9f\ud800-\udfff\ufffe\uffff\u2028\u2029]")


def inside(text: str) -> str:
    """Text escaped so that it can't leave its element. Every `>` except that of a CDATA end stays, so that markdown's
    quotes and arrows read as their author wrote them."""
    return _ANY_IN_TEXT.sub(lambda found: _IN_TEXT.get(found[0]) or f'<char code="{ord(found[0])}"/>', text)


def attribute(text: str) -> str:
    """Text escaped for an attribute, on one line. A picture (␛) stands for each character that XML does not allow."""
    return _ANY_IN_ATTRIBUTE.sub(lambda found: _IN_ATTRIBUTE.get(found[0]) or _picture(found[0]), text)


def tag(name: str, **attributes: Value) -> str:
    """The opening tag of an element. An underscore in the name of an attribute becomes a hyphen."""
    return f"<{_opening(name, attributes)}>"


def element(name: str, text: str = "", **attributes: Value) -> str:
    """An element around a text."""
    opening = _opening(name, attributes)
    if not text:
        return f"<{opening}/>"
    written = inside(text)
    return f"<{opening}>\n{written}\n</{name}>" if "\n" in text else f"<{opening}>{written}</{name}>"


def _opening(name: str, attributes: dict[str, Value]) -> str:
    if isinstance(by := attributes.get("by"), str):
        author, way = name_and_way(by)
        attributes = {**attributes, "by": author, "way": way or None}
    given = ((key.strip("_").replace("_", "-"), value) for key, value in attributes.items() if value is not None)
    return name + "".join(f' {key}="{attribute(str(value))}"' for key, value in given)


def _picture(character: str) -> str:
    if character < " ":
        return chr(0x2400 + ord(character))
    if character in "\u2028\u2029\x85":
        return f"&#{ord(character)};"
    return "\N{SYMBOL FOR DELETE}" if character == "\x7f" else "\N{REPLACEMENT CHARACTER}"
