"""The plan before the one that a person has to judge: their question is what has changed."""

from collections import OrderedDict
from typing import Final

from planwire.journal import Journal, state_at
from planwire.model.events import COMMENTED
from planwire.model.fold import PlanRecord, SessionState
from planwire.model.plan import PlanId

__all__ = ["Earlier", "seen_last"]

#: Earlier plans to remember.
REMEMBERED: Final = 200


class Earlier:
    """The plans before those that wait for a verdict, the latest of them. Reading the journal for one may take long."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._known: OrderedDict[tuple[str, PlanId, int, int], PlanRecord | None] = OrderedDict()

    def of(self, session: SessionState) -> dict[PlanId, PlanRecord]:
        """For each plan of a session that waits for a verdict, the plan before it. A new plan has none."""
        found = {
            plan_id: self._before(session.id, plan_id, record)
            for plan_id, record in session.live().items()
            if record.asked
        }
        return {plan_id: before for plan_id, before in found.items() if before}

    def _before(self, session: str, plan_id: PlanId, record: PlanRecord) -> PlanRecord | None:
        seq = seen_last(record)
        key = (session, plan_id, seq, record.created_at)
        if key not in self._known:
            self._known[key] = state_at(self._journal, session, seq).live().get(plan_id) if seq else None
            if len(self._known) > REMEMBERED:
                self._known.popitem(last=False)
        return self._known[key]


def seen_last(record: PlanRecord) -> int:
    """The event up to which a person knows a plan: the revision of this version that got the last verdict, or else the
    last event of the version before; 0 if there is neither."""
    judged = [review.revision for review in record.reviews if review.verdict != COMMENTED]
    of_this = [revision for revision in judged if record.base <= revision < record.revision]
    if of_this:
        return of_this[-1]
    return record.base - 1 if record.supersedes is not None else 0
