"""Folding events as their writers leave them: each is decided on the state before it, as every writer does."""

from collections.abc import Iterable

from msgspec.structs import replace

from planwire.journal import Journal, Stamped
from planwire.journal.view import load_state
from planwire.model import fold as folding
from planwire.model.decide import decided, undecided
from planwire.model.events import Event, Recorded
from planwire.model.records import SessionState

__all__ = ["fold", "fold_all", "made", "write", "written"]


def fold(state: SessionState, recorded: Recorded) -> SessionState:
    """The state after an event that its writer decided on the state before."""
    return folding.fold(state, replace(recorded, event=decided(state, recorded.event, recorded.by)))


def fold_all(session: str, events: Iterable[Recorded], state: SessionState | None = None) -> SessionState:
    """The state after all the events, each decided on the state before it."""
    state = state or SessionState(session)
    for recorded in events:
        state = fold(state, recorded)
    return state


def written(events: Iterable[Recorded], state: SessionState | None = None) -> list[Recorded]:
    """The events of one session as a journal has them: each decided on the state before it."""
    state, found = state or SessionState(""), []
    for each in events:
        found.append(replace(each, event=decided(state, each.event, each.by)))
        state = folding.fold(state, found[-1])
    return found


def made(journal: Journal, session: str) -> list[Event]:
    """The events of a session as their authors made them, before a writer decided anything."""
    return [undecided(each.event) for each in journal.read(session)]


def write(journal: Journal, session: str, *events: Stamped) -> tuple[Recorded, ...]:
    """Append events as a writer does, decided on the newest state, but at any time."""
    state = load_state(journal, session)
    new = (Recorded(session, state.seq + n, each.at, each.by, each.event) for n, each in enumerate(events, 1))
    return journal.append(session, [Stamped(each.at, each.by, each.event) for each in written(new, state)])
