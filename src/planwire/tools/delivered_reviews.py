"""Which reviews an agent has been told of. What it waits for with `get_plan(wait="review")` is one that it has not, and
that it waits is written down for those who can give it one.

A review counts however late it is asked for: a person may be faster than the model, or say something while it works on.
"""

from planwire.model.events import ReviewAsked
from planwire.model.fold import AGENT, PlanRecord, Review, SessionState
from planwire.model.plan import PlanId

__all__ = ["Told", "asking", "unanswered"]


class Told:
    """The reviews that one agent knows, by the numbers of their events.

    A process that takes over a session does not know what the one before it told. There, a review that the agent has
    answered with a change of the plan is taken to be known.
    """

    def __init__(self, state: SessionState) -> None:
        self._last = {
            plan_id: record.review.seq
            for plan_id, record in state.plans.items()
            if record.review and record.review.seq < _last_word_of_agent(record)
        }

    def lacks(self, state: SessionState, plan_id: PlanId, since: int) -> bool:
        """Whether there is a review of the plan that the agent has not been told of, or that came after the event
        `since`: several calls may wait for the same one."""
        record = state.plans.get(plan_id)
        last = self._last.get(plan_id, 0)
        known = last if last <= state.seq else 0  # the session was forgotten, and began anew
        return bool(record and record.review and record.review.seq > min(known, since))

    def tell(self, state: SessionState, *plan_ids: PlanId) -> None:
        """The agent was told of these plans, or of all if none is named, as they are in this state."""
        for plan_id in plan_ids or state.plans:
            record = state.plans.get(plan_id)
            if record and record.review:
                self._last[plan_id] = record.review.seq


def asking(state: SessionState, plan_id: PlanId) -> tuple[ReviewAsked, ...]:
    """What says that an agent waits for a review of a plan: nothing, if it is known."""
    return () if state.plans[plan_id].asked else (ReviewAsked(plan_id),)


def unanswered(record: PlanRecord) -> tuple[Review, ...]:
    """The reviews that the agent has not answered with a change of the plan."""
    return tuple(review for review in record.reviews if review.seq > _last_word_of_agent(record))


def _last_word_of_agent(record: PlanRecord) -> int:
    return max(record.base, *(delta.seq for delta in record.deltas if delta.by == AGENT), 0)
