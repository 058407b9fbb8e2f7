"""The past of a session, as its journal has it and its state no longer does. Reading it costs its length, so it is
for what is asked rarely."""

from planwire.journal import Journal
from planwire.model.fold import fold, fold_all
from planwire.model.plan import PlanId
from planwire.model.records import Note, SessionState

__all__ = ["notes_of", "state_at"]


def state_at(journal: Journal, session: str, seq: int) -> SessionState:
    """The session after its event with that number."""
    return fold_all(session, journal.read(session, upto=seq))


def notes_of(journal: Journal, session: str, plan_id: PlanId) -> list[Note]:
    """All notes that a plan ever got, the oldest first."""
    state, notes = SessionState(session), list[Note]()
    for recorded in journal.read(session):
        state = fold(state, recorded)
        record = state.plans.get(plan_id)
        if record is not None and record.noted > len(notes):
            notes += record.notes[len(notes) - record.noted :]
    return notes
