"""One session's questions about plans: which are open, and which plan an answer is about.

An agent may ask before it has sent the plan: claude-agent-acp asks for permission to leave plan mode, and the plan
message follows. Then the question waits for its plan, and so may the answer.
"""

from collections.abc import Iterable
from typing import Any

from planwire.acp.heard_plans import MAX_PLANS
from planwire.model.events import PlanReviewed, ReviewAsked
from planwire.model.plan import PlanId
from planwire.relay.questions import Question


class OpenQuestions:
    """The questions that wait for a person, and the answers that wait for their plan."""

    def __init__(self) -> None:
        self._asked: dict[PlanId, ReviewAsked] = {}  # by the plan that is asked about
        self._awaited: set[PlanId] = set()  # plans to come after the question about them
        self._answered: dict[PlanId, tuple[ReviewAsked, PlanReviewed]] = {}  # about plans that are to come in this turn
        self._judged: set[PlanId] = set()  # plans of this turn that a person has judged as they are

    def begin_turn(self) -> None:
        self._judged.clear()
        self._answered.clear()

    def end_turn(self) -> None:
        self._asked.clear()

    def unasked(self, plans: Iterable[PlanId]) -> set[PlanId]:
        """The plans without those that a person has judged as they are now."""
        return set(plans) - self._judged

    def ask(self, question: Question) -> bool:
        """Open a question. False if there are too many."""
        if question.is_ahead and len(self._awaited) < MAX_PLANS:
            self._awaited.add(question.plan_id)
        self._asked.pop(question.plan_id, None)
        if len(self._asked) >= MAX_PLANS:
            return False
        self._asked[question.plan_id] = question.asked()
        return True

    @property
    def is_any_open(self) -> bool:
        """Whether the agent waits for an answer, in this turn or between two."""
        return bool(self._asked)

    def close(self, question: Question) -> None:
        """A person answered a question elsewhere, about a plan that they saw."""
        self._drop(question)
        self._awaited.discard(question.plan_id)
        self._judged.add(question.plan_id)

    def answer(self, question: Question, result: Any) -> PlanReviewed | None:
        """Close a question. None while the verdict has to wait for the plan that it is about."""
        plan_id, review = question.plan_id, question.answered(result)
        self._drop(question)
        if question.is_ahead and plan_id in self._awaited:
            self._awaited.discard(plan_id)
            self._answered[plan_id] = (question.asked(), review)
            return None
        self._judged.add(plan_id)
        return review

    def _drop(self, question: Question) -> None:
        """Forget a question. The agent may ask a newer one about the same plan by now."""
        asked = self._asked.get(question.plan_id)
        if asked is not None and asked.question == question.id:
            del self._asked[question.plan_id]

    def wait_for(self, plan_id: PlanId) -> bool:
        """Whether an update of this plan matters to a question or its answer."""
        return any(plan_id in known for known in (self._asked, self._awaited, self._answered, self._judged))

    def plan_came(self, plan_id: PlanId, *, is_news: bool) -> list[ReviewAsked | PlanReviewed]:
        """The agent sent a plan. Returns what was asked and answered about it before, and the question still open.

        A quick client may answer before the plan is here: the question is recorded all the same.
        """
        if is_news:
            self._judged.discard(plan_id)
        self._awaited.discard(plan_id)
        events: list[ReviewAsked | PlanReviewed] = []
        if plan_id in self._answered:
            self._judged.add(plan_id)
            events += self._answered.pop(plan_id)
        if plan_id in self._asked:
            events.append(self._asked[plan_id])
        return events
