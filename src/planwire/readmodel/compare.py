"""Two cards of a plan side by side, as values: its rows and lines in pairs, and what people said in between."""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import groupby
from operator import itemgetter
from typing import Final, TypeVar

from msgspec import Struct

from planwire.model.diff import compare
from planwire.model.markdown import unmarked
from planwire.readmodel.authors import author
from planwire.readmodel.card import PlanCard, StepRow
from planwire.readmodel.unseen import line_keys

#: The longest text, in lines, whose lines are worth comparing.
MOST_LINES: Final = 2_000

SAME: Final = "same"
_KINDS: Final = {"equal": SAME, "insert": "added", "delete": "removed", "replace": "changed"}


class PairedRow(Struct, frozen=True):
    """A step before and after; None where the plan lacks it. `kind` is `same`, `added`, `removed`, `changed` or
    `moved`; a changed step may have moved as well. `key` is that of its line (`unseen`) if it is one by itself."""

    kind: str
    before: StepRow | None
    after: StepRow | None
    has_moved: bool = False
    key: str = ""


class PairedLine(Struct, frozen=True):
    """A line of a text before and after, with the same kinds as rows."""

    kind: str
    before: str | None
    after: str | None
    key: str = ""


class SaidBetween(Struct, frozen=True):
    """A remark or a review that only one of two moments has; `kind` is `added` or `removed`."""

    kind: str
    who: str
    text: str


class Comparison(Struct, frozen=True):
    """A plan at two moments; None where it did not exist. `is_same` is about the agent's plan, without what people
    said. `too_long` has the lengths in lines of two texts that are too long to compare."""

    before: PlanCard | None
    after: PlanCard | None
    is_same: bool
    said: tuple[SaidBetween, ...]
    rows: tuple[PairedRow, ...]
    lines: tuple[PairedLine, ...]
    too_long: tuple[int, int] | None = None

    @property
    def differs(self) -> bool:
        """Whether there is anything to see."""
        return bool(self.said) or not self.is_same


_Paired = TypeVar("_Paired", PairedRow, PairedLine)


def compare_cards(before: PlanCard | None, after: PlanCard | None) -> Comparison:
    """Compare a plan at two moments. A removed plan counts as missing."""
    old = None if before is None or before.removed else before
    new = None if after is None or after.removed else after
    has_boxes = any(row.status for card in (old, new) if card for row in card.rows)
    rows = tuple(_rows(old, new)) if has_boxes else ()  # the lines say all about the items of a numbered list
    texts = [card.text if card else "" for card in (old, new)]
    lengths = tuple(len(text.splitlines()) for text in texts)
    # Texts that differ only in their boxes are equal: the rows show the boxes.
    differ = bool((old and new) or not rows) and texts[0] != texts[1] and unmarked(texts[0]) != unmarked(texts[1])
    too_long = differ and max(lengths) > MOST_LINES
    return Comparison(
        old,
        new,
        _content(old) == _content(new),
        said_between(old, new),
        rows,
        tuple(_lines(*(text.splitlines() for text in texts))) if differ and not too_long else (),
        (lengths[0], lengths[1]) if too_long else None,
    )


def near_changes(pairs: Sequence[_Paired], around: int | None) -> Iterator[_Paired | int]:
    """The changed pairs and those up to `around` places from one, with counts in place of the rest; all pairs if
    `around` is None."""
    if around is None:
        yield from pairs
        return
    changed = [pair.kind != SAME for pair in pairs]
    near = [any(changed[max(0, at - around) : at + around + 1]) for at in range(len(pairs))]
    for is_near, run in groupby(zip(pairs, near, strict=True), key=itemgetter(1)):
        together = [pair for pair, _ in run]
        if is_near or len(together) == 1:
            yield from together
        else:
            yield len(together)


def paired(before: Sequence[StepRow], after: Sequence[StepRow]) -> list[tuple[StepRow | None, StepRow | None]]:
    """Merge two lists of steps in the newer order; a removed step keeps its old neighbour."""
    old = {row.id: row for row in before}
    kept = {row.id for row in after}
    behind: dict[str | None, list[StepRow]] = {}
    anchor: str | None = None
    for row in before:
        if row.id in kept:
            anchor = row.id
        else:
            behind.setdefault(anchor, []).append(row)
    rows: list[tuple[StepRow | None, StepRow | None]] = [(gone, None) for gone in behind.get(None, [])]
    for row in after:
        rows.append((old.get(row.id), row))
        rows += [(gone, None) for gone in behind.get(row.id, [])]
    return rows


def _rows(old: PlanCard | None, new: PlanCard | None) -> Iterator[PairedRow]:
    diff = compare(old.state, new.state) if old and new else None
    moved = {each.step.id for each in diff.moved} if diff else set()
    rows = new.rows if new and not new.text else ()
    keys = dict(zip((row.id for row in rows), line_keys(tuple(row.text for row in rows)), strict=True))
    for before, after in paired(old.rows if old else (), new.rows if new else ()):
        has_moved = after is not None and after.id in moved
        if before is None or after is None:
            kind = "added" if before is None else "removed"
        else:
            kind = "changed" if _step(before) != _step(after) else "moved" if has_moved else SAME
        yield PairedRow(kind, before, after, has_moved, keys[after.id] if after and keys else "")


def _step(row: StepRow) -> tuple[str, str, str, int]:
    """Everything that the agent wrote about a step."""
    return row.text, row.status, row.priority, row.depth


def _content(card: PlanCard | None) -> object:
    return None if card is None else ([(row.id, _step(row)) for row in card.rows], card.text, card.fields, card.uri)


def _lines(one: list[str], other: list[str]) -> Iterator[PairedLine]:
    """Pair the lines. Frequent lines don't count as matches, since a text that consists of them would take minutes."""
    keys = line_keys(tuple(other))
    for kind, first, last, start, end in SequenceMatcher(None, one, other).get_opcodes():
        for at in range(max(last - first, end - start)):
            left = one[first + at] if first + at < last else None
            right = other[start + at] if start + at < end else None
            key = keys[start + at] if right is not None else ""
            yield PairedLine(SAME if left == right else _KINDS[kind], left, right, key)


def said_between(old: PlanCard | None, new: PlanCard | None) -> tuple[SaidBetween, ...]:
    """The remarks that only one of two cards of a plan has open, and the verdicts that only one of them has."""
    return tuple(_said(old, new))


def _said(old: PlanCard | None, new: PlanCard | None) -> Iterator[SaidBetween]:
    for kind, here, there in (("removed", old, new), ("added", new, old)):
        if here is None or here.record is None:
            continue
        told = {each.id for each in there.suggestions} | {each.id for each in there.open_remarks} if there else set()
        known = {each.seq for each in there.reviews} if there else set()
        for suggestion in here.suggestions:
            if suggestion.id not in told:
                yield SaidBetween(kind, f"Suggested by {author(suggestion.by)}", suggestion.text)
        for remark in here.open_remarks:
            if remark.id not in told:
                words = ", ".join(remark.steps) or ": ".join(filter(None, (remark.about, remark.text)))
                yield SaidBetween(kind, f"{remark.label} by {author(remark.by)}", words)
        for review in here.reviews:
            if review.seq not in known:
                yield SaidBetween(kind, f"Review by {author(review.by)}", review.words)
