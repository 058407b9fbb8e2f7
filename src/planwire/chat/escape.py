"""Text that can't leave the block it stands in.

A block looks like XML, and is: `&` and `<` become entities, and so does the `>` of a CDATA end. Every other `>` stays,
so that markdown's quotes and arrows read as they were written. Characters that XML does not allow are shown as pictures
(␛) or as a replacement character, so that no provider and no terminal obeys them.
"""

import re
from typing import Final

__all__ = ["attribute", "inside"]

_REPLACED: Final = "\N{REPLACEMENT CHARACTER}"
_CONTROLS: Final = {
    **{chr(code): chr(0x2400 + code) for code in range(0x20)},
    "\x7f": "\N{SYMBOL FOR DELETE}",
    **dict.fromkeys(map(chr, (*range(0x80, 0xA0), *range(0xD800, 0xE000), 0xFFFE, 0xFFFF)), _REPLACED),
}
_TEXT: Final = {
    **{character: shown for character, shown in _CONTROLS.items() if character not in "\t\n\r"},
    "&": "&amp;",
    "<": "&lt;",
    "]]>": "]]&gt;",
}
_ATTRIBUTE: Final = {
    **_CONTROLS,
    **{character: f"&#{ord(character)};" for character in "\t\n\r"},
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
    "'": "&apos;",
}
_ANY_IN_TEXT: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f&<\x7f-\x9f\ud800-\udfff\ufffe\uffff]|]]>")
_ANY_IN_ATTRIBUTE: Final = re.compile("[\x00-\x1f&<>\"'\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def inside(text: str) -> str:
    """Text for the inside of a block."""
    return _ANY_IN_TEXT.sub(lambda found: _TEXT[found[0]], text)


def attribute(text: str) -> str:
    """Text for an attribute of a block, between quotation marks."""
    return _ANY_IN_ATTRIBUTE.sub(lambda found: _ATTRIBUTE[found[0]], text)
