"""Passages of a plan's text: the blocks that a person can point at and comment on, with the comments on each."""

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from planwire.readmodel.card import PlanCard, RemarkCard, StepRow
from planwire.readmodel.passages import block_of, passage_of, reading
from planwire.readmodel.text_pieces import text_pieces, text_without_title
from planwire.steering.wanted import Comment, Passage
from planwire.terminal.lines import Line, Row
from planwire.terminal.prose import blocks_of
from planwire.terminal.remark_words import remark_parts
from planwire.terminal.rows import STEP, TEXT
from planwire.terminal.step_lines import Shown, draft_parts

#: The most characters of a passage that a comment quotes.
QUOTED: Final = 300


class Passages:
    """The passages of a plan in the order of its text, or of the `whole` one with its title. `placed` holds the remarks
    and the unsent comments that are shown at one of them."""

    def __init__(
        self, card: PlanCard, width: int, now: int, shown: Shown, *, whole: bool = True, named: bool = False
    ) -> None:
        self._card = card
        self._width = width
        self._now = now
        self._named = named
        self._seen: Counter[str] = Counter()
        self._number = -1
        self.placed: set[object] = set()
        said: tuple[RemarkCard | Comment, ...] = (*card.remarks, *shown.drafts)
        about = [each for each in said if each.passage is not None]
        texts = _texts(card) if about else ()
        self._here = [(block_of(texts, each.passage), each) for each in about if each.passage is not None]
        if not whole and text_without_title(card) != card.text:  # its title is a block of the text
            self.row(card.text.lstrip().partition("\n")[0])

    def row(self, text: str) -> Row:
        """The row of the next passage. Two passages with the same words are two rows."""
        self._number += 1
        quote = _reading(text)[:QUOTED].rstrip()
        self._seen[quote] += 1
        return TEXT, self._card.id, quote, self._seen[quote]

    def said(self, indent: int, row: Row) -> Iterator[Line]:
        """The comments on the passage of a row."""
        for number, each in self._here:
            if number != self._number:
                continue
            self.placed.add(each.id if isinstance(each, RemarkCard) else each)
            if isinstance(each, RemarkCard):
                start = (f"{' ' * indent}› ", "note")
                parts = remark_parts(start, each, self._now, self._width, quotes=False, named=self._named)
            else:
                parts = draft_parts(each, indent, self._width)
            yield from (Line(each, "", row) for each in parts)

    def said_of(self, step: StepRow, indent: int) -> Iterator[Line]:
        """The comments on the words of the next step."""
        self._number += 1
        yield from self.said(indent, (STEP, self._card.id, step.id))


def passage_at_row(card: PlanCard, row: Row) -> Passage | None:
    """The passage of a row; None if the text has lost it since the row was drawn."""
    texts, (_, _, quote, number) = _texts(card), row
    same = [at for at, text in enumerate(texts) if text[:QUOTED].rstrip() == quote]
    return passage_of(texts, same[int(str(number)) - 1], QUOTED) if quote and len(same) >= int(str(number)) else None


def are_together(card: PlanCard, one: Passage, other: Passage) -> bool:
    """Whether two passages stand in the same block."""
    texts = _texts(card)
    place = block_of(texts, one)
    return place is not None and place == block_of(texts, other)


def _texts(card: PlanCard) -> tuple[str, ...]:
    """The blocks of a plan's text as people read them, steps among them."""
    pieces = text_pieces(card, whole=True) if card.text else ()
    blocks = ((each.text,) if isinstance(each, StepRow) else blocks_of(each.text) for each in pieces)
    return tuple(_reading(text) for each in blocks for text in each)


@lru_cache(maxsize=4_096)
def _reading(text: str) -> str:
    return reading(text)
