"""The difference of one plan at two moments: its steps and its lines, side by side."""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import groupby
from operator import itemgetter
from typing import Final, NamedTuple

from planwire.model.diff import Diff, compare
from planwire.model.events import COMMENTED
from planwire.model.fold import PlanRecord, Review
from planwire.model.kinds import text_of
from planwire.model.markdown import unmarked
from planwire.model.plan import MEDIUM
from planwire.model.steps import Step
from planwire.readmodel.annotations import suggestion_sentence
from planwire.readmodel.history import verdict_words
from planwire.web.html import EMPTY, Html, clock, el, joined
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


def difference_view(
    before: PlanRecord | None, after: PlanRecord | None, around: int | None = None, whole: str | None = None
) -> Html:
    """The change of a plan. None and a removed plan count as absent. With `around`, the view leaves out equal rows that
    are farther than that from a change; `whole` is the address of a view with all of them."""
    old = None if before is None or before.removed else before
    new = None if after is None or after.removed else after
    if old is None and new is None:
        return el("p", "The plan is not there.", class_="nothing")
    fold = _Fold(around, whole)
    said = _said(old, new)
    steps = _steps(old, new, fold) if any(each and each.state.steps for each in (old, new)) else EMPTY
    text = _text(old, new, fold) if (old and new) or not steps else EMPTY
    same = [(each.state.steps, text_of(each.state.plan)) if each else None for each in (old, new)]
    words = None
    if same[0] == same[1]:
        words = el("p", "The agent's plan is the same." if said else "Nothing changed.", class_="nothing")
    return joined(_versions(old, new), said, words, steps, text)


class _Fold(NamedTuple):
    """Equal rows to show around each change (None: all of them), and the address of a view with all rows."""

    around: int | None
    whole: str | None


def _said(old: PlanRecord | None, new: PlanRecord | None) -> Html:
    """The suggestions and reviews that only one of the two moments has."""
    rows: list[Html] = []
    for kind, here, there in (("removed", old, new), ("added", new, old)):
        if here is None:
            continue
        told = {each.seq for each in there.suggestions} if there else set()
        known = {each.seq for each in there.reviews} if there else set()
        rows += [
            _said_row(kind, f"Suggested by {each.by}", suggestion_sentence(here, each))
            for each in here.suggestions
            if each.seq not in told
        ]
        rows += [
            _said_row(kind, f"Review by {each.by}", _review_words(here, each))
            for each in here.reviews
            if each.seq not in known
        ]
    return el("ul", *rows, class_="said-between") if rows else EMPTY


def _said_row(kind: str, who: str, text: str) -> Html:
    spoken = el("span", f"{kind}: ", class_="unseen")
    return el("li", spoken, el("b", who), " ", el("span", text, dir="auto"), class_=f"pair-{kind}", data_said=kind)


def _review_words(record: PlanRecord, review: Review) -> str:
    texts = {step.id: step.content for step in record.state.steps}
    comments = [
        f"{texts.get(each.step, each.step)}: {each.text}" if each.step else each.text for each in review.comments
    ]
    verdict = [] if review.verdict == COMMENTED else [verdict_words(review)]
    return " · ".join([*verdict, *comments])


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
        el("span", f"version {each.version} · ", clock(each.changed_at)) if each else el("span", "not there")
        for each in (old, new)
    ]
    return el("p", *sides, class_="sides")


def _steps(old: PlanRecord | None, new: PlanRecord | None, fold: _Fold) -> Html:
    before = old.state.steps if old else ()
    after = new.state.steps if new else ()
    diff = compare(old.state, new.state) if old and new else Diff()
    moved = {each.step.id for each in diff.moved}
    rows = [_pair_row(pair, moved) for pair in pairs(before, after)]
    return _table("Before", "After", _near_changes(rows, fold, "steps"), "pairs")


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


def _text(old: PlanRecord | None, new: PlanRecord | None, fold: _Fold) -> Html:
    """The lines of two texts. Texts that differ only in their boxes are equal here: the steps show the boxes."""
    before, after = (text_of(each.state.plan) if each else "" for each in (old, new))
    if not (before or after) or (before and after and unmarked(before) == unmarked(after)):
        return EMPTY
    one, other = before.splitlines(), after.splitlines()
    if max(len(one), len(other)) > MOST_LINES:
        return el("p", f"The texts have {len(one):,} and {len(other):,} lines: too many to compare here.")
    return _table("Text before", "Text after", _near_changes([*_lines(one, other)], fold, "lines"), "pairs lines")


def _lines(one: list[str], other: list[str]) -> Iterator[_ComparedRow]:
    """Pair the lines. Frequent lines don't count as matches: a text of nothing else would take minutes."""
    for kind, first, last, start, end in SequenceMatcher(None, one, other).get_opcodes():
        shown = {"equal": "same", "insert": "added", "delete": "removed", "replace": "changed"}[kind]
        for at in range(max(last - first, end - start)):
            left = one[first + at] if first + at < last else None
            right = other[start + at] if start + at < end else None
            cells = [_ABSENT if each is None else el("td", each) for each in (left, right)]
            yield _ComparedRow(el("tr", *cells, class_=f"pair-{'same' if left == right else shown}"), left == right)


def _near_changes(rows: list[_ComparedRow], fold: _Fold, what: str) -> list[Html]:
    """The changed rows and their neighbours, with a count in place of the others."""
    around = fold.around
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
            count = f"{len(htmls):,} unchanged {what}"
            inside = el("a", count, href=fold.whole) if fold.whole else count
            shown.append(el("tr", el("td", inside, colspan=2), class_="left-out"))
    return shown


def _table(before: str, after: str, rows: list[Html], kind: str) -> Html:
    head = el("thead", el("tr", el("th", before, scope="col"), el("th", after, scope="col")))
    return el("table", head, el("tbody", *rows), class_=kind)
