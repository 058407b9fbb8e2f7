"""Old notes, which are in the journal but no longer in the state. Reading them means reading the whole session, so only
models that ask for them get them."""

from planwire.journal import Journal
from planwire.model.fold import fold
from planwire.model.plan import PlanId
from planwire.model.records import PlanNote, SessionState


def notes_of(journal: Journal, session: str, plan_id: PlanId) -> list[PlanNote]:
    """All notes that a plan ever got, the oldest first."""
    state, notes = SessionState(session), list[PlanNote]()
    for recorded in journal.read(session):
        state = fold(state, recorded)
        record = state.plans.get(plan_id)
        if record is not None and record.noted > len(notes):
            notes += record.notes[len(notes) - record.noted :]
    return notes
