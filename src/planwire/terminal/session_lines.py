"""Sessions as lines: a row of the overview, and the head of a session."""

from functools import lru_cache
from typing import Final

from rich.cells import cell_len

from planwire.readmodel.overview import DONE, RUNNING, STOPPED, WAITING, Overview
from planwire.readmodel.plain_text import age, one_line
from planwire.terminal.lines import Line, Part, between, fitted, progress_bar
from planwire.terminal.plan_card import MINUTE
from planwire.terminal.sessions import folder_name

__all__ = ["STATES", "head_lines", "is_found", "session_rows"]

#: The states that a session can be in, with the sign and the look of each.
STATES: Final = {RUNNING: ("▶", "current"), WAITING: ("◆", "waiting"), STOPPED: ("■", "stopped"), DONE: ("✔", "done")}


def is_found(glance: Overview, words: str) -> bool:
    """Whether every word that was looked for is somewhere in what is known of a session."""
    facts = (glance.title, glance.agent, glance.client, glance.cwd, glance.id, glance.state, *glance.current)
    text = " ".join(each for each in facts if each).casefold()
    return all(word in text for word in words.casefold().split())


@lru_cache(maxsize=2_048)
def session_rows(glance: Overview, width: int, minute: int) -> tuple[Line, ...]:
    """Two lines: what it is about and how far it is; then the current step, and who works where."""
    sign, look = STATES[glance.state]
    right = (
        *_progress(glance, 14 if width >= 90 else 8 if width >= 50 else 0),
        (f"{_age(glance, minute):>8}", "muted"),
    )
    room = width - 5 - sum(cell_len(text) for text, _ in right)
    title = _title(glance)
    first = between(((f" {sign} ", look), (fitted(title, room), "strong" if glance.title else "")), right, width - 1)
    place: Part = (f"{glance.state:>8}", look)
    facts = [one_line(word) for word in (glance.agent, folder_name(glance.cwd) if glance.cwd else None) if word]
    current = one_line(glance.current[0]) if glance.current else ""
    room = width - 14
    step: tuple[Part, ...] = ((fitted(current, room), "current" if glance.state == RUNNING else ""),) if current else ()
    left = room - cell_len(current)
    about = fitted(("  ·  " if current else "") + "  ·  ".join(facts), left) if left > 12 else ""
    second = between((("   ", ""), *step, (about, "muted")), (place,), width - 1)
    row = ("session", glance.id)
    return Line(first, "", row), Line(second, "", row)


def head_lines(glance: Overview, width: int, minute: int) -> tuple[Line, ...]:
    """Three lines that stay on top of a session."""
    sign, look = STATES[glance.state]
    why = f" ({one_line(glance.stop_reason)})" if glance.state == STOPPED and glance.stop_reason else ""
    right: tuple[Part, ...] = (
        (f"{sign} ", look),
        (fitted(glance.state + why, 30), look),
        (f" · {_age(glance, minute)}", "muted"),
    )
    room = width - 3 - sum(cell_len(text) for text, _ in right)
    first = between(((f" {fitted(_title(glance), max(room, 12))}", "strong"),), right, width - 1)
    facts = [glance.agent, glance.client, folder_name(glance.cwd) if glance.cwd else None, glance.id]
    second = ((f" {fitted('  ·  '.join(one_line(fact) for fact in facts if fact), width - 2)}", "muted"),)
    return Line(first), Line(second), Line(_far(glance, width))


def _far(glance: Overview, width: int) -> tuple[Part, ...]:
    if not glance.total:
        return ((" no plan yet" if not glance.plans else " no steps", "muted"),)
    parts: tuple[Part, ...] = ((" ", ""), *progress_bar(glance.done, glance.total, 30 if width >= 90 else 12))
    parts += ((f"  {glance.done:,} / {glance.total:,}", "strong"),)
    if glance.current:
        goes_on = glance.state == RUNNING or (glance.state == WAITING and glance.stop_reason is None)
        sign, look = STATES[RUNNING if goes_on else STOPPED]
        room = width - 4 - sum(cell_len(text) for text, _ in parts)
        parts += ((f"  {sign} ", look), (fitted(one_line(glance.current[0]), room), look))
    return parts


def _progress(glance: Overview, bar: int) -> tuple[Part, ...]:
    if not glance.total:
        return (("  no plan" if not glance.plans else "  no steps", "muted"),)
    number = f"{glance.done:,} / {glance.total:,}"
    return ("  ", ""), *progress_bar(glance.done, glance.total, bar), (f"{number:>12}", "strong")


def _title(glance: Overview) -> str:
    return one_line(glance.title or "") or one_line(glance.id) or "(no name)"


def _age(glance: Overview, minute: int) -> str:
    now = minute * MINUTE
    return "now" if now - glance.last_at < MINUTE else age(glance.last_at, now)
