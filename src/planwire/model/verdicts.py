"""Verdicts on plans: which one counts, when the agent can give its answer to a question from two places.

A client's answer goes straight to the agent, and the journal hears of it then. A person who answers elsewhere writes
to the journal first, and the agent gets it a moment later, unless the client was faster. So such a decision counts once
the agent has it; until then the question stays open. What comes too late is kept, and marked as that.
"""

from typing import Final

from msgspec.structs import replace

from planwire.model.events import APPROVED, CHANGES_REQUESTED, PlanReviewed, Recorded
from planwire.model.lineage import with_verdict
from planwire.model.records import PlanRecord, Review, SessionState, Telling

__all__ = ["reviewed", "unasked", "with_answer"]

#: Verdicts on a plan that the state holds, the newest ones. The journal has them all.
MOST_REVIEWS: Final = 32


def reviewed(state: SessionState, record: PlanRecord, recorded: Recorded, event: PlanReviewed) -> PlanRecord:
    """A plan after a verdict on it."""
    review = Review(
        recorded.seq,
        recorded.at,
        recorded.by,
        event.revision,
        event.verdict,
        event.answer,
        is_known=not event.via,
        question=event.question,
        option=event.option,
        kind=event.kind,
        is_late=event.late,
    )
    decision, asked, before = record.decision, record.asked, record.review
    record = replace(record, reviews=(*record.reviews, review)[-MOST_REVIEWS:])
    if event.late:
        return _disputed(record, before, review)
    if asked is not None and asked.id and event.via:
        return record if event.question == asked.id else with_verdict(state, record, event.verdict, recorded)
    record = with_verdict(state, replace(record, asked=None, disputed=0), event.verdict, recorded)
    if decision is None:
        return record
    return _disputed(_put(record, replace(decision, is_late=True)), review, decision)


def with_answer(state: SessionState, record: PlanRecord, recorded: Recorded, telling: Telling) -> PlanRecord:
    """A plan after the agent got the answer to its question that was on its way. A quick agent may have ended its turn
    by then, and the question with it."""
    given = record.given(telling.request)
    if given is None:
        return record
    is_open = given == record.decision
    record = _put(record, replace(given, told=telling, is_known=True))
    return with_verdict(state, replace(record, asked=None, disputed=0), given.verdict, recorded) if is_open else record


def unasked(state: SessionState, record: PlanRecord, recorded: Recorded) -> PlanRecord:
    """A plan whose question is over. An answer that never reached the agent is a verdict like any other."""
    if record.asked is None:
        return record
    decision, record = record.decision, replace(record, asked=None)
    return with_verdict(state, record, decision.verdict, recorded) if decision else record


def _disputed(record: PlanRecord, told: Review | None, late: Review) -> PlanRecord:
    """A plan after a verdict that came too late. If it was a no, the agent goes on with what a person does not want."""
    contradicts = told is not None and told.verdict == APPROVED and late.verdict == CHANGES_REQUESTED
    return replace(record, disputed=late.seq) if contradicts else record


def _put(record: PlanRecord, review: Review) -> PlanRecord:
    return replace(record, reviews=tuple(review if each.seq == review.seq else each for each in record.reviews))
