"""Writing to a session that others write to as well: prepare on the newest state, append, and if another writer was
faster, prepare again.

A decision holds for the state that it was made on. So `append_latest` never sends an event that was prepared for an
older state: the journal refuses it, and `prepare` decides anew, which may mean not to write at all. Preparing must
have no effects of its own, since it may happen several times.
"""

from collections.abc import Callable, Iterable, Sequence
from time import time_ns
from typing import TypeVar

from planwire.errors import Conflict, StaleRevision
from planwire.journal import Journal, Stamped, catch_up, load_state
from planwire.journal.view import Folded
from planwire.model.events import Event, Recorded
from planwire.model.fold import SessionState
from planwire.model.plan import PlanId
from planwire.steering.commands import USER

__all__ = ["append_latest", "append_new", "stamped", "steer"]

_S = TypeVar("_S", bound=Folded)


def append_latest(
    journal: Journal, latest: Callable[[], _S], prepare: Callable[[_S], Sequence[Stamped]]
) -> tuple[Recorded, ...]:
    """Append what `prepare` makes of the newest state, which `latest` gives. Returns the events as they were written:
    none if `prepare` made none."""
    while True:
        state = latest()
        events = prepare(state)
        if not events:
            return ()
        try:
            return journal.append(state.id, events, state.seq)
        except Conflict:
            continue


def append_new(journal: Journal, session: str, events: Sequence[Stamped]) -> tuple[Recorded, ...]:
    """Append the first events of a session. One that has events already stays as it is: `Conflict`."""
    return journal.append(session, events, 0)


def stamped(events: Iterable[Event], by: str) -> list[Stamped]:
    """Events that happen now."""
    now = time_ns() // 1_000_000
    return [Stamped(now, by, event) for event in events]


def steer(
    journal: Journal,
    session: SessionState | str,
    plan_id: PlanId,
    prepare: Callable[[SessionState], Event],
    by: str = USER,
) -> SessionState:
    """Append what `prepare` (one of `steering.commands`) makes of the newest state; return the state after it.

    The act holds for the revision that the person saw. If the plan moved on since, nothing is written, and `MovedOn`
    has what it takes to decide again.
    """
    state = load_state(journal, session) if isinstance(session, str) else session

    def latest() -> SessionState:
        nonlocal state
        state = catch_up(journal, state)
        return state

    def prepared(now: SessionState) -> list[Stamped]:
        try:
            return stamped([prepare(now)], by)
        except StaleRevision as stale:
            from planwire.session.moved_on import moved_on  # noqa: PLC0415  (7 ms that a relay need not pay)

            raise moved_on(journal, now, plan_id, stale.expected) from None

    append_latest(journal, latest, prepared)
    return latest()
