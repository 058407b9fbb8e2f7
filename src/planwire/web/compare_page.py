"""Two moments of a session, side by side."""

from typing import Final, TypeAlias

from planwire.model.fold import SessionState
from planwire.model.plan import PlanId
from planwire.readmodel.history import HistoryEntry
from planwire.readmodel.timeline import Timeline
from planwire.web.addresses import session_address
from planwire.web.difference import difference_view
from planwire.web.frame import action, top_line
from planwire.web.html import Html, el
from planwire.web.plan_view import names
from planwire.web.times import iso

__all__ = ["compare_page"]

#: Moments to choose from, the newest first. An address may name any other.
MOST_CHOICES: Final = 500


#: One side: an entry of the history, and the state after it.
Side: TypeAlias = tuple[HistoryEntry, SessionState]


def compare_page(name: str, session: str, timeline: Timeline, before: Side, after: Side) -> Html:
    """The page: which two moments, and every plan of either."""
    plan_ids = list(dict.fromkeys((*before[1].live(), *after[1].live())))
    plans = [_plan(plan_id, before[1], after[1]) for plan_id in plan_ids]
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


def _choice(moment: HistoryEntry, chosen: HistoryEntry) -> Html:
    far = f" · {moment.done}/{moment.total}" if moment.total is not None else ""
    what = moment.words[0].text[:60] if moment.words else moment.event
    words = f"{moment.seq} · {iso(moment.at)[11:19]} · {moment.by}{far} · {what}"
    return el("option", words, value=moment.seq, selected=moment.seq == chosen.seq)


def _plan(plan_id: PlanId, before: SessionState, after: SessionState) -> Html:
    old, new = before.live().get(plan_id), after.live().get(plan_id)
    known = new or old
    assert known is not None
    name, _ = names(known.state, None)
    tag = "new" if old is None else "dismissed" if new is None else None
    head = el("header", el("h2", el("bdi", name)), el("span", tag, class_="tag") if tag else None, class_="plan-head")
    return el("article", head, difference_view(old, new), class_="plan")
