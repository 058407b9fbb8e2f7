"""Plans as JSON values, the same in every command."""

from typing import Any

import msgspec

from planwire.model.fold import PlanRecord
from planwire.model.kinds import drafts_of, kind_of
from planwire.model.steps import PlanState

__all__ = ["plan_json", "record_json"]

#: Fields of a plan that are not its content.
_AROUND = ("id", "meta", "extra")


def plan_json(state: PlanState) -> dict[str, Any]:
    """A plan with its steps and its progress."""
    plan, progress, kind = state.plan, state.progress, kind_of(state.plan)
    value: dict[str, Any] = {"id": plan.id, "kind": plan.kind}
    value |= {name: part for name, part in msgspec.structs.asdict(plan).items() if name not in _AROUND}
    if kind.field is not None and kind.has_priorities:
        value[kind.field] = [
            {"content": draft.content, "priority": draft.priority, "status": draft.status} for draft in drafts_of(plan)
        ]
    value["steps"] = [
        {"id": step.id, "content": step.content, "status": step.status, "priority": step.priority}
        for step in state.steps
    ]
    value["progress"] = {"done": progress.done, "total": progress.total}
    return value


def record_json(record: PlanRecord) -> dict[str, Any]:
    """A plan with all that a journal knows of it: the why, changes since the agent set it, wishes, reviews."""
    value = plan_json(record.state)
    for name in ("owner", "version", "revision", "created_at", "changed_at", "summary", "mode", "removed"):
        value[name] = getattr(record, name)
    value["changes"] = msgspec.to_builtins(record.deltas)
    value["wishes"] = msgspec.to_builtins(record.wishes)
    value["reviews"] = [{**msgspec.to_builtins(each), "stale": record.is_stale(each)} for each in record.reviews]
    value["asked"] = msgspec.to_builtins(record.asked)
    return value
