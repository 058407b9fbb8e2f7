"""Reviews that an agent knows: `get_plan(wait="review")` waits for one that it does not.

A review counts however late the agent asks: a person may be faster than the model, or say something while it works on.
Waiting is an event of its own, so that people see on every face that the agent needs them.
"""

from planwire.model.events import ReviewAsked
from planwire.model.fold import AGENT, PlanRecord, Review, SessionState
from planwire.model.plan import PlanId

__all__ = ["DeliveredReviews", "asking", "unanswered"]


class DeliveredReviews:
    """The reviews that one agent knows, by the numbers of their events.

    A process that takes over a session can't know what the one before it told the agent. It assumes that the agent
    knows a review that it has answered with a change of the plan.
    """

    def __init__(self, state: SessionState) -> None:
        self._last = {
            plan_id: record.review.seq
            for plan_id, record in state.plans.items()
            if record.review and record.review.seq < _last_word_of_agent(record)
        }

    def lacks(self, state: SessionState, plan_id: PlanId, since: int) -> bool:
        """Whether the plan has a review that the agent does not know, or one after the event `since`: several calls
        may wait for the same review."""
        record = state.plans.get(plan_id)
        last = self._last.get(plan_id, 0)
        known = last if last <= state.seq else 0  # a person forgot the session, and it began anew
        return bool(record and record.review and record.review.seq > min(known, since))

    def tell(self, state: SessionState, *plan_ids: PlanId) -> None:
        """Note that the agent now knows these plans, or all of them if none is named, as they are in this state."""
        for plan_id in plan_ids or state.plans:
            record = state.plans.get(plan_id)
            if record and record.review:
                self._last[plan_id] = record.review.seq


def asking(state: SessionState, plan_id: PlanId) -> tuple[ReviewAsked, ...]:
    """The event that says that an agent waits for a review; none if the journal says so already."""
    return () if state.plans[plan_id].asked else (ReviewAsked(plan_id),)


def unanswered(record: PlanRecord) -> tuple[Review, ...]:
    """The reviews that the agent has not answered with a change of the plan."""
    last = _last_word_of_agent(record)
    return tuple(review for review in record.reviews if review.seq > last)


def _last_word_of_agent(record: PlanRecord) -> int:
    return max(record.base, *(delta.seq for delta in record.deltas if delta.by == AGENT), 0)
