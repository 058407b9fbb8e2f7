"""Markdown as lines: Rich renders the text, the looks give it its style, and steps stand where the text has them."""

from collections.abc import Callable, Iterator
from functools import lru_cache
from io import StringIO
from itertools import accumulate
from typing import ClassVar, Final

from markdown_it import MarkdownIt
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.markdown import CodeBlock, Heading, Markdown, MarkdownElement
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from rich.theme import Theme

from planwire.readmodel.card import PlanCard, StepRow
from planwire.readmodel.plain_text import printable
from planwire.readmodel.text_pieces import text_pieces
from planwire.terminal.lines import BLANK, Line, Part

__all__ = ["prose_lines", "woven_lines"]

#: Cells in a line of prose: people don't like to read longer ones, however wide the terminal is.
WIDEST: Final = 100
#: Characters of a text on a screen: rendering more takes seconds, and reading it there hours.
LONGEST: Final = 60_000
#: Characters in a piece of text that renders by itself, about. A paragraph above the second bound stays as it is.
PIECE: Final = 800
LONGEST_PIECE: Final = 8_000
#: Cells by which the text of a list item is set in.
INDENT: Final = 2
#: The key under which the meta of a Rich style names a look.
_LOOK: Final = "look"


def _look(name: str) -> Style:
    return Style(meta={_LOOK: name})


_THEME: Final = Theme(
    {
        **{f"markdown.h{level}": _look("heading") for level in range(1, 7)},
        "markdown.code": _look("code"),
        "markdown.code_block": _look("code"),
        "markdown.block_quote": _look("muted"),
        "markdown.hr": _look("rest"),
        "markdown.item.bullet": _look("muted"),
        "markdown.item.number": _look("muted"),
        "markdown.link": _look("note"),
        "markdown.link_url": _look("muted"),
        "markdown.list": Style(),
        "markdown.table.border": _look("rest"),
        "markdown.table.header": Style(bold=True),
    }
)
_CONSOLE: Final = Console(
    file=StringIO(), theme=_THEME, color_system=None, force_terminal=False, highlight=False, legacy_windows=False
)


class _Heading(Heading):
    LEVEL_ALIGN: ClassVar = dict.fromkeys(Heading.LEVEL_ALIGN, "left")


class _Code(CodeBlock):
    """Indented code without highlighting, whose colours would fight with those of the theme."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in str(self.text).rstrip().split("\n"):
            yield Text(f"  {line}", style="markdown.code_block", no_wrap=True, overflow="ellipsis")


class _Markdown(Markdown):
    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": _Heading,
        "fence": _Code,
        "code_block": _Code,
    }

    def __init__(self, text: str) -> None:
        super().__init__(printable(text), hyperlinks=False)
        for token in self.parsed:
            for child in token.children or ():
                child.content = printable(child.content)  # markdown spells characters as `&#8238;` too


def prose_lines(text: str, width: int, indent: int = 0, longest: int | None = LONGEST) -> list[Line]:
    """Render a markdown text, or its `longest` first characters. While a text grows, only its end renders anew."""
    lines: list[Line] = []
    for piece in _blocks(text[:longest]):
        rendered = _rendered(piece, max(min(width, WIDEST) - indent, 8), indent)
        lines += [BLANK, *rendered] if lines and rendered else rendered
    if longest is not None and len(text) > longest:
        lines += [BLANK, Line(((" " * indent + f"… {len(text) - longest:,} characters more", "muted"),))]
    return lines


@lru_cache(maxsize=64)
def _blocks(text: str) -> tuple[str, ...]:
    """Split a text into pieces that mean the same alone: some paragraphs, lists or tables each."""
    rows = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    begins = [0, *accumulate(len(row) + 1 for row in rows)]
    begin, pieces = 0, []
    for token in _parser().parse("\n".join(rows)):
        if token.level == 0 and token.map is not None and begins[token.map[0]] - begins[begin] >= PIECE:
            pieces.append("\n".join(rows[begin : token.map[0]]))
            begin = token.map[0]
    return (*pieces, "\n".join(rows[begin:]))


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark").enable("table")
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


@lru_cache(maxsize=1_024)
def _rendered(text: str, width: int, indent: int) -> tuple[Line, ...]:
    content: RenderableType = Text(printable(text))
    if len(text) <= LONGEST_PIECE:  # parsing brackets and emphasis costs the square of their length
        content = _Markdown(text)
    lines = []
    for segments in _CONSOLE.render_lines(content, _CONSOLE.options.update(width=width), pad=False):
        parts = tuple(_part(segment) for segment in segments if segment.text)
        lines.append(Line(((" " * indent, ""), *parts)) if "".join(each for each, _ in parts).strip() else BLANK)
    while lines and lines[0] is BLANK:
        lines.pop(0)
    while lines and lines[-1] is BLANK:
        lines.pop()
    return tuple(lines)


def _part(segment: Segment) -> Part:
    style = segment.style or Style.null()
    flags = {"strong": style.bold, "emphasis": style.italic, "struck": style.strike}
    looks = [str(style.meta[_LOOK])] if _LOOK in style.meta else []
    return segment.text, " ".join([*looks, *(look for look, has in flags.items() if has)])


def woven_lines(card: PlanCard, width: int, step_lines: Callable[[StepRow], tuple[Line, ...]]) -> Iterator[Line]:
    """Render the text of a plan with the lines of its steps in place of its tasks."""
    ended = True  # no blank line is needed before the next piece
    for piece in text_pieces(card):
        if isinstance(piece, StepRow):
            yield from step_lines(piece)
            ended = False
        elif lines := prose_lines(piece.text, width, INDENT * (piece.depth + 1)):
            yield from lines if ended else [BLANK, *lines]
            yield BLANK
            ended = True
