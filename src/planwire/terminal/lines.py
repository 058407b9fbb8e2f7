"""Lines of text for Textual: words, each with the name of a look, so that a theme decides on the colours.

Lines are values. A view that is given other lines compares them with those that it has, and draws only what differs.
"""

from collections.abc import Iterator
from io import StringIO
from typing import Final, TypeAlias

from msgspec import Struct
from rich.cells import cell_len, chop_cells, set_cell_size
from rich.console import Console
from rich.style import Style
from rich.text import Text

__all__ = ["BLANK", "LOOKS", "Line", "Part", "between", "fitted", "lines_of", "parts_of", "progress_bar", "wrapped"]

#: A text, and how it looks: by name, or as Rich says it.
Part: TypeAlias = tuple[str, str | Style]

#: Every look that a line may ask for. Each is a component class of the views: `look--done`, `look--current`, …
LOOKS: Final = (
    "added",
    "bar",
    "code",
    "cancelled",
    "current",
    "done",
    "fresh",
    "ghost",
    "head",
    "heading",
    "high",
    "low",
    "mark",
    "muted",
    "note",
    "odd",
    "open",
    "removed",
    "rest",
    "stopped",
    "strong",
    "waiting",
    "wish",
)


class Line(Struct, frozen=True):
    """One line: `fill` is the look of all of it, `row` what it is about: a step of a plan, a session, a moment."""

    parts: tuple[Part, ...] = ()
    fill: str = ""
    row: tuple[object, ...] | None = None

    @property
    def text(self) -> str:
        return "".join(text for text, _ in self.parts)


BLANK: Final = Line()


def wrapped(text: str, width: int) -> list[str]:
    """The text in lines that are not wider than `width` cells. A word that is wider is cut."""
    if cell_len(text) <= width:
        return [text]
    lines: list[str] = []
    line = ""
    room = width
    for word in _pieces(text, max(width, 1)):
        size = cell_len(word)
        if line and size + 1 > room:
            lines.append(line)
            line, room = "", width
        line = f"{line} {word}" if line else word
        room = width - cell_len(line)
    return [*lines, line]


def _pieces(text: str, width: int) -> Iterator[str]:
    for word in text.split(" "):
        if cell_len(word) <= width:
            yield word
        else:
            yield from chop_cells(word, width)


def fitted(text: str, width: int) -> str:
    """The text on one line of at most `width` cells, with a sign where something was left out."""
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, max(width - 1, 0)).rstrip() + "…" if width > 0 else ""


def between(left: tuple[Part, ...], right: tuple[Part, ...], width: int) -> tuple[Part, ...]:
    """Words at both ends of a line. Where there is no room for both, what is on the right is left out."""
    gap = width - sum(cell_len(text) for text, _ in (*left, *right))
    return (*left, (" " * gap, ""), *right) if gap > 0 and right else left


def progress_bar(done: int, total: int, width: int) -> tuple[Part, ...]:
    """A bar of that many cells. It is full only once everything is done, and not empty once something is."""
    filled = round(width * done / total) if total else 0
    if 0 < done < total and width > 1:
        filled = min(max(filled, 1), width - 1)
    return ("━" * filled, "bar"), ("━" * (width - filled), "rest")


#: The looks that stand for the colours of Rich views.
_LOOK_OF: Final = {
    "green": "added",
    "red": "removed",
    "yellow": "odd",
    "magenta": "wish",
    "cyan": "current",
    "blue": "note",
}
_CONSOLE: Final = Console(file=StringIO(), highlight=False, legacy_windows=False)


def parts_of(text: Text) -> tuple[Part, ...]:
    """The words of a Rich view, in looks that go with the theme."""
    if not text.spans:  # then Rich leaves the style of the whole to others
        style = Style.parse(text.style) if isinstance(text.style, str) else text.style
        return ((text.plain, _look_of(style)),) if text.plain else ()
    return tuple(
        (segment.text, _look_of(segment.style)) for segment in text.render(_CONSOLE) if segment.text.strip("\n")
    )


def lines_of(text: Text, width: int) -> list[Line]:
    """The same in lines that are not wider than `width` cells. What goes on in the next line is set in."""
    before = len(text.plain) - len(text.plain.lstrip(" "))
    indent = before + 2 if before and width > 2 * before else 0
    first, *rest = text.wrap(_CONSOLE, max(width - indent, 1)) or [Text()]
    return [Line(parts_of(first)), *(Line(((" " * indent, ""), *parts_of(each))) for each in rest)]


def _look_of(style: Style | None) -> str:
    if style is None:
        return ""
    if style.color is not None:
        return _LOOK_OF.get(style.color.name, "")
    return "cancelled" if style.strike else "muted" if style.dim else "strong" if style.bold else ""
