"""The review of a proposal that a hook holds back, as events and answers: what it asks, what ends it, what was said.

A question lives in the journal, and the hook only waits beside it. So everything that ends it is an event: a person's
decision and that the agent has it, the decision that the agent got in its own terminal, or that nobody will answer.
"""

from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from planwire.chat.markup import element
from planwire.chat.render import remark_elements
from planwire.hooks.answers import Approve, SendBack
from planwire.hooks.happenings import Decided, Heard, Proposed
from planwire.hooks.review_terms import ReviewTerms
from planwire.model.events import (
    ACP,
    APPROVED,
    CHANGES_REQUESTED,
    DISMISSED,
    Choice,
    Event,
    PlanReviewed,
    PlanSet,
    ReviewAsked,
    SessionOpened,
    Told,
)
from planwire.model.kinds import text_of
from planwire.model.plan import Fields, MarkdownPlan, PlanId
from planwire.model.readers import LEAD, heard_by
from planwire.model.records import ANSWER, TOOL, PlanRecord, Remark, Review, SessionState
from planwire.model.unheard import remark_item

__all__ = ["answer_to", "asking", "decided", "dismissed", "is_asked", "proposal_in", "reviewed_id", "told"]

APPROVE: Final = "approve"
CHANGES: Final = "changes"
_CHANGES_NAME: Final = "Request changes"
_SENT_BACK: Final = "A person reviewed your plan and asks for changes. Revise it, then propose it again."


def proposal_in(heard: Heard) -> Proposed | None:
    """The proposal that a hook is about."""
    return next((each for each in heard.what if isinstance(each, Proposed) and not each.draft), None)


def reviewed_id(heard: Heard, proposed: Proposed) -> str:
    """The plan that a proposal is. A sub-agent's is not the one of the agent that leads."""
    return f"{proposed.plan_id}@{heard.child.id}" if heard.child else proposed.plan_id


def asking(
    state: SessionState, heard: Heard, title: str, plan: MarkdownPlan, terms: ReviewTerms, question: str
) -> Iterator[Event]:
    """The events of a question: what the journal lacks of the session and of the proposal, and the question itself."""
    if state.opened is None:
        yield SessionOpened(title, title, heard.folder)
    if not _is_plan(state.plans.get(plan.id), plan.content):
        yield PlanSet(plan, via=ACP)
    options = (Choice(APPROVE, terms.approve, "allow_once"), Choice(CHANGES, _CHANGES_NAME, "reject_once"))
    yield ReviewAsked(plan.id, options, question, terms.takes_edit)


def is_asked(state: SessionState, plan_id: PlanId, question: str) -> bool:
    """Whether a question is still open: neither is it over, nor is there a newer one about its plan."""
    record = state.plans.get(plan_id)
    return record is not None and not record.removed and record.asked is not None and record.asked.id == question


def dismissed(state: SessionState) -> tuple[PlanReviewed, ...]:
    """The ends of all questions of hooks that nobody will answer any more: the agent went on, or is gone. Without a
    verdict, so that nobody takes it for one."""
    return tuple(
        PlanReviewed(plan_id, record.revision, DISMISSED, question=record.asked.id)
        for plan_id, record in state.plans.items()
        if record.asked is not None and _is_of_hook(record)
    )


def decided(state: SessionState, plan_id: PlanId, what: Decided) -> Iterator[Event]:
    """The decision that the agent goes on with, which ends the question that a hook asks about it. The text comes first
    where a person edited it in the terminal.

    It may be a person's decision from elsewhere, which the hook has handed over and not recorded yet, or has recorded:
    then it is the agent's receipt, or no news.
    """
    record = state.plans.get(plan_id)
    verdict, option = (APPROVED, APPROVE) if what.approved else (CHANGES_REQUESTED, CHANGES)
    is_edited = what.approved and bool(what.text.strip()) and not _is_plan(record, what.text)
    decision = record.decision if record and not is_edited else None
    if decision is not None and decision.verdict == verdict:
        yield Told(ANSWER, 0, request=decision.question)
        return
    if is_edited:
        yield PlanSet(MarkdownPlan(plan_id, what.text), via=ACP)
    elif record is None or (record.asked is None and _is_known(record, verdict)):
        return
    asked = record.asked if record is not None and _is_of_hook(record) else None
    choice = next((each for each in asked.options if each.id == option), None) if asked else None
    review = PlanReviewed(plan_id, state.seq + 1 if is_edited else record.revision if record else 0, verdict)
    if asked and choice:
        review = replace(review, question=asked.id, answer=choice.name, option=choice.id, kind=choice.kind)
    yield review


def answer_to(record: PlanRecord, proposed: str, terms: ReviewTerms) -> Approve | SendBack | None:
    """The answer that a person's decision is for the agent; None as long as there is none. `proposed` is the text that
    the agent has: an approval of another one brings it along."""
    decision = record.decision
    if decision is None:
        return None
    if decision.verdict == APPROVED:
        text = text_of(record.state.plan)
        return Approve(text if terms.takes_edit and text.strip() != proposed.strip() else None)
    return SendBack(_words(record, decision)) if decision.verdict == CHANGES_REQUESTED else None


def told(state: SessionState, plan_id: PlanId, question: str, answer: Approve | SendBack) -> Iterator[Told]:
    """What the agent knows once it has the answer to a question: the decision, and the words that went along with it.
    Nothing of it is said twice."""
    record = state.plans.get(plan_id)
    given = (each for each in reversed(record.reviews if record else ()) if each.question == question)
    decision = next((each for each in given if not each.is_late), None)
    if record is None or decision is None:
        return
    if decision.is_on_its_way:
        yield Told(ANSWER, 0, request=question)
    ids = tuple(each.id for each in _remarks_with(record, decision) if each.told is None)
    if ids and isinstance(answer, SendBack):
        yield Told(TOOL, heard_by(state, LEAD).told, remarks=ids, request=question)


def _remarks_with(record: PlanRecord, decision: Review) -> list[Remark]:
    return [each for each in record.remarks if each.review == decision.seq and each.closed is None]


def _words(record: PlanRecord, decision: Review) -> str:
    """All remarks that belong to a review, each with its author. The agent's own text has no ids of steps, so the words
    on a step quote it."""
    items = [_quoted(record, each) for each in _remarks_with(record, decision)]
    return "\n".join([element("notice", _SENT_BACK, by="planwire"), *remark_elements(items)])


def _quoted(record: PlanRecord, remark: Remark) -> Fields:
    step = next((each for each in record.state.steps if each.id == remark.step), None)
    item = remark_item(remark)
    return {**item, "quote": step.content} if step and not remark.quote else item


def _is_plan(record: PlanRecord | None, text: str) -> bool:
    if record is None or record.removed or not isinstance(record.state.plan, MarkdownPlan):
        return False
    return record.state.plan.content.strip() == text.strip()


def _is_known(record: PlanRecord, verdict: str) -> bool:
    last = record.review
    return last is not None and not last.is_stale and last.is_known and last.verdict == verdict


def _is_of_hook(record: PlanRecord) -> bool:
    """Whether a hook asks: its options are these."""
    return record.asked is not None and {APPROVE, CHANGES} == {each.id for each in record.asked.options}
