"""Questions about plans, and verdicts, that are on their way to the journal.

A journal may be seconds behind: another writer has it locked, or its disk is busy. An agent that is told its plans
meanwhile must not hear of a proposal that was rejected, nor of one approved turns ago as if it were new.
"""

from msgspec import Struct
from msgspec.structs import replace

from planwire.model.additions import addition
from planwire.model.events import PlanReviewed, Recorded, ReviewAsked
from planwire.model.fold import fold
from planwire.model.plan import PlanId
from planwire.model.records import SessionState
from planwire.relay.actions import SessionMemory


class _Unrecorded(Struct, frozen=True):
    """A question or a verdict, its author, and how many turns had ended on this connection."""

    event: ReviewAsked | PlanReviewed
    by: str
    worked: int


class UnrecordedReviews:
    """One session's questions and verdicts on this connection that the journal does not have yet."""

    def __init__(self) -> None:
        self._waiting: dict[PlanId, list[_Unrecorded]] = {}

    def add(self, event: ReviewAsked | PlanReviewed, by: str, worked: int) -> None:
        """Add a question or a verdict that came after `worked` turns of this connection."""
        self._waiting.setdefault(event.plan_id, []).append(_Unrecorded(event, by, worked))

    def forget(self, plan_id: PlanId) -> None:
        """The agent sent another plan under this id, or none: what was said of the one before is history."""
        self._waiting.pop(plan_id, None)

    def learn(self, memory: SessionMemory, *, is_anew: bool) -> None:
        """Let go of what the journal has; of everything, if it was told to forget the session."""
        waiting = {} if is_anew else self._waiting
        left = {
            plan_id: [each for each in reviews if not memory.has_review(each.event)]
            for plan_id, reviews in waiting.items()
        }
        self._waiting = {plan_id: reviews for plan_id, reviews in left.items() if reviews}

    def fold_onto(self, state: SessionState, plan_id: PlanId, worked: int) -> SessionState:
        """The state with a plan's unrecorded reviews, each in the turn that it belongs to; `worked` turns have ended by
        now."""
        for review in self._waiting.get(plan_id, ()):
            then = replace(state, turns=state.turns - (worked - review.worked))
            event = addition(then, review.event)
            if event is not None:
                after = fold(then, Recorded(state.id, state.seq + 1, state.at, review.by, event))
                state = replace(after, turns=state.turns)
        return state
