"""Verdicts on plans: which one counts when a question of the agent's can be answered in two places.

A client's answer goes straight to the agent, and the journal hears of it then. A person who answers elsewhere writes
to the journal first, and the agent gets the answer a moment later, unless the client was faster. So such a decision
counts only once the agent has it; until then the question stays open. A decision that comes too late is kept and marked
as late. If the question is dismissed, or ends with its turn, it has no answer: the decision is then a verdict like any
other, and the agent hears it with its next prompt.
"""

from typing import Final

from msgspec.structs import replace

from planwire.model.events import APPROVED, CHANGES_REQUESTED, DISMISSED, PlanReviewed, Recorded
from planwire.model.lineage import with_verdict
from planwire.model.plan import PlanId
from planwire.model.records import PlanRecord, Review, SessionState, Telling

__all__ = ["reviewed", "settled", "unasked", "with_answer"]

#: How many verdicts on a plan the state holds, the newest first. The journal has them all.
MOST_REVIEWS: Final = 32


def reviewed(state: SessionState, record: PlanRecord, recorded: Recorded, event: PlanReviewed) -> PlanRecord:
    """A plan after a verdict on it."""
    review = Review(
        recorded.seq,
        recorded.at,
        recorded.author,
        event.revision,
        event.verdict,
        event.answer,
        is_known=not event.via,
        question=event.question,
        option=event.option,
        kind=event.kind,
    )
    decision, asked, before = record.decision, record.asked, record.review
    is_client = not (event.via or event.late)
    if decision is not None and is_client and event.verdict == DISMISSED and event.question in ("", decision.question):
        return unasked(state, record, recorded)
    is_second = decision is not None and bool(event.via) and event.question == decision.question
    review = replace(review, is_late=event.late or is_second)
    record = replace(record, reviews=(*record.reviews, review)[-MOST_REVIEWS:])
    if review.is_late:
        return _disputed(record, before, review)
    if asked is not None and asked.id and event.question == asked.id and event.via:
        return record
    if asked is not None and asked.id and (event.via or event.question not in ("", asked.id)):
        return replace(with_verdict(state, record, event.verdict, recorded), asked=asked)
    record = with_verdict(state, replace(record, asked=None, disputed=0), event.verdict, recorded)
    if decision is None:
        return record
    return _disputed(_put(record, replace(decision, is_late=True)), review, decision)


def with_answer(state: SessionState, record: PlanRecord, recorded: Recorded, telling: Telling) -> PlanRecord:
    """A plan after the agent got the answer that was on its way. The agent has it even if the plan changed meanwhile,
    or the turn ended."""
    given = (each for each in reversed(record.reviews) if each.question == telling.request and each.is_on_its_way)
    decision = next(given, None) if telling.request else None
    if decision is None:
        return record
    record = _put(record, replace(decision, told=telling, is_known=True))
    if record.asked is None or record.asked.id != telling.request:
        return record
    disputed = record.disputed if record.disputed > decision.seq else 0
    return with_verdict(state, replace(record, asked=None, disputed=disputed), decision.verdict, recorded)


def unasked(state: SessionState, record: PlanRecord, recorded: Recorded) -> PlanRecord:
    """A plan whose question is over. An answer that never reached the agent is a verdict like any other."""
    if record.asked is None:
        return record
    decision, record = record.decision, replace(record, asked=None)
    return with_verdict(state, record, decision.verdict, recorded) if decision else record


def settled(plans: dict[PlanId, PlanRecord]) -> dict[PlanId, PlanRecord]:
    """Plans after a person told the agent what to do, or to stop: no verdict is in dispute any more."""
    return {plan_id: replace(each, disputed=0) if each.disputed else each for plan_id, each in plans.items()}


def _disputed(record: PlanRecord, told: Review | None, late: Review) -> PlanRecord:
    """A plan after a verdict that came too late. A rejection after an approval is disputed: the agent goes on with what
    the person rejected."""
    contradicts = told is not None and told.verdict == APPROVED and late.verdict == CHANGES_REQUESTED
    return replace(record, disputed=late.seq) if contradicts else record


def _put(record: PlanRecord, review: Review) -> PlanRecord:
    return replace(record, reviews=tuple(review if each.seq == review.seq else each for each in record.reviews))
