"""The overview: every session on one page, those that need a person first, with a search by words and by state."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Final
from urllib.parse import urlencode

from msgspec import Struct

from planwire.readmodel.card import Progress
from planwire.readmodel.overview import FILTERS, NEEDS_YOU, Overview, is_found, waiting_first
from planwire.web.addresses import OVERVIEW, encode_id, session_address
from planwire.web.frame import action
from planwire.web.html import EMPTY, Html, el, moment, void
from planwire.web.page_tree import Part, branch, leaf
from planwire.web.session_page import state_badge
from planwire.web.status_look import wording
from planwire.web.steps_view import progress_view

__all__ = ["LONGEST_QUERY", "Query", "found", "overview_page"]

#: Sessions on one page.
PAGE: Final = 500
LONGEST_QUERY: Final = 200
#: Commands for a board without sessions.
FIRST_COMMANDS: Final = (
    ("planwire demo", "Watch a scripted agent work."),
    ("planwire relay -- your-agent", "Put the relay in front of your agent's command."),
)


class Query(Struct, frozen=True):
    """A search: words that all must match, a state (or any), and the number of the page."""

    words: str = ""
    state: str = ""
    page: int = 1


def found(glances: Iterable[Overview], query: Query, now: int) -> list[Overview]:
    """The sessions that match, in the order on the page."""
    matching = (glance for glance in glances if query.state in ("", glance.state) and is_found(glance, query.words))
    return waiting_first(matching, now)


def overview_page(glances: list[Overview], query: Query, loading: bool, problem: str | None, now: int) -> Part:
    """The sessions that match, and the form to search for others."""
    matching = found(glances, query, now)
    shown = matching[(query.page - 1) * PAGE : query.page * PAGE]
    rows = tuple(_row(glance) for glance in shown)
    if not rows:
        rows = (leaf("none", "li", _nothing(glances, loading), class_="nothing"),)
    children = (
        _form(glances, query),
        leaf("trouble", "p", problem or EMPTY, class_="trouble", role="alert" if problem else None),
        branch("sessions", "ol", rows, class_="sessions", data_steady=True),
        _pages(query, len(matching), loading),
    )
    return branch("content", "main", children, class_="overview")


def _form(glances: list[Overview], query: Query) -> Part:
    if not glances:
        return leaf("find", "div", el("h1", "Sessions"), class_="find")
    counts = dict.fromkeys(FILTERS, 0)
    for glance in glances:
        counts[glance.state] += 1
    states = [("", "All", len(glances)), *((state, name, counts[state]) for state, name in FILTERS.items())]
    choices = [
        el(
            "label",
            void("input", type="radio", name="state", value=state, checked=query.state == state),
            el("span", name, " ", el("small", f"{count:,}")),
            class_="needs-you" if state == NEEDS_YOU and count else None,
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
        placeholder="Agent, folder, title, step…",
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
    link = el("a", el("bdi", glance.name), href=session_address(glance.id), class_="session-link")
    facts = [
        el("span", el("bdi", value), class_=f"fact fact-{kind}")
        for kind, value in (("agent", glance.agent), ("folder", glance.cwd))
        if value
    ]
    progress = Progress(glance.done, glance.total, (), glance.cancelled)
    empty = el("div", "no steps yet" if glance.plans else "no plan yet", class_="progress none")
    bar = progress_view(progress, glance.name, brief=True) if glance.total else empty
    current = el("p", el("bdi", wording(glance.current[0])), class_="current") if glance.current else EMPTY
    return leaf(
        row_id,
        "li",
        el("div", link, el("p", *facts, class_="facts"), class_="who"),
        el("div", bar, current, class_="far"),
        el("div", state_badge(glance), moment(glance.last_at), class_="when"),
        class_=f"session-row row-{glance.state}",
        data_status=glance.state,
        data_asked=glance.asked,
    )


def _nothing(glances: list[Overview], loading: bool) -> Html:
    if loading:
        return el("p", "Reading the journal…")
    if glances:
        return el("p", "No matches. ", el("a", "Show all sessions", href=OVERVIEW))
    commands = [
        el("li", el("span", words), el("code", command), el("button", "Copy", type="button", data_copy_text=command))
        for command, words in FIRST_COMMANDS
    ]
    return el(
        "div",
        el("h2", "No sessions yet"),
        el("p", "Plans appear here as soon as an agent has one."),
        el("ul", *commands, class_="commands"),
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
        links.append(el("span", "still reading the journal…"))
    return leaf("pages", "nav", *links, class_="pages", aria_label="pages")


def _address(query: Query, page: int) -> str:
    fields = {"q": query.words, "state": query.state, "page": str(page) if page > 1 else ""}
    kept = {name: value for name, value in fields.items() if value}
    return f"{OVERVIEW}?{urlencode(kept)}" if kept else OVERVIEW
