"""The history of a session: progress over time, the plans as they were, and every change with author and time."""

from collections.abc import Sequence
from typing import Final

from planwire.model.fold import SessionState
from planwire.model.statuses import STATUSES
from planwire.readmodel.history import HistoryEntry, Phrase
from planwire.readmodel.timeline import Timeline
from planwire.web.addresses import compare_address, session_address, then_address
from planwire.web.chart import progress_chart
from planwire.web.frame import action, top_line
from planwire.web.html import EMPTY, Html, el, joined, void
from planwire.web.page_tree import part_html
from planwire.web.plan_view import Shown, plan_part
from planwire.web.times import moment as moment_html

__all__ = ["MOMENTS_PER_PAGE", "entry_phrases", "history_page", "then_part"]

MOMENTS_PER_PAGE: Final = 200
#: Phrases of one event on the page; a number stands for the rest.
MOST_PHRASES: Final = 12

#: The word before a phrase, where it is not the kind itself.
_SAID: Final = {
    **{row.word: row.became for row in STATUSES.values()},
    "other": "now",
    **dict.fromkeys(("asked", "approved", "dismissed", "changes_requested", "none", "new"), ""),
    **dict.fromkeys(("plan_removed", "opened", "stopped", "compacted", "told"), ""),
}


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
    slider = void("input", type="range", id="slider", name="moment", min=0, max=last, value=index, step=1)
    return el(
        "form",
        el("label", "The plans as they were", for_="slider"),
        slider,
        el("button", "Show"),
        method="get",
        action=session_address(session, "history"),
        class_="slider",
        data_then=session_address(session, "history"),
    )


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
    links = [el("a", "as it was", href=then_address(session, moment.seq))]
    if at:
        links.append(el("a", "what changed", href=compare_address(session, moments[at - 1].seq, moment.seq)))
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
