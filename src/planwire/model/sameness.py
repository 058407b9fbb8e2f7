"""Whether two plans are the same: the rule that tells a new version of a plan from a repeated one.

Agents count in `_meta` (tokens, milliseconds), and a list that comes again with other counts is the same list. So
numbers in `_meta`, at any depth, are not compared. Everything else is.
"""

from typing import Any, Final

from msgspec import UNSET
from msgspec.structs import replace

from planwire.model.plan import Entry, Fields, ItemsPlan, OtherPlan, Plan

#: The protocol's field for arbitrary data.
META: Final = "_meta"


def is_same(one: Plan | None, other: Plan | None) -> bool:
    """Whether two plans are the same, apart from what they count."""
    try:
        if one == other or one is None or other is None or not (_has_fields(one) or _has_fields(other)):
            return one == other
        return _uncounted_plan(one) == _uncounted_plan(other)
    except RecursionError:  # nobody nests counts that deep
        return False


def _has_fields(plan: Plan) -> bool:
    if isinstance(plan, OtherPlan) or plan.meta or plan.extra:
        return True
    return isinstance(plan, ItemsPlan) and any(each.meta or each.extra for each in plan.entries)


def _uncounted_plan(plan: Plan) -> Plan:
    if isinstance(plan, OtherPlan):
        return replace(plan, fields=_in_fields(plan.fields))
    bare = replace(plan, meta=_in_meta(plan.meta), extra=_in_fields(plan.extra))
    return replace(bare, entries=tuple(map(_uncounted, bare.entries))) if isinstance(bare, ItemsPlan) else bare


def _uncounted(entry: Entry) -> Entry:
    return replace(entry, meta=_in_meta(entry.meta), extra=_in_fields(entry.extra))


def _in_meta(meta: Fields | None) -> Any:
    kept = _without_numbers(meta)
    return None if kept is UNSET else kept


def _without_numbers(value: Any) -> Any:
    """A value without its numbers; UNSET if it holds nothing else."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return UNSET
    if isinstance(value, dict) and value:
        kept = {key: word for key, each in value.items() if (word := _without_numbers(each)) is not UNSET}
        return kept or UNSET
    if isinstance(value, list) and value:
        return [word for each in value if (word := _without_numbers(each)) is not UNSET] or UNSET
    return value


def _in_fields(value: Any) -> Any:
    """A value without the numbers in each `_meta` that it holds."""
    if isinstance(value, dict):
        return {key: _in_meta(each) if key == META else _in_fields(each) for key, each in value.items()}
    return [_in_fields(each) for each in value] if isinstance(value, list) else value
