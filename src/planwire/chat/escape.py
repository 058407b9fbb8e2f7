"""Text that can't leave the block it stands in.

A block looks like XML, and is: `&` and `<` become entities, and so does the `>` of a CDATA end. Every other `>` stays,
so that markdown's quotes and arrows read as they were written. Characters that XML does not allow are shown as pictures
(␛) or as a replacement character, so that no provider and no terminal obeys them.
"""

from typing import Final

__all__ = ["attribute", "inside"]

_REPLACED = "\N{REPLACEMENT CHARACTER}"
_CONTROLS: Final = {
    **{code: chr(0x2400 + code) for code in range(0x20)},
    0x7F: "\N{SYMBOL FOR DELETE}",
    **dict.fromkeys((*range(0x80, 0xA0), *range(0xD800, 0xE000), 0xFFFE, 0xFFFF), _REPLACED),
}
_TEXT: Final = {
    **{code: shown for code, shown in _CONTROLS.items() if chr(code) not in "\t\n\r"},
    ord("&"): "&amp;",
    ord("<"): "&lt;",
}
_ATTRIBUTE: Final = {
    **_CONTROLS,
    **{ord(character): f"&#{ord(character)};" for character in "\t\n\r"},
    ord("&"): "&amp;",
    ord("<"): "&lt;",
    ord(">"): "&gt;",
    ord('"'): "&quot;",
    ord("'"): "&apos;",
}


def inside(text: str) -> str:
    """Text for the inside of a block."""
    return text.translate(_TEXT).replace("]]>", "]]&gt;")


def attribute(text: str) -> str:
    """Text for an attribute of a block, between quotation marks."""
    return text.translate(_ATTRIBUTE)
