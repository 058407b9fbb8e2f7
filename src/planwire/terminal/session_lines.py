"""Sessions as lines: a row of the overview, the head of a session on its screen, and the same in print."""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from time import time_ns
from typing import Final

from rich.cells import cell_len, set_cell_size

from planwire.readmodel.facets import facet_of
from planwire.readmodel.overview import (
    DONE,
    IDLE,
    NEEDS_YOU,
    RUNNING,
    STOPPED,
    Overview,
    fork_words,
    state_words,
    where_words,
)
from planwire.readmodel.plain_text import age, one_line
from planwire.terminal.lines import Drawing, Line, Part, between, fitted, progress_bar
from planwire.terminal.rows import MINUTE, ago

#: The states that a session can be in, with the sign and the look of each.
STATES: Final = {
    NEEDS_YOU: ("◆", "waiting"),
    RUNNING: ("▶", "current"),
    IDLE: ("◇", "muted"),
    STOPPED: ("■", "stopped"),
    DONE: ("✔", "done"),
}
#: The most characters of a title in columns: `show` and JSON have all of it.
TITLE: Final = 60
#: Cells of a session's id in print.
ID: Final = 20


@lru_cache(maxsize=2_048)
def session_rows(
    glance: Overview, width: int, aged: str, name: str | None = None, facets: tuple[str, ...] = ()
) -> tuple[Line, ...]:
    """A session in two lines: its name and how long ago it changed (`aged`); then what it needs a person for, or else
    its current step, with who works where, the progress and the state. In print, its `name` for commands comes first.
    `facets` are those in which the sessions of the list differ."""
    sign, look = STATES[glance.state]
    named: tuple[Part, ...] = ((f"{name}  ", "muted"),) if name is not None else ()
    indent = 3 + sum(cell_len(text) for text, _ in named)
    when: Part = (f"{aged:>8}", "muted")
    title = (fitted(_name(glance), width - 2 - indent - len(when[0])), "strong" if glance.title else "")
    first = between(((f" {sign} ", look), *named, title), (when,), width - 1)
    right = (*_progress(glance, 14 if width >= 90 else 0), (f"  {state_words(glance):>9}", look))
    room = width - 3 - indent - sum(cell_len(text) for text, _ in right)
    where = (facet_of(glance, each) for each in facets)
    facts = [one_line(word) for word in (*where, glance.agent, folder_name(glance.cwd) if glance.cwd else None) if word]
    current = one_line(glance.need or (glance.current[0] if glance.current else ""))
    look_now = look if glance.goes_on else ""
    step: tuple[Part, ...] = ((fitted(current, room), look_now),) if current else ()
    left = room - cell_len(current)
    about = fitted(("  ·  " if current else "") + "  ·  ".join(facts), left) if left > 12 else ""
    second = between(((" " * indent, ""), *step, (about, "muted")), right, width - 1)
    row = ("session", glance.id)
    return Line(first, "", row), Line(second, "", row)


def head_lines(glance: Overview, width: int) -> tuple[Line, ...]:
    """Three lines that stay on top of a session's screen."""
    sign, look = STATES[glance.state]
    now = time_ns() // 1_000_000
    right: tuple[Part, ...] = (
        (f"{sign} ", look),
        (fitted(one_line(state_words(glance, now, why=True)), 40), look),
        ("" if glance.is_quiet else f" · {session_age(glance, now)}", "muted"),
    )
    room = width - 3 - sum(cell_len(text) for text, _ in right)
    first = between(((f" {fitted(_name(glance), max(room, 12))}", "strong"),), right, width - 1)
    folder = folder_name(glance.cwd) if glance.cwd else None
    facts = [glance.agent, glance.client, folder, *where_words(glance), glance.id]
    facts += fork_words(glance)
    second = ((f" {fitted('  ·  '.join(one_line(fact) for fact in facts if fact), width - 2)}", "muted"),)
    return Line(first), Line(second), Line(_far(glance, width))


def _far(glance: Overview, width: int) -> tuple[Part, ...]:
    _, *parts = _progress(glance, 30 if width >= 90 else 12)
    if glance.current:
        sign, look = STATES[RUNNING if glance.goes_on else STOPPED]
        room = width - 4 - sum(cell_len(text) for text, _ in parts)
        parts += ((f"  {sign} ", look), (fitted(one_line(glance.current[0]), room), look))
    return (" ", ""), *parts


def _progress(glance: Overview, bar: int) -> tuple[Part, ...]:
    gap: Part = ("  ", "")
    if not glance.total:
        return gap, ("no steps" if glance.plans else "no plan", "muted")
    return (
        gap,
        *progress_bar(glance.done, glance.total, bar),
        (f"  {glance.done:,} / {glance.total:,}", "strong"),
    )


def _name(glance: Overview) -> str:
    return one_line(glance.name) or "(no name)"


def session_age(glance: Overview, now: int) -> str:
    """How long ago its last event was, without seconds."""
    return "now" if now - glance.last_at < MINUTE else age(glance.last_at, now)


# -- in print


def heading_lines(glance: Overview, now: int) -> tuple[Line, ...]:
    """What a session is about, who works where, and the sessions that share its past."""
    sign, look = STATES[glance.state]
    words = [one_line(word) for word in (glance.agent, glance.client) if word]
    words += [folder_name(glance.cwd)] if glance.cwd else []
    words += map(one_line, where_words(glance))
    words += [one_line(state_words(glance, now, why=True))]
    words += [] if glance.is_quiet else [ago(glance.last_at, now)]
    own: Part = (f"  {one_line(glance.id)}" if glance.name != glance.id else "", "muted")
    first = Line(((f"{sign} ", look), (_name(glance), "strong"), own))
    lines = "  ·  ".join(words), *map(one_line, fork_words(glance))
    return first, *(Line(((f"  {line}", "muted"),)) for line in lines)


def sessions_list(
    overviews: Iterable[Overview],
    short: Mapping[str, str],
    now: int,
    hints: Mapping[str, str] | None = None,
    facets: tuple[str, ...] = (),
) -> Drawing:
    """For a person: two lines per session, with its id as commands take it. `hints` has the commands for the sessions
    that need an answer, `facets` those in which the sessions differ."""
    listed = tuple(overviews)

    def lines(width: int) -> Iterator[Line]:
        names = {each.id: fitted(one_line(short[each.id]), ID) for each in listed}
        wide = max(map(cell_len, names.values()), default=0)
        for each in listed:
            name = set_cell_size(names[each.id], wide)
            yield from session_rows(each, width, session_age(each, now), name, facets)
            if each.id in (hints or {}):
                yield Line(((" " * (5 + wide), ""), (fitted((hints or {})[each.id], width - 6 - wide), "muted")))

    return Drawing(lines)


def sessions_lines(
    overviews: Iterable[Overview], short: Mapping[str, str], now: int, facets: tuple[str, ...] = ()
) -> Iterator[str]:
    """For a pipe: a heading, then one line of columns per session, with a column for each of the `facets` in which they
    differ."""
    where = [each.upper() for each in facets]
    rows: list[tuple[str, ...]] = [
        ("ID", "STATE", "DONE", "AGE", "AGENT", *where, "FOLDER", "TITLE", "QUESTION OR STEP")
    ]
    for each in overviews:
        places = (facet_of(each, facet) for facet in facets)
        words = (each.agent, *places, each.cwd, (each.title or "")[:TITLE], each.need or "; ".join(each.current))
        facts = (short[each.id], state_words(each), f"{each.done}/{each.total}", age(each.last_at, now), *words)
        rows.append(tuple(one_line(word or "") or "-" for word in facts))
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(set_cell_size(word, width) for word, width in zip(row, widths, strict=True)).rstrip()


def folder_name(cwd: str) -> str:
    """A folder as its owner would write it."""
    home = str(Path.home())
    inside = cwd == home or cwd.startswith(home.rstrip("/\\") + "/")
    return one_line(f"~{cwd[len(home) :]}" if inside and home != "/" else cwd)
