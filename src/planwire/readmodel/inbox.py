"""Sessions as an inbox: those that need a person, those that run, and the rest by day and folder or by a facet."""

from collections.abc import Iterable
from datetime import date, datetime, timedelta

from msgspec import Struct

from planwire.readmodel.facets import Group, grouped
from planwire.readmodel.overview import NEEDS_YOU, RUNNING, Overview


class Folder(Struct, frozen=True):
    """Sessions of one day in one folder; its name is "" if they have none."""

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
    """Sessions in three parts, the last of them by day or in groups. Within each the order is kept."""

    needs_you: tuple[Overview, ...]
    running: tuple[Overview, ...]
    days: tuple[Day, ...]
    groups: tuple[Group, ...] = ()


def inbox(glances: Iterable[Overview], now: int, facet: str = "") -> Inbox:
    """Sort sessions into the parts, with the rest grouped by `facet` if given. Days are in this machine's time zone."""
    parts: dict[str, list[Overview]] = {NEEDS_YOU: [], RUNNING: []}
    rest: list[Overview] = []
    for glance in glances:
        parts.get(glance.state, rest).append(glance)
    days = () if facet else _days(rest, _day_of(now))
    return Inbox(tuple(parts[NEEDS_YOU]), tuple(parts[RUNNING]), days, tuple(grouped(rest, facet)) if facet else ())


def _days(glances: Iterable[Overview], today: date) -> tuple[Day, ...]:
    days: dict[date, dict[str, list[Overview]]] = {}
    for glance in glances:
        days.setdefault(_day_of(glance.last_at), {}).setdefault(glance.cwd or "", []).append(glance)
    return tuple(
        Day(day, _label(day, today), tuple(Folder(name, tuple(each)) for name, each in days[day].items()))
        for day in sorted(days, reverse=True)
    )


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
