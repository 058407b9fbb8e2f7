"""Folding events as their writers leave them: each is decided on the state before it, as every writer does."""

from collections.abc import Iterable

from msgspec.structs import replace

from planwire.journal import Journal, Stamped
from planwire.journal.view import load_state
from planwire.model import fold as folding
from planwire.model.decide import decided
from planwire.model.events import Recorded
from planwire.model.records import SessionState
from planwire.session.writer import append_latest

__all__ = ["fold", "fold_all", "write", "written"]


def fold(state: SessionState, recorded: Recorded) -> SessionState:
    """The state after an event that its writer decided on the state before."""
    return folding.fold(state, replace(recorded, event=decided(state, recorded.event, recorded.by)))


def fold_all(session: str, events: Iterable[Recorded], state: SessionState | None = None) -> SessionState:
    """The state after all the events, each decided on the state before it."""
    state = state or SessionState(session)
    for recorded in events:
        state = fold(state, recorded)
    return state


def written(events: Iterable[Recorded]) -> list[Recorded]:
    """The events of one session as a journal has them: each decided on the state before it."""
    state, found = SessionState(""), []
    for each in events:
        found.append(replace(each, event=decided(state, each.event, each.by)))
        state = folding.fold(state, found[-1])
    return found


def write(journal: Journal, session: str, *events: Stamped) -> tuple[Recorded, ...]:
    """Append events as a writer does: decided on the newest state."""
    return append_latest(journal, lambda: load_state(journal, session), lambda _: events)
