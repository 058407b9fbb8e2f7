"""Sessions as an inbox: what needs a person, what runs, and the rest by day and folder."""

from collections.abc import Iterable
from datetime import date, datetime, timedelta

from msgspec import Struct

from planwire.readmodel.overview import NEEDS_YOU, RUNNING, Overview

__all__ = ["Day", "Folder", "Inbox", "inbox"]


class Folder(Struct, frozen=True):
    """Sessions of one day in one folder; "" if they have none."""

    name: str
    sessions: tuple[Overview, ...]


class Day(Struct, frozen=True):
    """The sessions whose last event was on one day, the folder of the newest first."""

    day: date
    label: str
    folders: tuple[Folder, ...]

    @property
    def count(self) -> int:
        return sum(len(folder.sessions) for folder in self.folders)


class Inbox(Struct, frozen=True):
    """Sessions in three parts. Nothing changes the order that they came in."""

    needs_you: tuple[Overview, ...]
    running: tuple[Overview, ...]
    days: tuple[Day, ...]


def inbox(glances: Iterable[Overview], now: int) -> Inbox:
    """The parts. Days are those of the clock on this machine's wall."""
    parts: dict[str, list[Overview]] = {NEEDS_YOU: [], RUNNING: []}
    days: dict[date, dict[str, list[Overview]]] = {}
    for glance in glances:
        if glance.state in parts:
            parts[glance.state].append(glance)
        else:
            days.setdefault(_day_of(glance.last_at), {}).setdefault(glance.cwd or "", []).append(glance)
    today = _day_of(now)
    rest = tuple(
        Day(day, _label(day, today), tuple(Folder(name, tuple(each)) for name, each in days[day].items()))
        for day in sorted(days, reverse=True)
    )
    return Inbox(tuple(parts[NEEDS_YOU]), tuple(parts[RUNNING]), rest)


def _day_of(at: int) -> date:
    """The day of a Unix time in milliseconds."""
    return datetime.fromtimestamp(at / 1_000).date()  # noqa: DTZ006


def _label(day: date, today: date) -> str:
    if day >= today:
        return "Today"
    if day == today - timedelta(days=1):
        return "Yesterday"
    year = f" {day.year}" if day.year != today.year else ""
    return f"{day:%A}, {day.day} {day:%B}{year}"
