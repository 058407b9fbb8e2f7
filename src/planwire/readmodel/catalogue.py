"""The catalogue: what lists need to know of each session, so that nobody folds all of them for a list.

It is a view like any other, in a file of this machine that can be thrown away at will, and is brought up to date for
each answer (`catching_up`). Who runs which session now is not in it: leases say that, at the time of asking.
"""

from collections.abc import Callable, Iterator
from math import inf
from time import monotonic
from typing import Final, TypeAlias

import msgspec
from msgspec import Struct

from planwire.errors import EngineAway, JournalError, JournalUnavailable
from planwire.journal import Journal, load_state
from planwire.journal.waiting import is_away
from planwire.model.kinds import address_of
from planwire.model.plan import PlanId
from planwire.model.records import SessionState
from planwire.model.steps import Progress
from planwire.model.titles import plan_titles
from planwire.readmodel.dated import newest_first
from planwire.readmodel.overview import Overview, overview

#: Hears how many of how many sessions are catalogued, while many are.
Heard: TypeAlias = Callable[[int, int], object]


def unheard(_done: int, _count: int) -> None:
    """Tell nobody."""


class PlanOutline(Struct, frozen=True, array_like=True, gc=False):
    """A plan at a glance. `asked_at` is when its open question was asked."""

    id: PlanId
    title: str
    revision: int
    done: int
    total: int
    asked_at: int | None = None


class CatalogueEntry(Struct, frozen=True, array_like=True, gc=False):
    """A session in the catalogue: its row in lists, right after its last event and held by nobody; its live plans; and
    the addresses of its plan files, whose texts are not in the journal. `is_pending`: a verdict on one of its plans can
    still be taken back. One that can't be read has only the `trouble`."""

    glance: Overview
    plans: tuple[PlanOutline, ...] = ()
    files: tuple[str, ...] = ()
    has_work_left: bool = False
    is_pending: bool = False
    trouble: str = ""


decode_entry: Final = msgspec.msgpack.Decoder(CatalogueEntry).decode
encode_entry: Final = msgspec.msgpack.Encoder().encode


def entry_of(state: SessionState, first_at: int, last_at: int) -> CatalogueEntry:
    """The entry of a session, given the times of its first and last event."""
    records = state.plans.values()
    titles = plan_titles(record.state.plan for record in records)
    outlines = []
    for plan_id, record in state.live().items():
        progress, asked = Progress.of(record.state.steps), record.asked
        asked_at = asked.at if asked else None
        outlines.append(PlanOutline(plan_id, titles[plan_id], record.revision, progress.done, progress.total, asked_at))
    files = tuple(filter(None, (address_of(record.state.plan) for record in records)))
    pending = bool(state.pending)
    return CatalogueEntry(overview(state, first_at, last_at), tuple(outlines), files, state.has_work_left, pending)


def troubled(session: str, trouble: JournalError) -> CatalogueEntry:
    """The entry of a session that can't be read."""
    return CatalogueEntry(overview(SessionState(session), 0, 0), trouble=str(trouble))


def catalogued(journal: Journal, heard: Heard = unheard, within: float = inf) -> Iterator[CatalogueEntry]:
    """The sessions of a journal now, the latest first. If bringing the catalogue up to date takes longer than `within`
    seconds, some of them, most likely the latest. While the journal's server is away, those that this machine last
    knew."""
    if not is_away(journal):
        try:
            from planwire.readmodel.catching_up import rows_of  # noqa: PLC0415  (it imports SQLite)

            return map(decode_entry, rows_of(journal, heard, monotonic() + within))
        except EngineAway:
            if not is_away(journal):
                raise
    return _folded(journal)


def _folded(journal: Journal) -> Iterator[CatalogueEntry]:
    for known in newest_first(journal):
        try:
            yield entry_of(load_state(journal, known.id), known.first_at, known.last_at)
        except JournalUnavailable:
            raise
        except JournalError as error:
            yield troubled(known.id, error)
