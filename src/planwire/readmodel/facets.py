"""What tells the sessions of a team apart: the machine, the account, the repository, and the folder.

On one machine with one user they say nothing, so they are not shown: a face shows only the facets that are `varied`.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from planwire.readmodel.overview import Overview

#: The facets, with a label for sessions where the facet is unknown.
FACETS: Final = {"host": "No host", "user": "No user", "repository": "No repository"}
#: All that sessions can be grouped by.
GROUPS: Final = {**FACETS, "folder": "No folder"}


class Group(NamedTuple):
    """Sessions with the same value of a facet; its name is "" if that is unknown."""

    name: str
    sessions: tuple[Overview, ...]


def facet_of(glance: Overview, facet: str) -> str:
    """A facet of a session; "" if it is unknown."""
    known = {"host": glance.host, "user": glance.user, "repository": glance.repository, "folder": glance.cwd}
    return known[facet] or ""


def values_of(glances: Iterable[Overview], facet: str) -> dict[str, int]:
    """The values of a facet among sessions, sorted, with the number of sessions that have each."""
    counted = Counter(filter(None, (facet_of(glance, facet) for glance in glances)))
    return {value: counted[value] for value in sorted(counted, key=lambda each: (each.casefold(), each))}


def varied(glances: Iterable[Overview]) -> tuple[str, ...]:
    """The facets in which sessions differ. An unknown value is no difference."""
    known = tuple(glances)
    return tuple(each for each in FACETS if len({facet_of(glance, each) for glance in known} - {""}) > 1)


def has_all(glance: Overview, wanted: Mapping[str, str]) -> bool:
    """Whether a session has all the wanted facets. A wanted "" matches any value."""
    return all(not value or facet_of(glance, facet) == value for facet, value in wanted.items())


def grouped(glances: Iterable[Overview], facet: str) -> list[Group]:
    """Sessions grouped by a facet, in the order that they come in; those without it last."""
    groups: dict[str, list[Overview]] = {}
    for glance in glances:
        groups.setdefault(facet_of(glance, facet), []).append(glance)
    return [Group(name, tuple(groups[name])) for name in sorted(groups, key=lambda each: not each)]
