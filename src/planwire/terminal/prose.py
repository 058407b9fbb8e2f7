"""Markdown as lines: Rich renders the text, the looks give it its style, and steps appear where the text has them."""

import re
from collections.abc import Callable, Iterable, Iterator
from copy import copy
from functools import lru_cache
from io import StringIO
from typing import ClassVar, Final, NamedTuple, Protocol

from markdown_it import MarkdownIt
from msgspec.structs import replace
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.markdown import CodeBlock, Heading, Markdown, MarkdownElement
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from rich.theme import Theme

from planwire.readmodel.card import PlanCard, StepRow
from planwire.readmodel.plain_text import printable
from planwire.readmodel.text_pieces import text_pieces
from planwire.terminal.lines import BLANK, Line, Part, Row

__all__ = ["Passage", "prose_lines", "woven_lines"]

#: Cells in a line of prose: people don't like to read longer ones, however wide the terminal is.
WIDEST: Final = 100
#: The most characters of a text on a screen: rendering more takes seconds, and reading it there hours.
LONGEST: Final = 60_000
#: A block with more characters is shown as it is written.
LONGEST_BLOCK: Final = 8_000
#: Cells by which the text of a list item is indented.
INDENT: Final = 2
#: The key under which the meta of a Rich style names a look.
_LOOK: Final = "look"
_NUMBER: Final = re.compile(r"\d+")


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


@lru_cache(maxsize=1)
def _blank() -> tuple[_Markdown, MarkdownIt]:
    """An empty text to copy, and the parser for others: making either takes longer than parsing a paragraph."""
    return _Markdown("", hyperlinks=False), MarkdownIt().enable("strikethrough").enable("table")


def _markdown(text: str) -> _Markdown:
    blank, parser = _blank()
    markdown = copy(blank)
    markdown.markup = printable(text)
    markdown.parsed = parser.parse(markdown.markup)
    for token in markdown.parsed:
        for child in token.children or ():
            child.content = printable(child.content)  # markdown spells characters as `&#8238;` too
    return markdown


class ProseBlock(NamedTuple):
    """A paragraph, an item of a list, a table or the like. `number` is the place of an item, since authors may write
    `1.` before each. `is_next`: it continues the list of the block before."""

    text: str
    number: int | None = None
    is_next: bool = False


class Passage(Protocol):
    """What a view does with the blocks of a text: it gives each a row, and lines below it."""

    def row(self, text: str) -> Row: ...

    def said(self, text: str, indent: int, row: Row) -> Iterable[Line]: ...


def prose_lines(
    text: str, width: int, indent: int = 0, longest: int | None = LONGEST, passages: Passage | None = None
) -> list[Line]:
    """Render a markdown text, or its `longest` first characters, block by block. While a text grows, only its end
    renders anew."""
    lines: list[Line] = []
    for block in _blocks(text[:longest]):
        rendered = _rendered(_numbered(block), max(min(width, WIDEST) - indent, 8), indent)
        if not rendered:
            continue
        lines += [BLANK] if lines and not block.is_next else []
        if passages is None:
            lines += rendered
        else:
            row = passages.row(block.text)
            lines += [replace(line, row=row) for line in rendered]
            lines += passages.said(block.text, indent + INDENT, row)
    if longest is not None and len(text) > longest:
        lines += [BLANK, Line(((" " * indent + f"… {len(text) - longest:,} characters more", "muted"),))]
    return lines


@lru_cache(maxsize=64)
def _blocks(text: str) -> tuple[ProseBlock, ...]:
    """Split a text into blocks that mean the same alone."""
    rows = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    starts: list[tuple[int, int | None, bool]] = []
    number: int | None = None
    is_first = True
    for token in _parser().parse("\n".join(rows)):
        if token.map is None or token.nesting < 0:
            continue
        if token.level == 0 and token.type in ("bullet_list_open", "ordered_list_open"):
            number = int(token.attrs.get("start", 1)) if token.type.startswith("o") else None
            is_first = True
        elif token.level == 0:
            starts.append((token.map[0], None, False))
        elif token.level == 1 and token.type == "list_item_open":
            starts.append((token.map[0], number, not is_first))
            number = None if number is None else number + 1
            is_first = False
    ends = [start for start, _, _ in starts[1:]] + [len(rows)] * bool(starts)
    return tuple(
        ProseBlock("\n".join(rows[start:end]), item, is_next)
        for (start, item, is_next), end in zip(starts, ends, strict=True)
    )


def _numbered(block: ProseBlock) -> str:
    return block.text if block.number is None else _NUMBER.sub(str(block.number), block.text, count=1)


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark").enable("table")
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


@lru_cache(maxsize=4_096)
def _rendered(text: str, width: int, indent: int) -> tuple[Line, ...]:
    content: RenderableType = Text(printable(text))
    if len(text) <= LONGEST_BLOCK:  # parsing brackets and emphasis costs the square of their length
        content = _markdown(text)
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


def woven_lines(
    card: PlanCard, width: int, step_lines: Callable[[StepRow], tuple[Line, ...]], passages: Passage | None = None
) -> Iterator[Line]:
    """Render the text of a plan with the lines of its steps in place of its tasks."""
    ended = True  # no blank line is needed before the next piece
    for piece in text_pieces(card):
        if isinstance(piece, StepRow):
            yield from step_lines(piece)
            ended = False
        elif lines := prose_lines(piece.text, width, INDENT * (piece.depth + 1), LONGEST, passages):
            yield from lines if ended else [BLANK, *lines]
            yield BLANK
            ended = True
