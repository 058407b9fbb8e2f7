"""What a person does to a plan, written after whatever others did meanwhile, or not at all.

It is tied to the revision that the person saw. If the plan moved on since, nothing is written, and `MovedOn` has what
is needed to decide again: the plan as it was seen, the plan as it is, and what happened in between.
"""

from collections.abc import Callable
from time import time_ns

from planwire.errors import Conflict, PlanError, StaleRevision
from planwire.journal import Journal, Stamped, catch_up, load_state, state_at
from planwire.model.events import Event
from planwire.model.fold import PlanRecord, SessionState
from planwire.model.plan import PlanId
from planwire.readmodel.history import HistoryEntry, history, plan_name
from planwire.steering.commands import USER

__all__ = ["USER", "MovedOn", "steer"]


class MovedOn(PlanError):
    """A plan is not any more what a person saw when they decided. Nothing was written.

    `before` and `now` are None where there was no such plan; `moments` is what happened to it since.
    """

    def __init__(
        self,
        plan_id: PlanId,
        seen: int,
        before: PlanRecord | None,
        now: PlanRecord | None,
        moments: tuple[HistoryEntry, ...],
    ) -> None:
        self.plan_id = plan_id
        self.seen = seen
        self.before = before
        self.now = now
        self.moments = moments
        self.revision = now.revision if now else 0
        name = plan_name(plan_id)
        super().__init__(f"the plan {name!r} is at revision {self.revision}, and you saw {seen}. Nothing was written")


def steer(
    journal: Journal,
    session: SessionState | str,
    plan_id: PlanId,
    prepare: Callable[[SessionState], Event],
    by: str = USER,
) -> SessionState:
    """Append what `prepare` (one of `steering.commands`) makes of the newest state; return the state after it."""
    state = load_state(journal, session) if isinstance(session, str) else session
    while True:
        state = catch_up(journal, state)
        try:
            event = prepare(state)
        except StaleRevision as stale:
            raise moved_on(journal, state, plan_id, stale.expected) from None
        try:
            journal.append(state.id, [Stamped(time_ns() // 1_000_000, by, event)], state.seq)
        except Conflict:
            continue
        return catch_up(journal, state)


def moved_on(journal: Journal, state: SessionState, plan_id: PlanId, seen: int) -> MovedOn:
    """What became of a plan since a revision."""
    then = state_at(journal, state.id, min(seen, state.seq))
    name = plan_name(plan_id)
    moments = tuple(
        moment
        for moment, _, _ in history(journal.read(state.id, then.seq, state.seq), then)
        if moment.plan == name and moment.words
    )
    return MovedOn(plan_id, seen, then.live().get(plan_id), state.live().get(plan_id), moments)
