"""The difference of one plan at two moments: its steps and its lines, side by side."""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import groupby
from operator import itemgetter
from typing import Final, NamedTuple

from planwire.model.diff import Diff, compare
from planwire.model.fold import PlanRecord
from planwire.model.kinds import text_of
from planwire.model.markdown import unmarked
from planwire.model.plan import MEDIUM
from planwire.model.steps import Step
from planwire.web.html import EMPTY, Html, el, joined, moment
from planwire.web.status_look import look, mark, wording

__all__ = ["Pair", "difference_view", "pairs"]

#: The longest text, in lines, whose lines are worth comparing.
MOST_LINES: Final = 2_000

_ABSENT: Final = el("td", el("span", "none", class_="unseen"), class_="absent")


class Pair(NamedTuple):
    """A step before and after. None stands for a step that is not there: the plan lost or gained it."""

    before: Step | None
    after: Step | None


class _ComparedRow(NamedTuple):
    """A row of a table, and whether both sides are the same."""

    html: Html
    same: bool


def difference_view(before: PlanRecord | None, after: PlanRecord | None, around: int | None = None) -> Html:
    """The change of a plan. None and a removed plan count as absent. With `around`, the view leaves out equal rows that
    are farther than that from a change."""
    old = None if before is None or before.removed else before
    new = None if after is None or after.removed else after
    if old is None and new is None:
        return el("p", "The plan is not there.", class_="nothing")
    steps = _steps(old, new, around) if any(each and each.state.steps for each in (old, new)) else EMPTY
    text = _text(old, new, around) if (old and new) or not steps else EMPTY
    same = [(each.state.steps, text_of(each.state.plan)) if each else None for each in (old, new)]
    words = el("p", "Nothing changed.", class_="nothing") if same[0] == same[1] else None
    return joined(_versions(old, new), words, steps, text)


def pairs(before: Sequence[Step], after: Sequence[Step]) -> list[Pair]:
    """Merge two step lists in the newer order; a removed step keeps its old neighbour."""
    old = {step.id: step for step in before}
    kept = {step.id for step in after}
    behind: dict[str | None, list[Step]] = {}
    anchor: str | None = None
    for step in before:
        if step.id in kept:
            anchor = step.id
        else:
            behind.setdefault(anchor, []).append(step)
    rows = [Pair(step, None) for step in behind.get(None, [])]
    for step in after:
        rows.append(Pair(old.get(step.id), step))
        rows += [Pair(gone, None) for gone in behind.get(step.id, [])]
    return rows


def _versions(old: PlanRecord | None, new: PlanRecord | None) -> Html:
    sides = [
        el("span", f"version {each.version} · ", moment(each.changed_at)) if each else el("span", "not there")
        for each in (old, new)
    ]
    return el("p", *sides, class_="sides")


def _steps(old: PlanRecord | None, new: PlanRecord | None, around: int | None) -> Html:
    before = old.state.steps if old else ()
    after = new.state.steps if new else ()
    diff = compare(old.state, new.state) if old and new else Diff()
    moved = {each.step.id for each in diff.moved}
    rows = [_pair_row(pair, moved) for pair in pairs(before, after)]
    return _table("before", "after", _near_changes(rows, around, "steps"), "pairs")


def _pair_row(pair: Pair, moved: set[str]) -> _ComparedRow:
    before, after = pair
    if before is None:
        kind = "added"
    elif after is None:
        kind = "removed"
    elif before != after or after.id in moved:
        kind = "changed"
    else:
        kind = "same"
    cells = _cell(before, None), _cell(after, moved)
    return _ComparedRow(el("tr", *cells, class_=f"pair-{kind}", data_pair=kind), kind == "same")


def _cell(step: Step | None, moved: set[str] | None) -> Html:
    if step is None:
        return _ABSENT
    tags = [el("span", step.priority, class_="tag")] if step.priority != MEDIUM else []
    if moved and step.id in moved:
        tags.append(el("span", "moved", class_="tag"))
    inside = el(
        "div", mark(step.status), el("span", wording(step.content), class_="words", dir="auto"), *tags, class_="cell"
    )
    return el("td", inside, class_=f"is-{look(step.status).kind}")


def _text(old: PlanRecord | None, new: PlanRecord | None, around: int | None) -> Html:
    """The lines of two texts. Texts that differ only in their boxes are equal here: the steps show the boxes."""
    before, after = (text_of(each.state.plan) if each else "" for each in (old, new))
    if not (before or after) or (before and after and unmarked(before) == unmarked(after)):
        return EMPTY
    one, other = before.splitlines(), after.splitlines()
    if max(len(one), len(other)) > MOST_LINES:
        return el("p", f"The texts have {len(one):,} and {len(other):,} lines: too many to be compared here.")
    return _table("text before", "text after", _near_changes([*_lines(one, other)], around, "lines"), "pairs lines")


def _lines(one: list[str], other: list[str]) -> Iterator[_ComparedRow]:
    """Pair the lines. Frequent lines don't count as matches: a text of nothing else would take minutes."""
    for kind, first, last, start, end in SequenceMatcher(None, one, other).get_opcodes():
        shown = {"equal": "same", "insert": "added", "delete": "removed", "replace": "changed"}[kind]
        for at in range(max(last - first, end - start)):
            left = one[first + at] if first + at < last else None
            right = other[start + at] if start + at < end else None
            cells = [_ABSENT if each is None else el("td", each) for each in (left, right)]
            yield _ComparedRow(el("tr", *cells, class_=f"pair-{'same' if left == right else shown}"), left == right)


def _near_changes(rows: list[_ComparedRow], around: int | None, what: str) -> list[Html]:
    """The changed rows and their neighbours, with a count in place of the others."""
    if around is None:
        return [row.html for row in rows]
    near = [
        not row.same or not all(each.same for each in rows[max(0, at - around) : at + around + 1])
        for at, row in enumerate(rows)
    ]
    shown: list[Html] = []
    for is_near, run in groupby(zip(rows, near, strict=True), key=itemgetter(1)):
        htmls = [row.html for row, _ in run]
        if is_near or len(htmls) == 1:
            shown += htmls
        else:
            count = f"{len(htmls):,} {what} that are the same"
            shown.append(el("tr", el("td", count, colspan=2), class_="left-out"))
    return shown


def _table(before: str, after: str, rows: list[Html], kind: str) -> Html:
    head = el("thead", el("tr", el("th", before, scope="col"), el("th", after, scope="col")))
    return el("table", head, el("tbody", *rows), class_=kind)
