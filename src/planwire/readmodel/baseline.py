"""What a plan that a person is asked about was like before: their question is what has changed."""

from collections import OrderedDict
from typing import Final

from planwire.journal import Journal, state_at
from planwire.model.events import COMMENTED
from planwire.model.fold import PlanRecord, SessionState
from planwire.model.plan import PlanId

__all__ = ["Earlier", "seen_last"]

#: How many plans are remembered as they were.
REMEMBERED: Final = 200


class Earlier:
    """The plans as they were before, of those that were asked about last. It reads the journal, which may take long."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._known: OrderedDict[tuple[str, PlanId, int, int], PlanRecord | None] = OrderedDict()

    def of(self, session: SessionState) -> dict[PlanId, PlanRecord]:
        """The plans of a session that somebody is asked about, each as it was before. One that is new is not there."""
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
    """The event up to which a person knows a plan: the last one that was about the version before this one, or the
    revision of this one that got the last verdict; 0 if it is the first."""
    judged = [review.revision for review in record.reviews if review.verdict != COMMENTED]
    of_this = [revision for revision in judged if record.base <= revision < record.revision]
    if of_this:
        return of_this[-1]
    return record.base - 1 if record.supersedes is not None else 0
