"""Plans as JSON values, the same in every command."""

from typing import Any

import msgspec

from planwire.model.fold import PlanRecord
from planwire.model.plan import FilePlan, ItemsPlan, MarkdownPlan
from planwire.model.steps import PlanState

__all__ = ["plan_value", "record_value"]


def plan_value(state: PlanState) -> dict[str, Any]:
    """A plan with its steps and its progress."""
    plan, progress = state.plan, state.progress
    value: dict[str, Any] = {"id": plan.id, "kind": plan.kind}
    match plan:
        case ItemsPlan(entries=entries):
            value["entries"] = [
                {"content": entry.content, "priority": entry.priority or "medium", "status": entry.status}
                for entry in entries
            ]
        case MarkdownPlan(content=content):
            value["content"] = content
        case FilePlan(uri=uri):
            value["uri"] = uri
        case _:
            value |= {"type": plan.type, "fields": plan.fields}
    value["steps"] = [
        {"id": step.id, "content": step.content, "status": step.status, "priority": step.priority}
        for step in state.steps
    ]
    value["progress"] = {"done": progress.done, "total": progress.total}
    return value


def record_value(record: PlanRecord) -> dict[str, Any]:
    """A plan with all that a journal knows of it: the why, changes since it was set, wishes, reviews."""
    value = plan_value(record.state)
    for name in ("owner", "version", "revision", "created_at", "changed_at", "summary", "mode", "removed"):
        value[name] = getattr(record, name)
    value["changes"] = msgspec.to_builtins(record.deltas)
    value["wishes"] = msgspec.to_builtins(record.wishes)
    value["reviews"] = [{**msgspec.to_builtins(each), "stale": record.is_stale(each)} for each in record.reviews]
    value["asked"] = msgspec.to_builtins(record.asked)
    return value
