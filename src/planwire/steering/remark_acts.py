"""Acts on remarks: a person closes or reopens one."""

from planwire.errors import NothingChanges, PlanError
from planwire.model.events import PlanReopened, RemarkClosed, RemarkReopened, ReviewUndone
from planwire.model.records import Remark
from planwire.model.remarks import WITHDRAWN
from planwire.steering.target import Decision, Target, check_length, remark_named
from planwire.steering.wanted import Wanted
from planwire.steering.words import changes_sentence, quoted


def withdraw(on: Target, wanted: Wanted) -> Decision:
    """Close a remark, no matter whose; `text` says why. Without a target, take back the verdict that is pending."""
    if wanted.target is None:
        return _undo(on)
    remark = remark_named(on, wanted.target or "")
    if remark.closed is not None:
        raise NothingChanges(f"Nothing changes: {remark.id} is closed already.")
    why = (wanted.text or "").strip()
    check_length(why)
    event = RemarkClosed(remark.plan_id, remark.id, WITHDRAWN, why)
    return Decision((event,), f"Withdrawn: {_sentence(on, remark)}")


def _undo(on: Target) -> Decision:
    """Take a pending verdict back. Only its author can: others give their own, which replaces it."""
    pending, last = on.record.pending, on.record.review
    if pending is None:
        if last is not None and last.by == on.by:
            raise PlanError("The agent has it already. Nothing was taken back.")
        raise NothingChanges("There is nothing to undo.")
    if pending.by != on.by:
        raise PlanError(f"Only {pending.by} can undo this. Give your own answer: it counts instead.")
    return Decision((ReviewUndone(on.record.state.plan.id, pending.seq),), "Undone. Nothing was sent.")


def reopen(on: Target, wanted: Wanted) -> Decision:
    """Reopen a closed remark, or a plan that was dismissed or has ended."""
    plan_id = on.record.state.plan.id
    if wanted.target is None:
        if on.record.is_living:
            raise NothingChanges("Nothing changes: the plan is open.")
        return Decision((PlanReopened(plan_id),), "Plan reopened.")
    remark = remark_named(on, wanted.target)
    if remark.closed is None:
        raise NothingChanges(f"Nothing changes: {remark.id} is open.")
    return Decision((RemarkReopened(plan_id, remark.id),), f"Reopened: {_sentence(on, remark)}. {on.heard}")


def _sentence(on: Target, remark: Remark) -> str:
    """A remark in a few words, about what its author saw."""
    texts = on.texts | remark.about
    if remark.steps:
        return f"run {', '.join(quoted(texts.get(step, step)) for step in remark.steps)}"
    if remark.changes:
        return changes_sentence(texts, remark.changes, remark.note)
    return quoted(remark.text) if remark.text else remark.kind
