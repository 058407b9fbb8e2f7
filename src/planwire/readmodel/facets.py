"""What tells the sessions of a team apart: the machine, the account, the repository, and the folder.

On one machine with one user they say nothing, and nobody sees them: a face asks what is `varied` before it shows them,
and so looks as it always did.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from planwire.readmodel.overview import Overview

__all__ = ["FACETS", "GROUPS", "Group", "facet_of", "grouped", "has_all", "values_of", "varied"]

#: The facets, with a word for sessions of which nobody knows it.
FACETS: Final = {"host": "No host", "user": "No user", "repository": "No repository"}
#: All that sessions can be grouped by.
GROUPS: Final = {**FACETS, "folder": "No folder"}


class Group(NamedTuple):
    """Sessions that have one facet in common; "" if nobody knows it."""

    name: str
    sessions: tuple[Overview, ...]


def facet_of(glance: Overview, facet: str) -> str:
    """A facet of a session, "" if nobody knows it."""
    known = {"host": glance.host, "user": glance.user, "repository": glance.repository, "folder": glance.cwd}
    return known[facet] or ""


def values_of(glances: Iterable[Overview], facet: str) -> dict[str, int]:
    """The values that sessions have of a facet, in their order, and how many sessions have each."""
    counted = Counter(filter(None, (facet_of(glance, facet) for glance in glances)))
    return {value: counted[value] for value in sorted(counted, key=lambda each: (each.casefold(), each))}


def varied(glances: Iterable[Overview]) -> tuple[str, ...]:
    """The facets in which sessions differ. A session of which nobody knows one, as of older journals, is no other."""
    known = tuple(glances)
    return tuple(each for each in FACETS if len({facet_of(glance, each) for glance in known} - {""}) > 1)


def has_all(glance: Overview, wanted: Mapping[str, str]) -> bool:
    """Whether a session has all the facets that are wanted. One that is "" may be any."""
    return all(not value or facet_of(glance, facet) == value for facet, value in wanted.items())


def grouped(glances: Iterable[Overview], facet: str) -> list[Group]:
    """Sessions by a facet; groups and sessions in the order that they come in, those without it last."""
    groups: dict[str, list[Overview]] = {}
    for glance in glances:
        groups.setdefault(facet_of(glance, facet), []).append(glance)
    return [Group(name, tuple(groups[name])) for name in sorted(groups, key=lambda each: not each)]
