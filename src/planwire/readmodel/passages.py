"""Passages in a text that a face draws block by block: which block each stands in, and which passage a block is."""

from collections.abc import Sequence

from planwire.model.passages import anchored, passage_at, reading
from planwire.steering.wanted import Passage

__all__ = ["block_of", "passage_of", "reading"]


def block_of(texts: Sequence[str], passage: Passage) -> int | None:
    """The number of the block that a passage ends in; None if its place is lost. `texts` are the blocks as people read
    them."""
    place = anchored(" ".join(texts), passage)
    end = place[1] if place else 0
    for number, text in enumerate(texts):
        if place and end <= len(text):
            return number
        end -= len(text) + 1
    return None


def passage_of(texts: Sequence[str], number: int, most: int) -> Passage:
    """A block as a passage: its first `most` characters."""
    start = sum(len(text) + 1 for text in texts[:number])
    return passage_at(" ".join(texts), start, start + len(texts[number][:most].rstrip()))
