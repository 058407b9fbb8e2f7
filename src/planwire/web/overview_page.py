"""The overview: every session on one page, running ones first, with a search by words and by state."""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final
from urllib.parse import urlencode

from msgspec import Struct

from planwire.model.steps import Progress
from planwire.readmodel.overview import DONE, RUNNING, STOPPED, WAITING, Overview
from planwire.readmodel.plain_text import age
from planwire.web.addresses import OVERVIEW, encode_id, session_address
from planwire.web.frame import action
from planwire.web.html import EMPTY, Html, el, iso, void
from planwire.web.page_tree import Part, branch, leaf
from planwire.web.session_page import state_badge
from planwire.web.status_look import wording
from planwire.web.steps_view import progress_view

__all__ = ["LONGEST_QUERY", "STATES", "Query", "found", "overview_page", "with_ages"]

STATES: Final = (RUNNING, WAITING, STOPPED, DONE)
_RANK: Final = {state: rank for rank, state in enumerate(STATES)}
#: Sessions on one page.
PAGE: Final = 500
LONGEST_QUERY: Final = 200

_AGO: Final = re.compile(r'(<time [^>]*data-at="(-?\d+)">)[^<]*')


class Query(Struct, frozen=True):
    """A search: words that all must match, a state (or any), and the number of the page."""

    words: str = ""
    state: str = ""
    page: int = 1


def found(glances: Iterable[Overview], query: Query) -> list[Overview]:
    """The sessions that match, in the order on the page.

    A session keeps its place while it runs: nobody can read rows that jump at every step.
    """
    words = query.words.casefold().split()
    matching = [
        glance
        for glance in glances
        if (not query.state or glance.state == query.state) and all(word in searched(glance) for word in words)
    ]
    return sorted(matching, key=_place)


def _place(glance: Overview) -> tuple[bool, int, int, str]:
    """The order: sessions that wait for a review come first."""
    since = glance.first_at if glance.state == RUNNING else glance.last_at
    return not glance.asked, _RANK[glance.state], -since, glance.id


@lru_cache(maxsize=4_096)
def searched(glance: Overview) -> str:
    """The text that a search looks at."""
    words = (glance.title, glance.agent, glance.client, glance.cwd, glance.id, glance.state, *glance.current)
    return " ".join(word for word in words if word).casefold()


def overview_page(glances: list[Overview], query: Query, loading: bool, problem: str | None) -> Part:
    """The sessions that match, and the form to search for others."""
    matching = found(glances, query)
    shown = matching[(query.page - 1) * PAGE : query.page * PAGE]
    rows = tuple(_row(glance) for glance in shown)
    if not rows:
        rows = (leaf("none", "li", _nothing(glances, loading), class_="nothing"),)
    children = (
        _form(glances, query),
        leaf("trouble", "p", problem or EMPTY, class_="trouble", role="alert" if problem else None),
        branch("sessions", "ol", rows, class_="sessions"),
        _pages(query, len(matching), loading),
    )
    return branch("content", "main", children, class_="overview")


def _form(glances: list[Overview], query: Query) -> Part:
    counts = dict.fromkeys(STATES, 0)
    for glance in glances:
        counts[glance.state] += 1
    states = [("", "All", len(glances)), *((state, state.capitalize(), counts[state]) for state in STATES)]
    choices = [
        el(
            "label",
            void("input", type="radio", name="state", value=state, checked=query.state == state),
            el("span", name, " ", el("small", f"{count:,}")),
        )
        for state, name, count in states
    ]
    field = void(
        "input",
        type="search",
        name="q",
        id="search",
        value=query.words or None,
        maxlength=LONGEST_QUERY,
        placeholder="Agent, folder, title, step …",
        autocomplete="off",
        aria_keyshortcuts="/",
    )
    return leaf(
        "find",
        "form",
        el("h1", "Sessions"),
        el("div", el("label", "Search", for_="search", class_="unseen"), field, class_="search"),
        el("fieldset", el("legend", "State", class_="unseen"), *choices, class_="choices"),
        el("button", "Find", class_="find-button"),
        class_="find",
        method="get",
        action=OVERVIEW,
        role="search",
    )


@lru_cache(maxsize=4_096)
def _row(glance: Overview) -> Part:
    row_id = f"o-{encode_id(glance.id)}"
    link = el("a", el("bdi", glance.title or glance.id), href=session_address(glance.id), class_="session-link")
    facts = [
        el("span", el("bdi", value), class_=f"fact fact-{kind}")
        for kind, value in (("agent", glance.agent), ("folder", glance.cwd))
        if value
    ]
    progress = Progress(glance.done, glance.total, (), glance.cancelled)
    empty = el("div", "no steps yet" if glance.plans else "no plan yet", class_="progress none")
    bar = progress_view(progress, glance.title or glance.id, brief=True) if glance.total else empty
    current = el("p", el("bdi", wording(glance.current[0])), class_="current") if glance.current else EMPTY
    return leaf(
        row_id,
        "li",
        el("div", link, el("p", *facts, class_="facts"), class_="who"),
        el("div", bar, current, class_="far"),
        el("div", state_badge(glance.state, None, glance.asked), _ago(glance.last_at), class_="when"),
        class_=f"session-row row-{glance.state}",
        data_status=glance.state,
        data_asked=glance.asked,
    )


def _nothing(glances: list[Overview], loading: bool) -> Html:
    if loading:
        return el("p", "Reading the journal …")
    if glances:
        return el("p", "No session is like that. ", el("a", "Show all sessions", href=OVERVIEW))
    return el(
        "div",
        el("p", "No session yet."),
        el("p", "Put ", el("code", "planwire relay --"), " in front of your agent's command: its plans appear here."),
    )


def _pages(query: Query, count: int, loading: bool) -> Part:
    last = max(1, -(-count // PAGE))
    links = []
    if last > 1:
        for number in (query.page - 1, query.page + 1):
            if 1 <= number <= last:
                name = "Newer" if number < query.page else "Older"
                links.append(action(name, _address(query, number)))
        links.insert(1 if query.page > 1 else 0, el("span", f"page {query.page} of {last}"))
    if loading and count:
        links.append(el("span", "still reading the journal …"))
    return leaf("pages", "nav", *links, class_="pages", aria_label="pages")


def _address(query: Query, page: int) -> str:
    fields = {"q": query.words, "state": query.state, "page": str(page) if page > 1 else ""}
    kept = {name: value for name, value in fields.items() if value}
    return f"{OVERVIEW}?{urlencode(kept)}" if kept else OVERVIEW


def _ago(at: int) -> Html:
    """The age of a moment, for `with_ages` to fill in: a row stays on the page longer than its age."""
    return el("time", iso(at)[:10], datetime=iso(at), data_show="ago", data_at=at)


def with_ages(page: str, now: int) -> str:
    """A page with all ages in it. The script keeps them true."""

    def with_age(time: re.Match[str]) -> str:
        passed = age(int(time[2]), now)
        return time[1] + (passed if passed == "now" else f"{passed} ago")

    return _AGO.sub(with_age, page)
