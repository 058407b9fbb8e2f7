"""Who said what, read back from the text that a model gets: the parser of planwire's own markup.

    said_in('<plan-update id="main" by="ann"><note>never touch vendor/</note></plan-update>')
    # (Said(author='ann', kind='note', target='main', text='never touch vendor/'),)

For any text, what comes back is exactly what went in: this is how we check that no text can imitate another author's.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from planwire.errors import BadMessage
from planwire.model.authors import authored

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

#: The outermost elements of blocks.
_BLOCKS: Final = frozenset(
    (
        "plan",
        "plan-update",
        "plan-remarks",
        "goal",
        "goal-update",
        "planwire-context",
        "event",
        "event-history",
        "notice",
    )
)
#: Blocks that hold elements and no text of their own.
_CONTAINERS: Final = _BLOCKS - {"event-history", "notice"}
#: Elements that planwire derives from other texts: they say nothing new.
_DERIVED: Final = frozenset(("index", "also-open", "older-notes"))
_CHARACTER: Final = "char"


class Said(Struct, frozen=True):
    """A piece of free text: its author, its kind (`note`, `step`, `comment`, …), and its target: a plan, or a step of
    one, as in `main#s2`."""

    author: str
    kind: str
    target: str
    text: str


def said_in(text: str) -> tuple[Said, ...]:
    """Everything that is said in blocks of planwire's, in order. Raises `BadMessage` if the text is something else."""
    from xml.etree.ElementTree import ParseError, fromstring  # noqa: PLC0415  (most programs never parse a block)

    try:
        root = fromstring(f"<said>{text}</said>")  # noqa: S314  (within an element there are no declarations)
        _refuse_loose_text(root)
        if strange := [each.tag for each in root if each.tag not in _BLOCKS]:
            raise BadMessage(f"this is not a block of planwire's: it has no element <{strange[0]}>")
        return tuple(said for each in root for said in _said(each, _Place()))
    except (ParseError, ValueError, OverflowError, RecursionError) as error:
        raise BadMessage(f"this is not a block of planwire's: {error}") from None


class _Place(Struct, frozen=True):
    """What the elements around a text say about it."""

    author: str = ""
    plan: str = ""
    step: str | None = None
    element: str = ""

    def inside(self, node: "Element") -> "_Place":
        is_plan, is_step = node.tag in ("plan", "plan-update"), node.tag in ("step", "add")
        return _Place(
            authored(node.get("by", node.get("source", self.author)), node.get("way", "")),
            node.get("plan", node.get("id", "") if is_plan else self.plan),
            node.get("step", node.get("id") if is_step else self.step),
            node.tag,
        )


def _said(node: "Element", around: _Place) -> Iterator[Said]:
    if node.tag in _DERIVED:
        return
    here = around.inside(node)
    children = [each for each in node if each.tag != _CHARACTER]
    if node.tag in _CONTAINERS or children:
        _refuse_loose_text(node)
        for each in children:
            yield from _said(each, here)
        return
    kind = around.element if node.tag == "text" and around.element not in _CONTAINERS else node.tag
    target = here.plan if here.step is None else f"{here.plan}#{here.step}"
    yield Said(here.author, kind, target, _text(node))


def _refuse_loose_text(node: "Element") -> None:
    if any((text or "").strip() for text in (node.text, *(each.tail for each in node))):
        raise BadMessage(f"this is not a block of planwire's: there is text around the elements in <{node.tag}>")


def _text(node: "Element") -> str:
    """The text of an element, without the line breaks that separate several lines from their tags."""
    parts = [node.text or ""]
    for each in node:
        parts += chr(int(each.get("code", "0"))), each.tail or ""
    text = "".join(parts)
    return text[1:-1] if text.startswith("\n") else text
