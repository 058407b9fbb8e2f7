"""Lineage: which plans of a session are living.

A proposal is a text on which a person was asked for a verdict. It lives until it is rejected, replaced by a later
proposal of its session, or carried out: the first list set after its approval has no open step left. A new version of
it lives again, and so does a proposal that a person reopens. Every other plan lives until it is removed.
"""

from typing import Final

from msgspec.structs import replace

from planwire.model.events import APPROVED, CHANGES_REQUESTED, Recorded
from planwire.model.kinds import entries_of, kind_of
from planwire.model.plan import FilePlan, PlanId
from planwire.model.records import Approval, Closing, PlanRecord, SessionState
from planwire.model.remarks import PLAN_ENDED, REVISED, closed_with_plan

REJECTED: Final = "rejected"
REPLACED: Final = "replaced"
CARRIED_OUT: Final = "carried_out"

#: Turns for which an approved proposal without a list is told in full; after that, its title is enough.
TURNS_IN_FULL: Final = 2

Plans = dict[PlanId, PlanRecord]


def proposed(plans: Plans, plan_id: PlanId, recorded: Recorded) -> Plans:
    """The plans after a person was asked for a verdict on one of them. A proposal replaces all earlier ones."""
    record = plans[plan_id]
    if not _is_text(record):
        return plans
    others = {
        other: _replaced(each, recorded) if other != plan_id and each.is_proposal and not each.removed else each
        for other, each in plans.items()
    }
    return {**others, plan_id: replace(record, is_proposal=True, ended="")}


def with_verdict(state: SessionState, record: PlanRecord, verdict: str, recorded: Recorded) -> PlanRecord:
    """A proposal after a verdict on it."""
    if not record.is_proposal or record.removed:
        return record
    if verdict == APPROVED:
        carrier = record.approval.carrier if record.approval and not record.ended else ()
        return replace(record, approval=Approval(recorded.seq, state.turns, carrier), ended="")
    return _end(record, REJECTED, recorded) if verdict == CHANGES_REQUESTED else record


def carried_out(plans: Plans, changed: PlanId, recorded: Recorded, *, is_new: bool = False) -> Plans:
    """The plans after a change to one of them, which may be the list that carries out a proposal. Only a new list
    becomes that: a tick on an older one says nothing about the proposal."""
    if not any(each.approval and each.is_living for each in plans.values()):
        return plans
    record = plans[changed]
    if entries_of(record.state.plan) is None or not record.state.steps:
        return plans
    is_done = not any(step.is_open for step in record.state.steps)
    after = dict(plans)
    for plan_id, each in plans.items():
        if each.approval is None or not each.is_living or plan_id == changed:
            continue
        carrier = each.approval.carrier or ((changed,) if is_new else ())
        carried = replace(each, approval=replace(each.approval, carrier=carrier))
        after[plan_id] = _end(carried, CARRIED_OUT, recorded) if is_done and carrier == (changed,) else carried
    return after


def is_told_by_title(state: SessionState, record: PlanRecord) -> bool:
    """Whether an approved proposal that never got a list is old enough to be told by its title alone."""
    approval = record.approval
    return approval is not None and not approval.carrier and state.turns >= approval.turn + TURNS_IN_FULL


def close_remarks(record: PlanRecord, recorded: Recorded) -> PlanRecord:
    """A plan that has ended, with the remarks closed that end with it. Remarks made with a rejection are for the next
    proposal, and stay open."""
    if record.is_living or (record.ended == REJECTED and not record.removed):
        return record
    closing = Closing(recorded.seq, recorded.at, recorded.author, PLAN_ENDED)
    return replace(record, remarks=closed_with_plan(record.remarks, closing))


def _replaced(record: PlanRecord, recorded: Recorded) -> PlanRecord:
    """A proposal that a later one replaces. A question that its client still asks stays open until it is answered."""
    closing = Closing(recorded.seq, recorded.at, recorded.author, PLAN_ENDED)
    remarks = closed_with_plan(record.remarks, closing, of_request=replace(closing, how=REVISED))
    asked = record.asked if record.asked and not record.asked.is_review else None
    pending = record.pending_request
    return replace(record, ended=record.ended or REPLACED, asked=asked, remarks=remarks, pending=pending)


def _end(record: PlanRecord, how: str, recorded: Recorded) -> PlanRecord:
    return close_remarks(replace(record, ended=how, asked=None), recorded)


def _is_text(record: PlanRecord) -> bool:
    plan = record.state.plan
    return kind_of(plan).is_text or isinstance(plan, FilePlan)
