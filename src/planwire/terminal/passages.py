"""Passages of a plan's text: the blocks that a person can point at and comment on, with the comments on each."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from planwire.readmodel.card import PlanCard
from planwire.readmodel.plain_text import one_line
from planwire.terminal.lines import Line, Row
from planwire.terminal.remark_words import remark_parts
from planwire.terminal.rows import TEXT
from planwire.terminal.step_lines import Shown, draft_parts

__all__ = ["Passages"]

#: The most characters of a passage that a comment quotes.
QUOTED: Final = 300
#: The sign of a heading, or of an item of a list.
_MARKER: Final = re.compile(r"^(?:#{1,6}|[-*+]|\d+[.)])[ \t]+")


class Passages:
    """The passages of a plan in the order of its text. `placed` holds the remarks and the unsent comments that are
    shown at one of them."""

    def __init__(self, card: PlanCard, width: int, now: int, shown: Shown, *, named: bool = False) -> None:
        self._card = card
        self._width = width
        self._now = now
        self._drafts = [each for each in shown.drafts if each.quote is not None]
        self._named = named
        self._seen: Counter[str] = Counter()
        self.placed: set[object] = set()

    def row(self, text: str) -> Row:
        """The row of the next passage. Two passages with the same words are two rows."""
        quote = _MARKER.sub("", text.strip(), count=1)[:QUOTED].rstrip()
        self._seen[quote] += 1
        return TEXT, self._card.id, quote, self._seen[quote]

    def said(self, text: str, indent: int, row: Row) -> Iterator[Line]:
        """The comments on a passage, each at the first one that contains its quote."""
        words = one_line(text)
        for remark in self._card.remarks:
            if remark.quote and remark.id not in self.placed and one_line(remark.quote) in words:
                self.placed.add(remark.id)
                start = (f"{' ' * indent}› ", "note")
                parts = remark_parts(start, remark, self._now, self._width, quotes=False, named=self._named)
                yield from (Line(each, "", row) for each in parts)
        for draft in [each for each in self._drafts if each not in self.placed and one_line(each.quote or "") in words]:
            self.placed.add(draft)
            yield from (Line(each, "", row) for each in draft_parts(draft, indent, self._width))
