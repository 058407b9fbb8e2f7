"""Differences of plans: how a test gets one, and how it proves that one holds everything."""

from msgspec.structs import replace

from planwire import ItemsPlan, Plan, track
from planwire.model.diff import Diff, compare


def between(before: Plan, after: Plan) -> Diff:
    """The difference of two plans without a history."""
    earlier = track(before)
    return compare(earlier, track(after, earlier))


def applied(found: Diff, plan: Plan) -> Plan:
    """The later plan, from nothing but the earlier one and the difference."""
    result = plan if found.frame is None else found.frame
    if not (isinstance(plan, ItemsPlan) and isinstance(result, ItemsPlan)):
        return result
    entries = list(plan.entries)
    arriving = {added.at: added.entry for added in found.added if added.entry is not None}
    arriving |= {moved.at: entries[moved.before] for moved in found.moved}
    leaving = {removed.at for removed in found.removed} | {moved.before for moved in found.moved}
    entries = [entry for at, entry in enumerate(entries) if at not in leaving]
    for at in sorted(arriving):
        entries.insert(at, arriving[at])
    for name, changes in (("content", found.reworded), ("status", found.status), ("priority", found.priority)):
        for change in changes:
            entries[change.at] = replace(entries[change.at], **{name: change.after})
    for rewritten in found.rewritten:
        entries[rewritten.at] = rewritten.entry
    return replace(result, entries=tuple(entries))
