"""The difference of one plan at two moments: its steps and its lines, side by side."""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final, NamedTuple

from planwire.model.diff import Diff, compare
from planwire.model.fold import PlanRecord
from planwire.model.markdown import unmarked
from planwire.model.plan import FilePlan, MarkdownPlan, OtherPlan
from planwire.model.steps import PlanState, Step
from planwire.web.html import EMPTY, Html, el, joined
from planwire.web.status_look import look, mark, wording
from planwire.web.times import moment

__all__ = ["Pair", "difference_view", "pairs"]

#: Texts with more lines are not compared line by line.
MOST_LINES: Final = 2_000

_ABSENT: Final = el("td", el("span", "none", class_="unseen"), class_="absent")


class Pair(NamedTuple):
    """A step before and after. Where there is only one of them, it was removed or added."""

    before: Step | None
    after: Step | None


class _Row(NamedTuple):
    """A row of a table, and whether it is the same on both sides."""

    html: Html
    same: bool


def difference_view(before: PlanRecord | None, after: PlanRecord | None, around: int | None = None) -> Html:
    """What became of a plan. None, or one that was removed, is a plan that is not there. With `around`, only so many
    rows that are the same are shown before and behind each that is not."""
    old = None if before is None or before.removed else before
    new = None if after is None or after.removed else after
    if old is None and new is None:
        return el("p", "The plan is not there.", class_="nothing")
    steps = _steps(old, new, around) if _has_steps(old) or _has_steps(new) else EMPTY
    text = _text(old, new, around) if (old and new) or not steps else EMPTY
    same = el("p", "Nothing changed.", class_="nothing") if old and new and _is_same(old.state, new.state) else None
    return joined(_versions(old, new), same, steps, text)


def pairs(before: Sequence[Step], after: Sequence[Step]) -> list[Pair]:
    """Both lists in the order of the later one. What was removed stands behind what it stood behind."""
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


def _has_steps(record: PlanRecord | None) -> bool:
    return record is not None and bool(record.state.steps)


def _is_same(before: PlanState, after: PlanState) -> bool:
    return before.steps == after.steps and _content(before) == _content(after)


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


def _pair_row(pair: Pair, moved: set[str]) -> _Row:
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
    return _Row(el("tr", *cells, class_=f"pair-{kind}", data_pair=kind), kind == "same")


def _cell(step: Step | None, moved: set[str] | None) -> Html:
    if step is None:
        return _ABSENT
    tags = [el("span", step.priority, class_="tag")] if step.priority != "medium" else []
    if moved and step.id in moved:
        tags.append(el("span", "moved", class_="tag"))
    inside = el(
        "div", mark(step.status), el("span", wording(step.content), class_="words", dir="auto"), *tags, class_="cell"
    )
    return el("td", inside, class_=f"is-{look(step.status).kind}")


def _text(old: PlanRecord | None, new: PlanRecord | None, around: int | None) -> Html:
    """The lines of two texts. What only differs in its boxes was shown as steps already."""
    before, after = (_content(each.state) if each else "" for each in (old, new))
    if not (before or after) or (before and after and unmarked(before) == unmarked(after)):
        return EMPTY
    one, other = before.splitlines(), after.splitlines()
    if max(len(one), len(other)) > MOST_LINES:
        return el("p", f"The texts have {len(one):,} and {len(other):,} lines: too many to be compared here.")
    return _table("text before", "text after", _near_changes([*_lines(one, other)], around, "lines"), "pairs lines")


def _lines(one: list[str], other: list[str]) -> Iterator[_Row]:
    """Lines that are repeated often do not count when others are matched: a text of nothing else would take minutes."""
    for kind, first, last, start, end in SequenceMatcher(None, one, other).get_opcodes():
        shown = {"equal": "same", "insert": "added", "delete": "removed", "replace": "changed"}[kind]
        for at in range(max(last - first, end - start)):
            left = one[first + at] if first + at < last else None
            right = other[start + at] if start + at < end else None
            cells = [_ABSENT if each is None else el("td", each) for each in (left, right)]
            yield _Row(el("tr", *cells, class_=f"pair-{'same' if left == right else shown}"), left == right)


def _near_changes(rows: list[_Row], around: int | None, what: str) -> list[Html]:
    """The rows that changed with those around them; the others are counted."""
    if around is None:
        return [row.html for row in rows]
    near = [
        not row.same or not all(each.same for each in rows[max(0, at - around) : at + around + 1])
        for at, row in enumerate(rows)
    ]
    shown: list[Html] = []
    at = 0
    while at < len(rows):
        end = at
        while end < len(rows) and not near[end]:
            end += 1
        if end - at > 1:
            shown.append(el("tr", el("td", f"{end - at:,} {what} that are the same", colspan=2), class_="left-out"))
        else:
            end = at + 1
            shown.append(rows[at].html)
        at = end
    return shown


def _table(before: str, after: str, rows: list[Html], kind: str) -> Html:
    head = el("thead", el("tr", el("th", before, scope="col"), el("th", after, scope="col")))
    return el("table", head, el("tbody", *rows), class_=kind)


def _content(state: PlanState) -> str:
    match state.plan:
        case MarkdownPlan(content=content):
            return content
        case FilePlan(uri=uri):
            return uri
        case OtherPlan(type=kind, fields=fields):
            return f"{kind}\n{fields}"
    return ""
