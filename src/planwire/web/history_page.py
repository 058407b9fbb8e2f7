"""The past of a session: its progress, the plans as they were at any moment, and all activity."""

from typing import Final, NamedTuple

from planwire.readmodel.authors import author
from planwire.readmodel.card import PlanId
from planwire.readmodel.history import BECAME, HistoryEntry, Phrase
from planwire.readmodel.shown import ShownSession
from planwire.readmodel.timeline import Timeline
from planwire.web.addresses import session_address
from planwire.web.frame import action, top_line
from planwire.web.html import Html, el, void
from planwire.web.html import moment as moment_html
from planwire.web.page_tree import part_html
from planwire.web.plan_view import PlanPlace, plan_part
from planwire.web.progress_chart import chart_of
from planwire.web.said_view import folded_words

MOMENTS_PER_PAGE: Final = 200
#: Phrases of one event on the page; a count stands for the rest.
MOST_PHRASES: Final = 12

#: The word before a phrase, where it is not the kind itself.
_SAID: Final = {
    **BECAME,
    "other": "now",
    **dict.fromkeys(("asked", "approved", "dismissed", "changes_requested", "none", "new", "unknown"), ""),
    **dict.fromkeys(
        (
            "plan_removed",
            "opened",
            "stopped",
            "compacted",
            "gap",
            "unknown",
            "told",
            "withdrawn",
            "reopened",
            "answered",
        ),
        "",
    ),
}


class Then(NamedTuple):
    """A moment: its place on the timeline, its entry (None before anything happened), the session after it, and what
    its agent thought by then."""

    place: int
    entry: HistoryEntry | None
    session: ShownSession
    thinking: dict[PlanId, str]


def history_page(session: ShownSession, timeline: Timeline, then: Then, listed: list[HistoryEntry]) -> Html:
    """The page: one moment, and a list of moments with a link to the earlier ones."""
    own = session_address(session.id)
    links = (
        el("a", "Activity", href="#activity-name", class_="action jump"),
        action("Session", own),
        action("Compare", f"{own}/compare"),
        action("JSON", f"{own}/history.json"),
    )
    top = top_line(el("div", el("h1", "History"), el("p", el("bdi", session.name), class_="of-session")), *links)
    begin = timeline.index(listed[0].seq) if listed else 0
    rows = [_row(session.id, timeline, at, entry, at == then.place) for at, entry in enumerate(listed, begin)]
    travel = el(
        "section",
        el("h2", "Time travel", id="travel-name", class_="section-name"),
        chart_of(timeline, then.place),
        _slider(session.id, timeline, then.place),
        then_part(timeline, then),
        class_="travel",
        aria_labelledby="travel-name",
    )
    activity = el(
        "section",
        el("h2", "Activity", id="activity-name", class_="section-name"),
        el("ol", *reversed(rows), class_="moments"),
        _older(session.id, begin) if begin else None,
        class_="activity",
        aria_labelledby="activity-name",
    )
    return el(
        "main",
        el("header", top, class_="page-head"),
        el("div", travel, activity, class_="past"),
        id="content",
        class_="history",
    )


def _slider(session: str, timeline: Timeline, index: int) -> Html:
    last = max(len(timeline.numbers) - 1, 0)
    label = el("label", "Moment", for_="slider", class_="unseen")
    slider = void("input", type="range", id="slider", name="moment", min=0, max=last, value=index, step=1)
    own = session_address(session, "history")
    return el("form", label, slider, el("button", "Show"), method="get", action=own, class_="slider", data_then=own)


def then_part(timeline: Timeline, then: Then) -> Html:
    """The session as it was at a moment."""
    moment = then.entry
    if moment is None:
        return el("section", el("p", "Nothing has happened yet.", class_="nothing"), id="then")
    plans = [
        part_html(plan_part(PlanPlace(then.session.id, f"then{number}", live=False), card))
        for number, card in enumerate(then.session.cards(then.thinking))
    ]
    place = f"{then.place + 1:,} of {len(timeline.numbers):,}"
    return el(
        "section",
        el("p", el("b", place), " · ", moment_html(moment.at), " · ", el("bdi", author(moment.by)), class_="then-when"),
        el("ul", *entry_phrases(moment), class_="words-list"),
        *(plans or [el("p", "There was no plan.", class_="nothing")]),
        id="then",
        class_="then",
        aria_live="polite",
        data_index=then.place,
    )


def _row(session: str, timeline: Timeline, at: int, moment: HistoryEntry, is_shown: bool) -> Html:
    there = f"{session_address(session, 'history')}?at={moment.seq}#then"
    links = [el("a", "Show plan", href=there, data_moment=at, aria_current="true" if is_shown else None)]
    if at:
        both = f"?from={timeline.numbers[at - 1]}&to={moment.seq}"
        links.append(el("a", "Compare", href=session_address(session, "compare") + both))
    return el(
        "li",
        entry_head(moment),
        el("ul", *entry_phrases(moment), *_thinking(moment), class_="words-list"),
        el("p", *links, class_="moment-links"),
        class_=f"moment event-{moment.event}",
        id=f"e{moment.seq}",
    )


def entry_head(entry: HistoryEntry) -> Html:
    """The head of an entry: who, on which plan, how far it was, and when."""
    about = [el("span", el("bdi", each), class_="fact") for each in (author(entry.by), entry.plan) if each]
    if entry.total is not None:
        about.append(el("span", f"{entry.done:,} / {entry.total:,}", class_="fact number"))
    return el("div", *about, el("span", moment_html(entry.at), class_="fact"), class_="moment-head facts")


def entry_phrases(entry: HistoryEntry, most: int = MOST_PHRASES) -> list[Html]:
    """The phrases of an entry, as items of a list; a count stands for those beyond `most`."""
    phrases = [_phrase(each) for each in entry.words[:most]]
    if len(entry.words) > most:
        phrases.append(el("li", f"and {len(entry.words) - most:,} more"))
    return phrases


def _phrase(phrase: Phrase) -> Html:
    kind = "".join(sign for sign in phrase.kind if sign.isalnum() or sign == "_")
    said = _SAID.get(phrase.kind, phrase.kind.replace("_", " "))
    label = el("span", said, class_="did") if said else None
    return el("li", label, el("span", phrase.text, dir="auto"), class_=f"did-{kind}")


def _thinking(entry: HistoryEntry) -> list[Html]:
    """What the agent thought right before, as a list item after the phrases."""
    words = el("div", folded_words(entry.why), dir="auto") if entry.why else None
    return [el("li", el("span", "thinking", class_="did"), words, class_="did-thinking")] if words else []


def _older(session: str, begin: int) -> Html:
    address = f"{session_address(session, 'history')}?before={begin}"
    return el("nav", action(f"{begin:,} earlier events", address), class_="pages")
