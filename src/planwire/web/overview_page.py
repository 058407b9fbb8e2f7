"""The overview is an inbox: what needs a person, with the answers; what runs; and the rest, folded by day and folder.

A search by words and by state leaves out other sessions, and unfolds what it found. Where sessions are of several
machines, people or repositories, it also searches by those, and groups by them. Parts that did not change are the same
values as before, so a change costs only its own row, however many there are.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from hashlib import sha256
from typing import Final, TypeAlias
from urllib.parse import urlencode

from msgspec import Struct
from msgspec.structs import replace

from planwire.readmodel.audience import audience
from planwire.readmodel.facets import FACETS, GROUPS, Group, has_all, values_of, varied
from planwire.readmodel.inbox import Day, Folder, inbox
from planwire.readmodel.overview import NEEDS_YOU, STATES, Overview, is_found, state_name, waiting_first
from planwire.web.addresses import OVERVIEW
from planwire.web.frame import action
from planwire.web.html import EMPTY, Html, el, void
from planwire.web.page_tree import Part, branch, leaf
from planwire.web.session_rows import Asking, inbox_item, session_row

#: Looks up what the plans of a session ask.
Ask: TypeAlias = Callable[[str], tuple[Asking, ...]]
#: Draws a session in a list.
Row: TypeAlias = Callable[[Overview], Part]

#: Sessions on one page, and how many of them show their questions. Others that need a person are plain rows.
PAGE: Final = 500
ANSWERED_HERE: Final = 25
LONGEST_QUERY: Final = 200
#: Commands for a board without sessions.
FIRST_COMMANDS: Final = (
    ("planwire demo", "Watch a scripted agent work."),
    ("planwire relay -- your-agent", "Put the relay in front of your agent's command."),
)


class Query(Struct, frozen=True):
    """A search: words that all must match, a state, a host, a user and a repository (or any), the number of the page,
    and what the sessions are grouped by, if not by day."""

    words: str = ""
    state: str = ""
    page: int = 1
    host: str = ""
    user: str = ""
    repository: str = ""
    group: str = ""

    @property
    def facets(self) -> dict[str, str]:
        """The facets that are searched for."""
        return {"host": self.host, "user": self.user, "repository": self.repository}

    @property
    def is_search(self) -> bool:
        """Whether it can leave out a session."""
        return bool(self.words or self.state or any(self.facets.values()))


def found(glances: Iterable[Overview], query: Query, now: int) -> list[Overview]:
    """The sessions that match, in the order on the page."""
    return waiting_first(_matching(glances, query), now)


def _matching(glances: Iterable[Overview], query: Query) -> list[Overview]:
    here = (glance for glance in glances if query.state in ("", glance.state) and has_all(glance, query.facets))
    return [glance for glance in here if is_found(glance, query.words)]


def overview_page(
    glances: list[Overview], query: Query, loading: bool, problem: str | None, now: int, ask: Ask
) -> Part:
    """The sessions that match, and the form to search for others."""
    matching, facets = found(glances, query, now), varied(glances)
    last = max(1, -(-len(matching) // PAGE))
    query = replace(query, page=min(query.page, last))  # sessions may be gone since the address was made
    row = partial(session_row, facets=facets)
    shown = inbox(matching[(query.page - 1) * PAGE : query.page * PAGE], now, query.group)
    needs = [inbox_item(each, ask(each.id), facets) for each in shown.needs_you[:ANSWERED_HERE]]
    needs += [row(each) for each in shown.needs_you[ANSWERED_HERE:]]
    parts = [_section("needs", state_name(NEEDS_YOU), needs), _section("runs", "Running", map(row, shown.running))]
    is_search = query.is_search
    parts += [_day(day, is_search, row, is_first=number == 0) for number, day in enumerate(shown.days)]
    inside = partial(session_row, facets=tuple(each for each in facets if each != query.group))
    parts += [_group(query.group, group, inside) for group in shown.groups]
    if not matching:
        parts = [leaf("none", "div", _nothing(glances, loading), class_="nothing")]
    elif not needs and not is_search and query.page == 1:
        parts.insert(0, leaf("none", "p", audience().nothing, class_="nothing all-well"))
    children = (
        _form(glances, query, facets),
        leaf("trouble", "p", problem or EMPTY, class_="trouble", role="alert" if problem else None),
        branch("inbox", "div", [part for part in parts if part is not None], class_="inbox"),
        _pages(query, last, loading=loading and bool(matching)),
    )
    return branch("content", "main", children, class_="overview")


def _section(own: str, name: str, rows: Iterable[Part]) -> Part | None:
    listed = tuple(rows)
    if not listed:
        return None
    head = leaf(f"{own}-name", "h2", name, " ", el("small", f"{len(listed):,}"))
    return branch(own, "section", (head, _list(own, listed)), class_=f"part part-{own}", aria_labelledby=f"{own}-name")


def _list(own: str, rows: Iterable[Part]) -> Part:
    return branch(f"{own}-list", "ol", rows, class_="sessions", data_steady=True)


def _group(facet: str, group: Group, row: Row) -> Part:
    """Sessions with one facet in common, in a fold."""
    own = f"by-{facet}-{_digest(group.name)}"
    name = _summary(own, group.name or GROUPS[facet], len(group.sessions))
    return branch(own, "details", (name, _list(own, map(row, group.sessions))), class_="part day", open=True)


def _day(day: Day, is_search: bool, row: Row, *, is_first: bool) -> Part:
    """A day in a fold; what a search found is in folds of its own, all open."""
    own = f"{'found' if is_search else 'day'}-{day.day}"
    folders = [_folder(own, folder, row, alone=len(day.folders) == 1) for folder in day.folders]
    children = _summary(own, day.label, day.count), *folders
    return branch(own, "details", children, class_="part day", open=is_first or is_search)


def _folder(own: str, folder: Folder, row: Row, *, alone: bool) -> Part:
    inside = f"{own}-{_digest(folder.name)}"
    rows = _list(inside, map(row, folder.sessions))
    if alone and not folder.name:
        return rows
    name = _summary(inside, folder.name or "No folder", len(folder.sessions))
    return branch(inside, "details", (name, rows), class_="folder", open=True)


def _digest(name: str) -> str:
    return sha256(name.encode()).hexdigest()[:10]


def _summary(own: str, name: str, count: int) -> Part:
    return leaf(f"{own}-name", "summary", el("bdi", name), " ", el("small", f"{count:,}"))


def _form(glances: list[Overview], query: Query, facets: tuple[str, ...]) -> Part:
    if not glances:
        return leaf("find", "div", el("h1", "Sessions"), class_="find")
    counts = Counter(glance.state for glance in _matching(glances, replace(query, state="")))
    states = [("", "All", counts.total()), *((state, state_name(state), counts[state]) for state in STATES)]
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
        _facet_choices(glances, query, facets),
        el("button", "Find", class_="find-button"),
        class_="find",
        method="get",
        action=OVERVIEW,
        role="search",
    )


def _facet_choices(glances: list[Overview], query: Query, facets: tuple[str, ...]) -> Html:
    """A choice for each facet in which the sessions differ, or that is searched for, and one of groups. Each value
    counts what it would find together with the rest of the search."""
    offered = [each for each in FACETS if each in facets or query.facets[each]]
    if not offered and not query.group:
        return EMPTY
    choices = []
    for facet in offered:
        counted = values_of(_matching(glances, replace(query, **{facet: ""})), facet)
        values = {**counted, **({} if query.facets[facet] in ("", *counted) else {query.facets[facet]: 0})}
        options = {"": f"Any {facet}", **{value: f"{value} ({count:,})" for value, count in values.items()}}
        choices.append(_choice(facet, facet.capitalize(), options, query.facets[facet]))
    groups = {"": "Group by day", **{each: f"Group by {each}" for each in GROUPS if each in (*facets, "folder")}}
    groups |= {query.group: f"Group by {query.group}"} if query.group else {}
    return el("div", *choices, _choice("group", "Group", groups, query.group), class_="facets")


def _choice(name: str, label: str, options: Mapping[str, str], chosen: str) -> Html:
    listed = [el("option", words, value=value, selected=value == chosen) for value, words in options.items()]
    return el("select", *listed, name=name, aria_label=label)


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


def _pages(query: Query, last: int, *, loading: bool) -> Part:
    links = []
    if last > 1:
        for number in (query.page - 1, query.page + 1):
            if 1 <= number <= last:
                name = "Newer" if number < query.page else "Older"
                links.append(action(name, _address(query, number)))
        links.insert(1 if query.page > 1 else 0, el("span", f"page {query.page} of {last}"))
    if loading:
        links.append(el("span", "still reading the journal…"))
    return leaf("pages", "nav", *links, class_="pages", aria_label="pages")


def _address(query: Query, page: int) -> str:
    fields = {"q": query.words, "state": query.state, **query.facets, "group": query.group}
    fields["page"] = str(page) if page > 1 else ""
    kept = {name: value for name, value in fields.items() if value}
    return f"{OVERVIEW}?{urlencode(kept)}" if kept else OVERVIEW
