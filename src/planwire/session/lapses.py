"""Leases that lapsed: whoever finds one says, once, that its turn is over.

A process that is killed can't record its own end, so those who look at the journal do it. Any number of them may look
at once: the lease's name is the key of the append, and the lease goes only after the event is written. A finder may be
late, and another holder may serve the session by then: so each decides on the newest state, with the leases as they
are at that moment.
"""

from contextlib import suppress

from planwire.errors import DamagedJournal, JournalUnavailable
from planwire.journal import Journal, KnownLease, Once, Stamped, load_state
from planwire.model.events import DISCONNECTED, TurnEnded
from planwire.model.records import PLANWIRE, SessionState
from planwire.readmodel.states import MCP
from planwire.session.writer import append_latest, stamped

__all__ = ["end_lapsed"]


def end_lapsed(journal: Journal) -> list[KnownLease]:
    """End the leases whose holders died, and their turns. Returns those that are held.

    A journal that can be read, but not written, keeps its lapsed leases for the next one who looks.
    """
    leases = journal.leases()
    try:
        for lapsed in leases:
            if not lapsed.is_held:
                _end(journal, lapsed)
    except JournalUnavailable:
        pass
    return [each for each in leases if each.is_held]


def _end(journal: Journal, lapsed: KnownLease) -> None:
    def prepare(state: SessionState) -> list[Stamped]:
        asks = any(record.asked for record in state.plans.values())
        was_on = lapsed.terms.is_working or asks or (state.stopped is None and bool(state.plans))
        if not state.seq or not was_on or not _is_last(journal.leases(), lapsed):
            return []
        return stamped([TurnEnded(DISCONNECTED)], PLANWIRE)

    with suppress(DamagedJournal):  # a session that can't be read has no state to change
        append_latest(journal, lambda: load_state(journal, lapsed.session), prepare, Once(f"lease {lapsed.name}", 0))
    journal.end_lease(lapsed)


def _is_last(leases: list[KnownLease], lapsed: KnownLease) -> bool:
    """Whether a lapsed lease is still there, and nobody else serves its session. The tools of a relay's agent may
    outlive the relay by a moment: they keep no turn alive that is not their own."""
    others = [each for each in leases if each.is_held and each.session == lapsed.session]
    is_served = any(each.terms.holder != MCP or lapsed.terms.holder == MCP for each in others)
    return not is_served and any(each.name == lapsed.name for each in leases)
