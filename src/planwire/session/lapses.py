"""Lapsed leases: the process that finds one records, once, that its turn is over.

A killed process can't record its own end, so processes that read the journal do it. Any number of them may look at
once: the journal writes only the events of the one that ends the lease. A finder may be late, and another holder may
serve the session by then, so each decides on the newest state, with the leases as they are at that moment.
"""

from planwire.errors import Conflict, DamagedJournal, JournalUnavailable
from planwire.journal import Journal, KnownLease, load_state
from planwire.model.events import DISCONNECTED, DISMISSED, Event, PlanReviewed, TurnEnded
from planwire.model.records import PLANWIRE, SessionState
from planwire.readmodel.states import MCP
from planwire.session.writer import stamped


def end_lapsed(journal: Journal) -> list[KnownLease]:
    """End the leases whose holders died, and their turns. Returns the leases that are left.

    All of these are held, unless the journal can be read but not written now: then it keeps its lapsed leases for the
    next process that looks.
    """
    leases = journal.leases()
    ended = set()
    try:
        for lapsed in leases:
            if not lapsed.is_held:
                _end(journal, lapsed)
                ended.add(lapsed.name)
    except JournalUnavailable:
        pass
    return [each for each in leases if each.name not in ended]


def _end(journal: Journal, lapsed: KnownLease) -> None:
    while True:
        try:
            state = load_state(journal, lapsed.session)
            events = _left_open(state, lapsed) if lapsed.terms.question else _turn(journal, state, lapsed)
            return journal.end_lease(lapsed, stamped(events, PLANWIRE, state.at), state.seq)
        except DamagedJournal:  # a session that can't be read has no state to change
            return journal.end_lease(lapsed)
        except Conflict:
            continue


def _turn(journal: Journal, state: SessionState, lapsed: KnownLease) -> list[Event]:
    """The end of the turn that died with its holder."""
    is_over = _was_on(state, lapsed) and not _goes_on(journal.leases(), lapsed)
    return [TurnEnded(DISCONNECTED)] if is_over else []


def _left_open(state: SessionState, lapsed: KnownLease) -> list[Event]:
    """The end of the question that died with its holder: no answer can reach the agent any more. The agent itself goes
    on."""
    return [
        PlanReviewed(plan_id, record.revision, DISMISSED, question=record.asked.id)
        for plan_id, record in state.plans.items()
        if record.asked is not None and record.asked.id == lapsed.terms.question
    ]


def _was_on(state: SessionState, lapsed: KnownLease) -> bool:
    if lapsed.terms.is_working or any(record.asked for record in state.plans.values()):
        return bool(state.seq)
    return state.stopped is None and bool(state.plans)


def _goes_on(leases: list[KnownLease], lapsed: KnownLease) -> bool:
    """Whether another holder serves the session. A holder at rest does not continue a turn, or its question, that died
    with a relay. The tools of a relay's agent may outlive the relay for a moment, but keep only a turn of their own
    alive."""
    others = [each.terms for each in leases if each.is_held and each.session == lapsed.session]
    others = [each for each in others if not each.question]
    if lapsed.terms.holder != MCP:
        others = [each for each in others if each.holder != MCP]
    return any(each.is_working or not lapsed.terms.is_working for each in others)
