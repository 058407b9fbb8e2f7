"""Who said what, read back from the text that a model gets: the parser of planwire's own markup.

    said_in('<plan-update id="main" by="ann"><note>never touch vendor/</note></plan-update>')
    # (Said(author='ann', kind='note', target='main', text='never touch vendor/'),)

What comes back is exactly what went in, for any text: that is what it means that no text can imitate another author's.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from planwire.errors import BadMessage

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

__all__ = ["Said", "said_in"]

#: Elements around other elements, which hold no text of their own.
_CONTAINERS: Final = frozenset(("plan", "plan-update", "plan-remarks", "planwire-context", "event"))
#: Elements that planwire derives from other texts: they say nothing new.
_DERIVED: Final = frozenset(("index", "also-open"))
_CHARACTER: Final = "char"


class Said(Struct, frozen=True):
    """A piece of free text: its author, the kind of thing that it is (`note`, `step`, `comment`, …), and its target: a
    plan, or a step of one, as in `main#s2`."""

    author: str
    kind: str
    target: str
    text: str


def said_in(text: str) -> tuple[Said, ...]:
    """Everything that is said in blocks of planwire's, in order. Raises `BadMessage` if the text is something else."""
    from xml.etree.ElementTree import ParseError, fromstring  # noqa: PLC0415  (most programs never parse a block)

    try:
        root = fromstring(f"<said>{text}</said>")  # noqa: S314  (within an element there are no declarations)
    except ParseError as error:
        raise BadMessage(f"this is no block of planwire's: {error}") from None
    if (root.text or "").strip() or any((each.tail or "").strip() for each in root):
        raise BadMessage("this is no block of planwire's: there is text around its elements")
    return tuple(said for each in root for said in _said(each, "", ""))


def _said(node: "Element", author: str, plan: str) -> Iterator[Said]:
    author = node.get("by", node.get("source", author))
    plan = node.get("plan", node.get("id", plan) if node.tag in ("plan", "plan-update") else plan)
    step = node.get("step", node.get("id") if node.tag in ("step", "add") else None)
    target = plan if step is None else f"{plan}#{step}"
    children = [each for each in node if each.tag != _CHARACTER]
    if node.tag in _DERIVED:
        return
    if title := node.get("title"):
        yield Said(author, "title", plan, title)
    if not children and node.tag not in _CONTAINERS:
        yield Said(author, node.get("subkind", node.tag), target, _text(node))
        return
    for each in children:
        if each.tag == "text" and node.tag not in _CONTAINERS:
            yield Said(each.get("by", author), node.tag, target, _text(each))
        elif step is not None and each.get("step") is None:
            yield Said(each.get("by", author), each.tag, target, _text(each))
        else:
            yield from _said(each, author, plan)


def _text(node: "Element") -> str:
    """The text of an element: without the line breaks that set several lines apart from their tags."""
    parts = [node.text or ""]
    for each in node:
        parts += chr(int(each.get("code", "0"))), each.tail or ""
    text = "".join(parts)
    return text[1:-1] if text.startswith("\n") else text
