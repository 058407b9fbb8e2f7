"""Proof that a difference is complete: the later plan, made from the earlier one and the difference."""

from msgspec.structs import replace

from planwire.errors import PlanError
from planwire.model.diff import Diff, compare
from planwire.model.identity import track
from planwire.model.plan import ItemsPlan, Plan

__all__ = ["apply", "between"]


def between(before: Plan, after: Plan) -> Diff:
    """The difference of two plans that are all one knows."""
    earlier = track(before)
    return compare(earlier, track(after, earlier))


def apply(diff: Diff, plan: Plan) -> Plan:
    """The later plan, made from the earlier one and the difference."""
    result = plan if diff.frame is None else diff.frame
    if not (isinstance(plan, ItemsPlan) and isinstance(result, ItemsPlan)):
        return result
    entries = list(plan.entries)
    try:
        arriving = {added.at: added.entry for added in diff.added if added.entry is not None}
        arriving |= {moved.at: entries[moved.before] for moved in diff.moved}
        leaving = {removed.at for removed in diff.removed} | {moved.before for moved in diff.moved}
        entries = [entry for at, entry in enumerate(entries) if at not in leaving]
        for at in sorted(arriving):
            entries.insert(at, arriving[at])
        for name, changes in (("content", diff.reworded), ("status", diff.status), ("priority", diff.priority)):
            for change in changes:
                entries[change.at] = replace(entries[change.at], **{name: change.after})
        for rewritten in diff.rewritten:
            entries[rewritten.at] = rewritten.entry
    except IndexError:
        raise PlanError(f"this difference was not made from this plan of {len(plan.entries)} entries") from None
    return replace(result, entries=tuple(entries))
