"""The past of a session: progress over time, the plans as they were, every change, and two moments side by side."""

from collections.abc import Sequence
from typing import Final, TypeAlias

from planwire.model.fold import PlanRecord, SessionState
from planwire.model.statuses import STATUSES
from planwire.readmodel.history import HistoryEntry, Phrase
from planwire.readmodel.timeline import Point, Timeline
from planwire.web.addresses import session_address
from planwire.web.difference import difference_view
from planwire.web.frame import action, top_line
from planwire.web.html import EMPTY, Html, el, iso, joined, void
from planwire.web.html import moment as moment_html
from planwire.web.page_tree import part_html
from planwire.web.plan_view import Shown, names, plan_part

__all__ = ["compare_page", "entry_phrases", "history_page", "progress_chart", "then_part"]

MOMENTS_PER_PAGE: Final = 200
#: Phrases of one event on the page; a number stands for the rest.
MOST_PHRASES: Final = 12
#: Moments to choose from, the newest first. An address may name any other.
MOST_CHOICES: Final = 500
#: The size of the chart, and the most points in it that the eye can tell apart.
WIDTH: Final = 640
HEIGHT: Final = 96
MOST_POINTS: Final = 240

#: The word before a phrase, where it is not the kind itself.
_SAID: Final = {
    **{row.word: row.became for row in STATUSES.values()},
    "other": "now",
    **dict.fromkeys(("asked", "approved", "dismissed", "changes_requested", "none", "new"), ""),
    **dict.fromkeys(("plan_removed", "opened", "stopped", "compacted", "told"), ""),
}

#: One side: an entry of the history, and the state after it.
Side: TypeAlias = tuple[HistoryEntry, SessionState]


def history_page(name: str, session: str, timeline: Timeline, index: int, state: SessionState, before: int) -> Html:
    """The page. `index` is the moment to show as it was, `before` the beginning of the list of moments."""
    end = min(max(before, 0), len(timeline.moments))
    begin = max(0, end - MOMENTS_PER_PAGE)
    own = session_address(session)
    links = action("Session", own), action("Compare", f"{own}/compare"), action("JSON", f"{own}/history.json")
    top = top_line(el("h1", "History of ", el("bdi", name)), *links)
    rows = [_row(session, timeline.moments, at) for at in range(begin, end)]
    return el(
        "main",
        el("header", top, progress_chart(timeline.points), class_="page-head"),
        _slider(session, timeline, index),
        then_part(session, timeline, index, state),
        el("h2", "Every change", class_="section-name"),
        el("ol", *reversed(rows), class_="moments"),
        _older(session, begin, timeline.left_out),
        id="content",
        class_="history",
    )


def _slider(session: str, timeline: Timeline, index: int) -> Html:
    last = max(len(timeline.moments) - 1, 0)
    label = el("label", "The plans as they were", for_="slider")
    slider = void("input", type="range", id="slider", name="moment", min=0, max=last, value=index, step=1)
    own = session_address(session, "history")
    return el("form", label, slider, el("button", "Show"), method="get", action=own, class_="slider", data_then=own)


def then_part(session: str, timeline: Timeline, index: int, state: SessionState) -> Html:
    """The session as it was at a moment."""
    if not timeline.moments:
        return el("section", el("p", "Nothing has happened yet.", class_="nothing"), id="then")
    moment = timeline.moments[index]
    plans = [
        part_html(plan_part(Shown(session, f"then{number}", state.stopped is not None, live=False), record))
        for number, record in enumerate(state.plans.values())
        if not record.removed
    ]
    place = f"{index + 1:,} of {len(timeline.moments):,}"
    return el(
        "section",
        el("p", el("b", place), " · ", moment_html(moment.at), " · ", el("bdi", moment.by), class_="then-when"),
        el("ul", *entry_phrases(moment), class_="words-list"),
        *(plans or [el("p", "There was no plan.", class_="nothing")]),
        id="then",
        class_="then",
        aria_live="polite",
        data_index=index,
    )


def _row(session: str, moments: Sequence[HistoryEntry], at: int) -> Html:
    moment = moments[at]
    links = [el("a", "as it was", href=f"{session_address(session, 'history')}?at={moment.seq}#then")]
    if at:
        both = f"?from={moments[at - 1].seq}&to={moment.seq}"
        links.append(el("a", "what changed", href=session_address(session, "compare") + both))
    far = el("span", f"{moment.done} / {moment.total}", class_="number") if moment.total is not None else EMPTY
    about = joined(el("bdi", moment.by), " · ", el("bdi", moment.plan)) if moment.plan else el("bdi", moment.by)
    return el(
        "li",
        el("div", moment_html(moment.at), el("span", about, class_="by"), far, class_="moment-head"),
        el("ul", *entry_phrases(moment), class_="words-list"),
        el("p", *links, class_="moment-links"),
        class_=f"moment event-{moment.event}",
        id=f"e{moment.seq}",
    )


def entry_phrases(entry: HistoryEntry) -> list[Html]:
    """The phrases of an entry, as items of a list."""
    phrases = [_phrase(each) for each in entry.words[:MOST_PHRASES]]
    if len(entry.words) > MOST_PHRASES:
        phrases.append(el("li", f"and {len(entry.words) - MOST_PHRASES:,} more"))
    return phrases


def _phrase(phrase: Phrase) -> Html:
    kind = "".join(sign for sign in phrase.kind if sign.isalnum() or sign == "_")
    said = _SAID.get(phrase.kind, phrase.kind.replace("_", " "))
    label = el("span", said, class_="did") if said else None
    return el("li", label, el("span", phrase.text, dir="auto"), class_=f"did-{kind}")


def _older(session: str, begin: int, left_out: int) -> Html:
    if begin:
        address = f"{session_address(session, 'history')}?before={begin}"
        return el("nav", action(f"{begin:,} earlier changes", address), class_="pages")
    return el("p", f"{left_out:,} still earlier changes are in the journal.", class_="nothing") if left_out else EMPTY


def progress_chart(points: Sequence[Point]) -> Html:
    """A small chart, as SVG: steps done, below steps in all. Nothing for a session that never had a step."""
    shown = _thinned([point for point in points if point.total or point.done])
    if not shown:
        return EMPTY
    begin, end = shown[0].at, max(shown[-1].at, shown[0].at + 1)
    most = max(point.total for point in shown) or 1

    def place(at: int, count: int) -> str:
        return f"{(at - begin) / (end - begin) * WIDTH:.1f},{HEIGHT - count / most * HEIGHT:.1f}"

    def stairs(counts: Sequence[int]) -> str:
        corners = [place(begin, counts[0])]
        for before, count, point in zip(counts, counts[1:], shown[1:], strict=False):
            corners += [place(point.at, before), place(point.at, count)]
        return " ".join([*corners, place(end, counts[-1])])

    done, total = stairs([point.done for point in shown]), stairs([point.total for point in shown])
    floor = f"{WIDTH},{HEIGHT} 0,{HEIGHT}"
    last = shown[-1]
    words = f"Progress over time: {last.done} of {last.total} steps done at the end, after {len(points)} changes of it."
    drawing = el(
        "svg",
        el("title", words),
        el("polygon", points=f"{total} {floor}", class_="chart-total"),
        el("polygon", points=f"{done} {floor}", class_="chart-done"),
        el("polyline", points=done, class_="chart-line"),
        viewBox=f"0 -4 {WIDTH} {HEIGHT + 8}",
        preserveAspectRatio="none",
        role="img",
        class_="chart",
    )
    return el("figure", drawing, el("figcaption", words, class_="unseen"), class_="chart-box")


def _thinned(points: list[Point]) -> list[Point]:
    if len(points) <= MOST_POINTS:
        return points
    stride = len(points) / MOST_POINTS
    return [*(points[int(number * stride)] for number in range(MOST_POINTS)), points[-1]]


def compare_page(name: str, session: str, timeline: Timeline, before: Side, after: Side) -> Html:
    """The page: which two moments, and every plan of either."""
    old, new = before[1].live(), after[1].live()
    plans = [_compared(old.get(plan_id), new.get(plan_id)) for plan_id in {**old, **new}]
    links = action("Session", session_address(session)), action("History", session_address(session, "history"))
    top = top_line(el("h1", "Two moments of ", el("bdi", name)), *links)
    return el(
        "main",
        el("header", top, _form(session, timeline, before[0], after[0]), class_="page-head"),
        *(plans or [el("p", "There was no plan at either moment.", class_="nothing")]),
        id="content",
        class_="compare",
    )


def _form(session: str, timeline: Timeline, before: HistoryEntry, after: HistoryEntry) -> Html:
    newest = timeline.moments[-MOST_CHOICES:]
    choices = sorted({moment.seq: moment for moment in (*newest, before, after)}.values(), key=lambda each: -each.seq)
    fields = []
    for name, chosen in (("from", before), ("to", after)):
        offered = el("select", *(_choice(each, chosen) for each in choices), name=name, data_submit=True)
        fields.append(el("label", el("span", name.capitalize()), offered))
    own = session_address(session, "compare")
    return el("form", *fields, el("button", "Compare"), method="get", action=own, class_="two")


def _choice(moment: HistoryEntry, chosen: HistoryEntry) -> Html:
    far = f" · {moment.done}/{moment.total}" if moment.total is not None else ""
    what = moment.words[0].text[:60] if moment.words else moment.event
    words = f"{moment.seq} · {iso(moment.at)[11:19]} · {moment.by}{far} · {what}"
    return el("option", words, value=moment.seq, selected=moment.seq == chosen.seq)


def _compared(old: PlanRecord | None, new: PlanRecord | None) -> Html:
    known = new or old
    assert known is not None
    name, _ = names(known.state, None)
    tag = "new" if old is None else "dismissed" if new is None else None
    head = el("header", el("h2", el("bdi", name)), el("span", tag, class_="tag") if tag else None, class_="plan-head")
    return el("article", head, difference_view(old, new), class_="plan")
