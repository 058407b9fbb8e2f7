"""Markdown as lines: Rich renders the text, the looks give it its style, and steps appear where the text has them.

A person decides on what they read, so nothing of a text is hidden: a block whose rendering lacks any of its words (an
HTML comment, a table that is too wide, the title of a link) stands there as it is written.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from copy import copy
from functools import lru_cache
from io import StringIO
from typing import ClassVar, Final, NamedTuple, Protocol

from markdown_it import MarkdownIt
from markdown_it.token import Token
from msgspec.structs import replace
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Heading, Markdown, MarkdownElement, TableElement
from rich.segment import Segment
from rich.style import Style
from rich.table import Table
from rich.text import Text
from rich.theme import Theme

from planwire.readmodel.card import PlanCard, StepRow
from planwire.readmodel.plain_text import printable
from planwire.readmodel.text_pieces import text_pieces
from planwire.terminal.lines import BLANK, GUTTER, Line, Part, Row, broken, is_endless

#: Cells in a line of prose: people don't like to read longer ones, however wide the terminal is.
WIDEST: Final = 100
#: The most characters of a text to render, which takes a while; the rest is shown as it is written.
LONGEST: Final = 60_000
#: A block with more characters is shown as it is written.
LONGEST_BLOCK: Final = 8_000
#: Cells by which the text of a list item is indented.
INDENT: Final = 2
#: The key under which the meta of a Rich style names a look.
_LOOK: Final = "look"
_NUMBER: Final = re.compile(r"\A(\s*)\d+")
#: The numbers of the items of a list, which are counted anew.
_NUMBERS: Final = re.compile(r"^[\s>]*\d+[.)]", re.MULTILINE)


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

    info = ""

    @classmethod
    def create(cls, markdown: Markdown, token: Token) -> CodeBlock:
        code = super().create(markdown, token)
        code.info = token.info.strip()  # type: ignore[attr-defined]
        return code

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self.info:
            yield Text(f"  {self.info}", style="markdown.link_url")
        for line in str(self.text).rstrip().split("\n"):
            for piece in broken(line, options.max_width - 2):
                yield Text(f"  {piece}", style="markdown.code_block")


class _Table(TableElement):
    """A table whose cells wrap, whatever their words."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for table in super().__rich_console__(console, options):
            for column in table.columns if isinstance(table, Table) else ():
                column.overflow = "fold"
            yield table


class _Markdown(Markdown):
    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": _Heading,
        "fence": _Code,
        "code_block": _Code,
        "table_open": _Table,
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


class BlockRows(Protocol):
    """What a view does with the blocks of a text, one after the other: it gives each a row, and lines below it."""

    def row(self, text: str) -> Row: ...

    def said(self, indent: int, row: Row) -> Iterable[Line]: ...

    def said_of(self, step: StepRow, indent: int) -> Iterable[Line]: ...


def prose_lines(
    text: str, width: int, indent: int = 0, longest: int = LONGEST, passages: BlockRows | None = None
) -> list[Line]:
    """Render a markdown text behind a gutter, block by block: its `longest` first characters, and the rest as it is
    written. While a text grows, only its end renders anew. A text for other programs is not rendered at all."""
    lines: list[Line] = []
    end = len(text) if len(text) <= longest else text.rfind("\n", 0, longest) + 1
    room = width if is_endless(width) else max(min(width, WIDEST) - indent - len(GUTTER[0]), 8)
    for block in _blocks(text[:end]):
        rendered = _rendered(block, room, indent)
        lines += [BLANK] if lines and not block.is_next and not is_endless(width) else []
        row = passages.row(block.text) if passages else None
        lines += [replace(line, row=row) for line in rendered] if row else rendered
        lines += passages.said(indent + INDENT, row) if passages and row else ()
    return lines + [_behind_gutter(((piece, ""),), indent) for piece in _as_written(text[end:], room)]


def _behind_gutter(parts: tuple[Part, ...], indent: int) -> Line:
    return Line(((" " * indent, ""), GUTTER, *parts), words="".join(text for text, _ in parts).strip())


def _as_written(text: str, width: int) -> Iterator[str]:
    lines = printable(text.replace("\r\n", "\n").replace("\r", "\n")).split("\n") if text else []
    for line in lines:
        yield from [line] if is_endless(width) else broken(line, width)


def blocks_of(text: str) -> Iterator[str]:
    """The blocks of a text that are drawn one by one, as they are written."""
    return (block.text for block in _blocks(text))


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
    starts[:1] = [(0, *starts[0][1:])] if starts else [(0, None, False)] if text.strip() else []
    ends = [start for start, _, _ in starts[1:]] + [len(rows)] * bool(starts)
    return tuple(
        ProseBlock("\n".join(rows[start:end]), item, is_next)
        for (start, item, is_next), end in zip(starts, ends, strict=True)
    )


def _numbered(block: ProseBlock) -> str:
    return block.text if block.number is None else _NUMBER.sub(rf"\g<1>{block.number}", block.text, count=1)


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark").enable("table")
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


@lru_cache(maxsize=4_096)
def _rendered(block: ProseBlock, width: int, indent: int) -> tuple[Line, ...]:
    if is_endless(width):
        return tuple(_behind_gutter(((line, ""),), indent) for line in _as_written(block.text, width))
    lines: list[Line] = []
    if len(block.text) <= LONGEST_BLOCK:  # parsing brackets and emphasis costs the square of their length
        rendered = _CONSOLE.render_lines(_markdown(_numbered(block)), _CONSOLE.options.update(width=width), pad=False)
        lines = [_behind_gutter(tuple(_part(each) for each in segments if each.text), indent) for segments in rendered]
    while lines and not lines[0].words:
        lines.pop(0)
    while lines and not lines[-1].words:
        lines.pop()
    shown, written = "".join(line.words for line in lines), block.text.strip("\n")
    if _characters(_NUMBERS.sub("", written)) - _characters(shown):
        return tuple(_behind_gutter(((line, ""),), indent) for line in _as_written(written, width))
    return tuple(lines)


def _characters(text: str) -> Counter[str]:
    """How often a text has each letter, digit and other character that is no sign of markdown's."""
    return Counter(each for each in printable(text) if each.isalnum() or not (each.isascii() or each.isspace()))


def _part(segment: Segment) -> Part:
    style = segment.style or Style.null()
    flags = {"strong": style.bold, "emphasis": style.italic, "struck": style.strike}
    looks = [str(style.meta[_LOOK])] if _LOOK in style.meta else []
    return segment.text, " ".join([*looks, *(look for look, has in flags.items() if has)])


def woven_lines(
    card: PlanCard,
    width: int,
    step_lines: Callable[[StepRow], tuple[Line, ...]],
    passages: BlockRows | None = None,
    *,
    whole: bool = False,
) -> Iterator[Line]:
    """Render the text of a plan with the lines of its steps in place of its tasks. The `whole` text has its title."""
    ended = True  # no blank line is needed before the next piece
    left = LONGEST
    for piece in text_pieces(card, whole=whole):
        if isinstance(piece, StepRow):
            yield from step_lines(piece)
            yield from passages.said_of(piece, INDENT * (piece.depth + 2)) if passages else ()
            ended = False
        elif lines := prose_lines(piece.text, width, INDENT * (piece.depth + 1), max(left, 0), passages):
            left -= len(piece.text)
            yield from lines if ended else [BLANK, *lines]
            yield BLANK
            ended = True
