"""Passages: where words that a person pointed at stand in a plan's text, also after the text around them changed.

Texts are compared as people read them: markdown rendered, each run of white space as one space. What is selected in a
browser is rendered text: a cell of a table, a line of code, half an item. The source has markup between these letters,
which nobody selected, and which an agent changes without changing a word.
"""

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from planwire.errors import PlanError
from planwire.model.events import Passage
from planwire.model.markdown import MAX_PARSED_CHARACTERS, MOST_NESTED, TASK
from planwire.model.plan import ItemsPlan, MarkdownPlan, Plan
from planwire.model.text import shortened

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

#: Characters that a passage keeps of what stands before it, and of what stands after it.
AROUND: Final = 64
#: The least number of characters that must be equal on one side of a passage: one whose surroundings are gone may be
#: quite another one with the same words, however many these are.
ENOUGH: Final = 16
#: Characters that nobody can point at. Faces show a mark for some of them, and nothing for others.
_UNSEEN: Final = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\xad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufffd]")
_SPACE: Final = re.compile(r"\s+")


def reading_of(plan: Plan) -> str | None:
    """The text of a plan as people read it; None if the journal does not have it."""
    match plan:
        case MarkdownPlan(content=text):
            return reading(text)
        case ItemsPlan(entries=entries):
            return _plain("\n".join(entry.content for entry in entries)).strip()
    return None


@lru_cache(maxsize=64)
def reading(text: str) -> str:
    """A markdown text as people read it."""
    if len(text) > MAX_PARSED_CHARACTERS:  # faces show it as it was written
        return _plain(text).strip()
    pieces: list[str] = []
    in_item = False
    for token in parsed(text):
        if token.type == "inline":
            content = "".join(map(_words, token.children or ()))
            box = TASK.match(content) if in_item else None
            pieces.append(content[box.end() :] if box else content)
        elif token.type in ("fence", "code_block"):
            pieces.append(token.content)
        in_item = token.type in ("list_item_open", "paragraph_open") and (in_item or token.type == "list_item_open")
    return _plain("\n".join(pieces)).strip()


def _words(token: "Token") -> str:
    return "\n" if token.type in ("softbreak", "hardbreak") else token.content


def parsed(text: str) -> "list[Token]":
    """A markdown text as the board draws it: HTML in it stays text, and a table keeps the cells beyond its heads."""
    from markdown_it.rules_block.table import escapedSplit  # noqa: PLC0415
    from markdown_it.token import Token  # noqa: PLC0415

    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    tokens: list[Token] = []
    width = row = 0
    for token in _parser().parse(text):
        if token.type == "tr_open":
            width, row = 0, token.map[0] if token.map else -1
        elif token.type == "td_open":
            width += 1
        elif token.type == "tr_close" and width and row >= 0:
            cells = escapedSplit(lines[row].strip("> \t").removeprefix("|").removesuffix("|"))
            for cell in cells[width:]:
                child = Token("text", "", 0, content=cell.strip())
                inline = Token("inline", "", 0, content=cell.strip(), children=[child])
                tokens += [Token("td_open", "td", 1), inline, Token("td_close", "td", -1)]
        tokens.append(token)
    return tokens


def rendered(tokens: "list[Token]") -> str:
    """The HTML of a parsed text."""
    return str(_parser().renderer.render(tokens, _parser().options, {}))


@lru_cache(maxsize=1)
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt  # noqa: PLC0415  (40 ms that a plan without passages need not pay)

    return (
        MarkdownIt("commonmark", {"html": False, "maxNesting": MOST_NESTED})
        .enable(["table", "strikethrough"])
        .disable("reference")
    )


def _plain(text: str) -> str:
    return _SPACE.sub(" ", _UNSEEN.sub("", text))


def anchored(text: str, passage: Passage) -> tuple[int, int] | None:
    """Where a passage stands in a text as people read it: from, and up to. None if its place is lost.

    Of all places with its words, it is the one with the most equal text on one side: who edits a text seldom changes
    both sides of a place. Then both sides count, and then its number. `passages.js` has the same rule for the page.
    """
    words, before, after = _plain(passage.text).strip(), _plain(passage.before), _plain(passage.after)
    best: tuple[int, int, int, int] | None = None
    for number, at in enumerate(occurrences(text, words), start=1):
        end = at + len(words)
        left = _agreed(text[max(at - len(before), 0) : at][::-1], before[::-1])
        right = _agreed(text[end : end + len(after)], after)
        agreed = left + right
        is_same = words == text or 0 < agreed == len(before) + len(after)
        left += left == len(before) and left in (AROUND, at)  # the end of a text is part of what surrounds a place
        right += right == len(after) and right in (AROUND, len(text) - end)
        is_whole = 1 < left > len(before) or 1 < right > len(after)
        if is_whole or is_same or max(left, right) >= ENOUGH:
            found = max(left, right), left + right, -abs(number - passage.occurrence), at
            best = found if best is None or found[:3] > best[:3] else best
    return (best[3], best[3] + len(words)) if best else None


def occurrences(text: str, words: str) -> list[int]:
    """All places of some words in a text, overlapping ones too."""
    places: list[int] = []
    at = text.find(words) if words else -1
    while at >= 0:
        places.append(at)
        at = text.find(words, at + 1)
    return places


def _agreed(one: str, other: str) -> int:
    length = min(len(one), len(other))
    return next((at for at in range(length) if one[at] != other[at]), length)


def passage_at(text: str, start: int, end: int) -> Passage:
    """The passage of a text from one place up to another."""
    words = text[start:end]
    number = occurrences(text[:end], words).index(start) + 1
    return Passage(words, text[max(start - AROUND, 0) : start], text[end : end + AROUND], number)


def passage_named(plan: Plan, passage: Passage) -> Passage:
    """The passage that a person means by its words, or by its words and which occurrence of them (0: the only one),
    with what stands around it. Raises `PlanError` if it is none, or one of several."""
    text = reading_of(plan)
    if text is None or passage.before or passage.after:
        return passage
    words = _plain(passage.text).strip()
    places, name = occurrences(text, words), f"“{shortened(words, AROUND)}”"
    if not places:
        raise PlanError(f"The plan's text has no {name}: quote words as they read there, without markup.")
    if not passage.occurrence and len(places) > 1:
        raise PlanError(f"The plan's text has {name} {len(places)} times: say which one, 1 to {len(places)}.")
    if passage.occurrence > len(places):
        raise PlanError(f"The plan's text has {name} only {len(places)} times.")
    start = places[max(passage.occurrence, 1) - 1]
    return passage_at(text, start, start + len(words))
