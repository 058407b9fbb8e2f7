"""The review of a proposal that a hook holds back, as events and answers: its question, its end, and what was said.

A question lives in the journal, and the hook only waits for its end. So everything that ends it is an event: a person's
decision and the agent's receipt of it, the end without an answer, or what the agent does in its terminal (`recording`).
"""

from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from planwire.chat.markup import element
from planwire.chat.render import remark_elements
from planwire.hooks.answers import Approve, SendBack
from planwire.hooks.happenings import Chance, HookCall, Proposed, TurnOver
from planwire.hooks.recording import TERMINAL, TERMINAL_OPTIONS, child_reader, has_text
from planwire.hooks.review_terms import ReviewTerms
from planwire.model.events import (
    APPROVED,
    CHANGES_REQUESTED,
    DISMISSED,
    HOOKS,
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

APPROVE: Final = "approve"
CHANGES: Final = "changes"
_CHANGES_NAME: Final = "Request changes"
_SENT_BACK: Final = "A person reviewed your plan and asks for changes. Revise it, then propose it again."


def proposal_in(heard: HookCall) -> Proposed | None:
    """The proposal that a hook is about."""
    return next((each for each in heard.what if isinstance(each, Proposed) and not each.draft), None)


def held_back(heard: HookCall) -> HookCall:
    """What a hook says while it holds a proposal back, if it has one. The proposal is a draft here, because the waiting
    hook asks about it itself. In some agents the hook is that of a turn's end: the turn is not over then, as it goes on
    if the plan goes back."""
    if heard.moment is not Chance.REVIEW or proposal_in(heard) is None:
        return heard
    what = (each for each in heard.what if not isinstance(each, TurnOver))
    return replace(
        heard, what=tuple(replace(each, draft=True) if isinstance(each, Proposed) else each for each in what)
    )


def asking(
    state: SessionState, heard: HookCall, title: str, plan: MarkdownPlan, terms: ReviewTerms, question: str
) -> Iterator[Event]:
    """The events of a question: what the journal lacks of the session and of the proposal, and the question itself."""
    if state.opened is None:
        yield SessionOpened(title, TERMINAL, heard.folder)
    if not has_text(state.plans.get(plan.id), plan.content):
        yield PlanSet(plan, via=HOOKS, reader=child_reader(heard))
    options = (Choice(APPROVE, terms.approve, "allow_once"), Choice(CHANGES, _CHANGES_NAME, "reject_once"))
    yield ReviewAsked(plan.id, options, question, terms.takes_edit)


def is_asked(state: SessionState, plan_id: PlanId, question: str) -> bool:
    """Whether a question is still open: neither is it over, nor is there a newer one about its plan."""
    record = state.plans.get(plan_id)
    return record is not None and not record.removed and record.asked is not None and record.asked.id == question


def unanswered(state: SessionState, plan_id: PlanId, question: str, *, in_terminal: bool) -> tuple[Event, ...]:
    """The end of a question that can't be answered any more. It has no verdict, so that it is not taken for one. If the
    agent still asks `in_terminal`, a question that only the terminal can answer follows."""
    if not is_asked(state, plan_id, question):
        return ()
    end = PlanReviewed(plan_id, state.plans[plan_id].revision, DISMISSED, question=question)
    return (end, ReviewAsked(plan_id, TERMINAL_OPTIONS, f"terminal-{question}")) if in_terminal else (end,)


def refused(state: SessionState, plan_id: PlanId, question: str) -> tuple[Event, ...]:
    """The end of a question that a person answered with a no in the agent's own dialog. It has no verdict: the words of
    that answer stay in the terminal, and the agent still works on the plan."""
    return unanswered(state, plan_id, question, in_terminal=False)


def answer_to(record: PlanRecord, proposed: str, terms: ReviewTerms) -> Approve | SendBack | None:
    """A person's decision as an answer for the agent; None as long as there is none. `proposed` is the text that the
    agent has: an approval of an edited text brings that along."""
    decision = record.decision
    if decision is None:
        return None
    if decision.verdict == APPROVED:
        text = text_of(record.state.plan)
        return Approve(text if terms.takes_edit and text.strip() != proposed.strip() else None)
    return SendBack(_words(record, decision)) if decision.verdict == CHANGES_REQUESTED else None


def told(state: SessionState, plan_id: PlanId, question: str, answer: Approve | SendBack) -> Iterator[Told]:
    """What the agent knows once it has the answer to a question: the decision, and the words that came with it. Nothing
    already told is repeated."""
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
    """All remarks that belong to a review, each with its author. The agent's own text has no step ids, so words on a
    step quote it."""
    items = [_quoted(record, each) for each in _remarks_with(record, decision)]
    return "\n".join([element("notice", _SENT_BACK, by="planwire"), *remark_elements(items)])


def _quoted(record: PlanRecord, remark: Remark) -> Fields:
    step = next((each for each in record.state.steps if each.id == remark.step), None)
    item = remark_item(remark, record)
    return {**item, "quote": step.content} if step and not item.get("quote") else item
