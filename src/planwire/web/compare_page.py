"""Two moments of a session, side by side."""

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Final, NamedTuple

from planwire.diff import Diff, compare
from planwire.fold import PlanRecord, SessionState
from planwire.markdown import unmarked
from planwire.moments import Moment
from planwire.plan import FilePlan, MarkdownPlan, OtherPlan, PlanId
from planwire.sight.timeline import Timeline
from planwire.steps import PlanState, Step
from planwire.web.addresses import session_address
from planwire.web.html import EMPTY, Html, el
from planwire.web.marks import look, mark, wording
from planwire.web.plan_view import names
from planwire.web.times import iso
from planwire.web.times import moment as moment_html

__all__ = ["compare_page"]

#: How many moments there are to choose from, the newest first. Any other can be named in the address.
MOST_CHOICES: Final = 500
#: Texts with more lines are not compared line by line.
MOST_LINES: Final = 2_000

_ABSENT: Final = el("td", el("span", "none", class_="unseen"), class_="absent")


class Pair(NamedTuple):
    """A step before and after. Where there is only one of them, it was removed or added."""

    before: Step | None
    after: Step | None


def compare_page(
    name: str, session: str, timeline: Timeline, before: tuple[Moment, SessionState], after: tuple[Moment, SessionState]
) -> Html:
    """The page: which two moments, and every plan of either."""
    plan_ids = list(dict.fromkeys((*before[1].live(), *after[1].live())))
    plans = [_plan(plan_id, before[1], after[1]) for plan_id in plan_ids]
    return el(
        "main",
        el(
            "header",
            el(
                "div",
                el("h1", "Two moments of ", el("bdi", name)),
                el(
                    "nav",
                    el("a", "Session", href=session_address(session), class_="action"),
                    el("a", "History", href=session_address(session, "history"), class_="action"),
                    class_="actions",
                    aria_label="session",
                ),
                class_="top-line",
            ),
            _form(session, timeline, before[0], after[0]),
            class_="page-head",
        ),
        *(plans or [el("p", "There was no plan at either moment.", class_="nothing")]),
        id="content",
        class_="compare",
    )


def _form(session: str, timeline: Timeline, before: Moment, after: Moment) -> Html:
    newest = timeline.moments[-MOST_CHOICES:]
    choices = sorted({moment.seq: moment for moment in (*newest, before, after)}.values(), key=lambda each: -each.seq)
    fields = [
        el(
            "label",
            el("span", label),
            el("select", *(_choice(each, chosen) for each in choices), name=field, data_submit=True),
        )
        for field, label, chosen in (("from", "From", before), ("to", "To", after))
    ]
    return el(
        "form",
        *fields,
        el("button", "Compare"),
        method="get",
        action=session_address(session, "compare"),
        class_="two",
    )


def _choice(moment: Moment, chosen: Moment) -> Html:
    far = f" · {moment.done}/{moment.total}" if moment.total is not None else ""
    what = moment.words[0].text[:60] if moment.words else moment.event
    words = f"{moment.seq} · {iso(moment.at)[11:19]} · {moment.by}{far} · {what}"
    return el("option", words, value=moment.seq, selected=moment.seq == chosen.seq)


def _plan(plan_id: PlanId, before: SessionState, after: SessionState) -> Html:
    old, new = before.plans.get(plan_id), after.plans.get(plan_id)
    old = None if old is None or old.removed else old
    new = None if new is None or new.removed else new
    known = new or old
    assert known is not None
    name, _ = names(known.state, None)
    tag = "new" if old is None else "dismissed" if new is None else None
    body = _steps(old, new) if _has_steps(old) or _has_steps(new) else EMPTY
    text = _text(old, new) if (old and new) or not body else EMPTY
    same = el("p", "Nothing changed.", class_="nothing") if old and new and _is_same(old.state, new.state) else None
    head = el("header", el("h2", el("bdi", name)), el("span", tag, class_="tag") if tag else None, class_="plan-head")
    return el("article", head, _versions(old, new), same, body, text, class_="plan")


def _has_steps(record: PlanRecord | None) -> bool:
    return record is not None and bool(record.state.steps)


def _is_same(before: PlanState, after: PlanState) -> bool:
    return before.steps == after.steps and _content(before) == _content(after)


def _versions(old: PlanRecord | None, new: PlanRecord | None) -> Html:
    sides = [
        el("span", f"version {each.version} · ", moment_html(each.changed_at)) if each else el("span", "not there")
        for each in (old, new)
    ]
    return el("p", *sides, class_="sides")


def _steps(old: PlanRecord | None, new: PlanRecord | None) -> Html:
    before = old.state.steps if old else ()
    after = new.state.steps if new else ()
    diff = compare(old.state, new.state) if old and new else Diff()
    moved = {each.step.id for each in diff.moved}
    rows = [_pair_row(pair, moved) for pair in pairs(before, after)]
    head = el("thead", el("tr", el("th", "before", scope="col"), el("th", "after", scope="col")))
    return el("table", head, el("tbody", *rows), class_="pairs")


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


def _pair_row(pair: Pair, moved: set[str]) -> Html:
    before, after = pair
    if before is None:
        kind = "added"
    elif after is None:
        kind = "removed"
    elif before != after or after.id in moved:
        kind = "changed"
    else:
        kind = "same"
    return el("tr", _cell(before, None), _cell(after, moved), class_=f"pair-{kind}", data_pair=kind)


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


def _text(old: PlanRecord | None, new: PlanRecord | None) -> Html:
    """The lines of two texts. What only differs in its boxes was shown as steps already."""
    before, after = (_content(each.state) if each else "" for each in (old, new))
    if not (before or after) or (before and after and unmarked(before) == unmarked(after)):
        return EMPTY
    one, other = before.splitlines(), after.splitlines()
    if max(len(one), len(other)) > MOST_LINES:
        return el("p", f"The texts have {len(one):,} and {len(other):,} lines: too many to be compared here.")
    rows = []
    for kind, first, last, start, end in SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        for at in range(max(last - first, end - start)):
            left = one[first + at] if first + at < last else None
            right = other[start + at] if start + at < end else None
            rows.append(_line(kind, left, right))
    head = el("thead", el("tr", el("th", "text before", scope="col"), el("th", "text after", scope="col")))
    return el("table", head, el("tbody", *rows), class_="pairs lines")


def _line(kind: str, left: str | None, right: str | None) -> Html:
    shown = {"equal": "same", "insert": "added", "delete": "removed", "replace": "changed"}[kind]
    return el("tr", *(_ABSENT if each is None else el("td", each) for each in (left, right)), class_=f"pair-{shown}")


def _content(state: PlanState) -> str:
    match state.plan:
        case MarkdownPlan(content=content):
            return content
        case FilePlan(uri=uri):
            return uri
        case OtherPlan(type=kind, fields=fields):
            return f"{kind}\n{fields}"
    return ""
