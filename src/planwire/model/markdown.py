"""The steps and the title of a markdown text.

Its checkboxes are its steps. In a text without any, the items of its top-level numbered lists are: agents write whole
plans that way. People can choose those, but they have no status, so they count as no progress.

Parsing stops at block structure. That is enough to tell a task from a line of code that looks like one. It also gives
the line of each checkbox, so that marking it changes one character.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec import Struct

from planwire.errors import UnknownStep, UnmarkableStatus
from planwire.model.statuses import BOXES, STATUSES, canonical, status_of
from planwire.model.text import unwrapped

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

#: A longer text is kept and shown, but not searched for steps: a hostile sender must not buy minutes of parsing.
MAX_PARSED_CHARACTERS = 262_144

#: The box of a task, and the beginning of a task up to its words.
BOX = rf"\[([{re.escape(''.join(BOXES))}])\]"
TASK = re.compile(rf"{BOX}\s+(?=\S)")
_BYTE_ORDER_MARK = "\ufeff"
#: Lists in lists, and the like, counted twice: markdown drops what is deeper.
MOST_NESTED = 100
_EMPTY = re.compile(rf"\s*(?:{BOX})?\s*")  # words of an item without any
_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n|\Z)")  # lines as the parser counts them


class Checkbox(Struct, frozen=True):
    """A task: its text, the status in its box, its nesting (0 = outermost list), and the offset of the box's character.
    An item of a numbered list has no box: its status is empty, its offset -1.

    `item` spans the lines of its list item, nested items included; `words` spans the lines of its text. Both are
    half-open ranges of lines, counted from 0.
    """

    text: str
    status: str
    depth: int
    offset: int
    item: tuple[int, int]
    words: tuple[int, int]


class Document(Struct, frozen=True):
    """The parts of a markdown text that planwire uses. `title`: its heading, or else its first line unless that is a
    task. `tasks`: its checkboxes. `prose`: whether it has more to read than headings and tasks. `items`: those of its
    top-level numbered lists."""

    title: str
    tasks: tuple[Checkbox, ...]
    prose: bool
    items: tuple[Checkbox, ...] = ()

    @property
    def steps(self) -> tuple[Checkbox, ...]:
        """Its checkboxes; without any, its numbered items."""
        return self.tasks or self.items


@lru_cache(maxsize=16)
def parse(text: str) -> Document:
    """Parse a text. A text over the limit becomes a document without tasks."""
    if len(text) > MAX_PARSED_CHARACTERS:
        return Document(_first_line(text), (), prose=True)
    marked, text = text, text.removeprefix(_BYTE_ORDER_MARK)
    first = len(marked) - len(text)
    tokens = _parser().parse(text)
    starts = [match.start() for match in _LINE.finditer(text)]
    tasks: list[Checkbox] = []
    items: list[Checkbox] = []
    headings: list[tuple[int, str]] = []
    depth = 0
    prose = False
    for index, token in enumerate(tokens):
        match token.type:
            case "bullet_list_open" | "ordered_list_open":
                depth += 1
            case "bullet_list_close" | "ordered_list_close":
                depth -= 1
            case "inline" if tokens[index - 2].type == "list_item_open":
                item, block = tokens[index - 2], tokens[index - 1]
                lines = _lines_of(item, text, starts), _lines_of(block, text, starts)
                box = TASK.match(token.content) if block.type == "paragraph_open" else None
                if box:
                    words, status = token.content[box.end() :], BOXES[box[1]].word
                    offset = first + _offset(text, starts, token)
                    tasks.append(Checkbox(unwrapped(words), status, depth - 1, offset, *lines))
                    continue
                prose = True
                if _is_numbered(item) and not _EMPTY.fullmatch(token.content):
                    items.append(Checkbox(unwrapped(token.content), "", 0, -1, *lines))
            case "inline" if tokens[index - 1].type == "heading_open":
                headings.append((int(tokens[index - 1].tag[1]), unwrapped(token.content)))
            case "inline" | "fence" | "code_block" | "html_block":
                prose = True
    begins = not tasks or text[: starts[tasks[0].item[0]]].strip()  # with something other than a task
    title = _title(headings) or (_first_line(text) if begins else "")
    return Document(title, tuple(tasks), prose, () if tasks else tuple(items))


def _is_numbered(item: "Token") -> bool:
    """Whether a list item is one of a numbered list that stands in no other list and in no quote."""
    return item.level == 1 and item.markup in (".", ")")


def mark(text: str, marks: Iterable[tuple[int, str]]) -> str:
    """Give the tasks with these numbers another status. No character outside their boxes changes."""
    tasks = parse(text).tasks
    known = {index: task.status for index, task in enumerate(tasks)}
    boxes: dict[int, str] = {}
    for index, status in marks:
        if index not in known:
            raise UnknownStep(f"there is no task number {index} in this text: it has {len(tasks)}, counted from 0")
        if known[index] != canonical(status):
            known[index], boxes[tasks[index].offset] = canonical(status), box_of(status)
    characters = list(text) if boxes else []
    for offset, box in boxes.items():
        characters[offset] = box
    return "".join(characters) or text


def box_of(status: str) -> str:
    """The character that shows a status in a checkbox."""
    row = status_of(status)
    if row is None:
        known = ", ".join(STATUSES)
        raise UnmarkableStatus(f"a markdown checkbox can't show the status {status!r}: use one of {known}")
    return row.box


def unmarked(text: str) -> str:
    """The text with every box empty: the part that stays the same while an agent works through the list."""
    parts: list[str] = []
    end = 0
    for task in parse(text).tasks:
        parts += text[end : task.offset], " "
        end = task.offset + 1
    return "".join(parts) + text[end:]


@lru_cache(maxsize=1)
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt  # noqa: PLC0415  (40 ms that a plan without markdown need not pay)

    parser = MarkdownIt("commonmark", {"maxNesting": MOST_NESTED}).enable("table").disable("reference")
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


def _offset(text: str, starts: list[int], token: "Token") -> int:
    """The offset of the character inside the box: the token's first line is the tail of its line in the text."""
    assert token.map is not None
    line = text[starts[token.map[0]] : starts[token.map[0] + 1]].rstrip()
    return starts[token.map[0]] + len(line) - len(token.content.split("\n", 1)[0].rstrip()) + 1


def _lines_of(token: "Token", text: str, starts: list[int]) -> tuple[int, int]:
    """The lines of a token, without blank ones at its end."""
    assert token.map is not None
    first, end = token.map
    while end - 1 > first and not text[starts[end - 1] : starts[end]].strip():
        end -= 1
    return first, end


def _title(headings: list[tuple[int, str]]) -> str:
    """The first of the headings on the highest level."""
    return min((heading for heading in headings if heading[1]), key=lambda heading: heading[0], default=(0, ""))[1]


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")
