"""Verdicts on plans: which one counts when a question of the agent's can be answered in two places.

A client's answer goes straight to the agent, and the journal hears of it then. A person who answers elsewhere writes
to the journal first, and the agent gets the answer a moment later, unless the client was faster. So such a decision
counts only once the agent has it; until then the question stays open. A decision that comes too late is kept and marked
as late. If the question is dismissed, or ends with its turn, it has no answer: the decision is then a verdict like any
other, and the agent hears it with its next prompt.

A person may take a verdict back for some seconds. Until then it is pending: an event that changes nothing else, which
holds all that goes with the verdict. Handing it on writes that, in one append on the newest state; so does taking it
back, and exactly one of the two comes first. An answer from elsewhere ends a pending verdict, and so does another text
of the plan an approval.
"""

from typing import Final

from msgspec.structs import replace

from planwire.model.events import APPROVED, CHANGES_REQUESTED, COMMENTED, DISMISSED, Event, PlanReviewed, Recorded
from planwire.model.lineage import with_verdict
from planwire.model.plan import PlanId
from planwire.model.records import PendingVerdict, PlanRecord, Review, SessionState, Telling
from planwire.model.unheard import CLIENT

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


def handing_on(state: SessionState, pending: PendingVerdict) -> tuple[Event, ...]:
    """The events that hand a pending verdict on, with their numbers for this state. None if it is not pending any more:
    it was taken back, or handed on by another process."""
    if pending not in state.pending:
        return ()
    event = pending.event
    edits = [event.edit] if event.edit else []
    number = state.seq + len(edits) + 1
    revision = number - 1 if edits else event.verdict.revision
    verdict = replace(event.verdict, plan_id=event.plan_id, revision=revision, pending=pending.seq)
    return (*edits, verdict, *(replace(each, plan_id=event.plan_id, review=number) for each in event.remarks))


def still_pending(record: PlanRecord, recorded: Recorded, event: PlanReviewed) -> PendingVerdict | None:
    """The pending verdict after another one, or after itself. What only ends the question leaves it as it is, but for
    an approval of what the client's user dismissed."""
    pending = record.pending
    if pending is None or event.pending == pending.seq:
        return None
    question = pending.event.verdict.question
    if event.late or event.verdict == COMMENTED or (event.question and question not in ("", event.question)):
        return pending
    if event.verdict == DISMISSED and event.option is None:
        return record.pending_request if recorded.by == CLIENT else pending
    return None


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
