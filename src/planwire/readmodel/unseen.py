"""The lines of a plan that people read, each with a key, and which of them a short view leaves out.

Where a person decides about a plan, a face counts the lines that they have not seen. It knows a line by its words and
by how many equal ones stand before it: what was read once stays read in the next version, wherever it stands there.
"""

import re
from base64 import urlsafe_b64encode
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec.structs import replace

from planwire.model.markdown import parse
from planwire.model.passages import parsed, rendered
from planwire.readmodel.card import PlanCard
from planwire.readmodel.plain_text import counted
from planwire.readmodel.text_pieces import is_title

if TYPE_CHECKING:
    from markdown_it.token import Token

__all__ = ["LONGEST_RENDERED", "beginning", "drawn", "left_out", "line_keys", "lines_of", "rendered", "unseen_words"]

#: How much of a plan its beginning has: lines or steps, and characters. A longer text is shown as it is written.
FIRST_LINES: Final = 8
FIRST_TEXT: Final = 600
LONGEST_RENDERED: Final = 100_000
_WORD: Final = re.compile(r"[^\W_]")


class Beginning(NamedTuple):
    """The beginning of a plan as a card of its own, and the keys of the lines that it leaves out."""

    card: PlanCard
    left_out: tuple[str, ...]


class Drawn(NamedTuple):
    """A text as the board draws it, below its title: its tokens, those that draw lines, each with the numbers of these,
    and the lines with words that markdown draws nowhere, such as a list nested too deep."""

    tokens: list["Token"]
    parts: list[tuple["Token", range]]
    dropped: list[int]


@lru_cache(maxsize=64)
def line_keys(lines: tuple[str, ...]) -> tuple[str, ...]:
    """The keys of lines. 96 bits: nobody makes up a line that passes for one that a person has read."""
    seen: Counter[str] = Counter()
    keys = []
    for line in lines:
        seen[line.strip()] += 1
        digest = blake2b(f"{seen[line.strip()]} {line.strip()}".encode(errors="replace"), digest_size=12).digest()
        keys.append(urlsafe_b64encode(digest).decode())
    return tuple(keys)


def lines_of(card: PlanCard) -> tuple[str, ...]:
    """The lines of a plan as it is written: of its text or its fields, or its steps."""
    written = card.text or card.fields
    if written:
        return tuple(written.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
    return tuple(row.text for row in card.rows)


def drawn(card: PlanCard) -> Drawn:
    """The text of a plan as the board draws it."""
    tokens, lines = parsed(card.text), lines_of(card)
    first = 0
    if tokens and tokens[0].type == "heading_open" and is_title(tokens[1].content, card):
        first = tokens[0].map[1] if tokens[0].map else 0
        del tokens[:3]
    parts = list(_parts(tokens))
    known = {*range(first), *(at for _, numbers in parts for at in numbers)}
    return Drawn(tokens, parts, [at for at, line in enumerate(lines) if at not in known and _WORD.search(line)])


def _parts(tokens: Sequence["Token"]) -> Iterator[tuple["Token", range]]:
    """The tokens that draw lines. All cells of a row in a table have its line."""
    row = 0
    is_bare = False  # the words of an item in a list without paragraphs: what is nested in it is not theirs
    for token in tokens:
        start, end = token.map or (0, 0)
        match token.type:
            case "inline" if is_bare:
                yield token, range(start, end)
            case "paragraph_open" | "heading_open" | "code_block" if not token.hidden:
                yield token, range(start, end)
            case "fence":
                yield token, range(start, start + 1 + token.content.count("\n"))
            case "tr_open":
                row = start
            case "th_open" | "td_open":
                yield token, range(row, row + 1)
        is_bare = token.hidden and token.type == "paragraph_open"


def _read(card: PlanCard) -> list[tuple[int, range]]:
    """Where each part of a plan begins that draws lines, and its lines. The title of a text stands above it."""
    lines = lines_of(card)
    if not card.text or len(card.text) > LONGEST_RENDERED:
        return [(at, range(at, at + 1)) for at, line in enumerate(lines) if line.strip()]
    _, parts, dropped = drawn(card)
    read = [(token.map[0] if token.map else numbers.start, numbers) for token, numbers in parts]
    return [*read, *((at, range(at, at + 1)) for at in dropped)]


def beginning(card: PlanCard) -> Beginning:
    """The beginning of a plan: whole parts of its text, or its first steps."""
    lines, shown, size = lines_of(card), 0, 0
    parts = _read(card)
    cut = len(lines)
    for start, numbers in parts:
        shown, size = shown + len(numbers), size + sum(len(lines[at]) for at in numbers)
        if shown > FIRST_LINES or size > FIRST_TEXT:
            cut = start
            break
    hidden = left_out(card, {line_keys(lines)[at] for _, numbers in parts for at in numbers if at < cut})
    if not card.text and not card.fields:
        return Beginning(replace(card, rows=card.rows[:cut]), hidden)
    text = "\n".join(lines[:cut])
    begun = replace(card, text=text if card.text else "", fields="" if card.text else text, ghosts=(), moved=())
    steps = sum(step.words[0] < cut for step in parse(card.text).steps)
    return Beginning(replace(begun, rows=card.rows[:steps]), hidden)


def left_out(card: PlanCard, shown: Container[str]) -> tuple[str, ...]:
    """The keys of the lines of a plan that are not among those shown."""
    keys = line_keys(lines_of(card))
    return tuple(dict.fromkeys(keys[at] for _, numbers in _read(card) for at in numbers if keys[at] not in shown))


def unseen_words(card: PlanCard, count: int = 0) -> str:
    """What the label of an approval adds for lines that were not seen, or a text that can't be read here; `unseen.js`
    says the same."""
    return ", text unseen" if card.problem else f", {counted(count, 'line')} unseen" if count else ""
