"""The refusal of an act that was meant for another state of a plan, with all that a person needs to decide again."""

from planwire.errors import PlanError
from planwire.journal import Journal, state_at
from planwire.model.fold import PlanRecord, SessionState
from planwire.model.plan import PlanId
from planwire.readmodel.history import HistoryEntry, history, plan_name

__all__ = ["MovedOn", "moved_on"]


class MovedOn(PlanError):
    """A plan is no longer the one that a person saw when they decided. Nothing was written.

    `before` and `now` are None where there was no such plan; `moments` tell what happened to it since.
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


def moved_on(journal: Journal, state: SessionState, plan_id: PlanId, seen: int) -> MovedOn:
    """Tell what became of a plan since a revision."""
    then = state_at(journal, state.id, min(seen, state.seq))
    name = plan_name(plan_id)
    moments = tuple(
        moment
        for moment, _, _ in history(journal.read(state.id, then.seq, state.seq), then)
        if moment.plan == name and moment.words
    )
    return MovedOn(plan_id, seen, then.live().get(plan_id), state.live().get(plan_id), moments)
