"""Plan files that changed, recorded by whoever notices it first."""

from planwire.journal import Journal, catch_up
from planwire.model.events import FileSeen
from planwire.model.file_texts import ReadFile, seen_files
from planwire.model.records import FILE, SessionState
from planwire.session.origin import is_ours
from planwire.session.writer import append_latest, stamped


def record_files(journal: Journal, state: SessionState, read: ReadFile) -> SessionState:
    """The session with the texts of its plan files as they are now, which are recorded where they changed. A session of
    another machine or account has its files there. What somebody else recorded meanwhile stays: they looked later."""
    known = {plan_id: record.file for plan_id, record in state.plans.items()}

    def changed(now: SessionState) -> list[FileSeen]:
        return [each for each in seen_files(now, read) if now.plans[each.plan_id].file == known.get(each.plan_id)]

    if not seen_files(state, read) or (state.opened is not None and not is_ours(state.opened)):
        return state

    def latest() -> SessionState:
        nonlocal state
        state = catch_up(journal, state)
        return state

    append_latest(journal, latest, lambda now: stamped(changed(now), FILE))
    return latest()
