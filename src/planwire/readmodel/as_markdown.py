"""A plan as markdown: what is copied and exported."""

from typing import Final

import msgspec

from planwire.model.plan import FilePlan, MarkdownPlan, OtherPlan
from planwire.model.statuses import CANCELLED, COMPLETED, IN_PROGRESS, PENDING, meaning
from planwire.model.steps import PlanState, Step

__all__ = ["plan_markdown"]

_BOXES: Final = {PENDING: " ", IN_PROGRESS: "~", COMPLETED: "x", CANCELLED: "-"}


def plan_markdown(state: PlanState) -> str:
    """A text as it is; any other plan as a title and a list of tasks."""
    title = "# Plan" if state.plan.id is None else f"# {_one_line(state.plan.id)}"
    match state.plan:
        case MarkdownPlan(content=content):
            return content
        case FilePlan(uri=uri):
            return f"{title}\n\n<{uri}>\n"
        case OtherPlan(fields=fields):
            return f"{title}\n\n```json\n{msgspec.json.format(msgspec.json.encode(fields), indent=2).decode()}\n```\n"
    return "\n".join([title, "", *map(_task, state.steps)]) + "\n"


def _task(step: Step) -> str:
    known = meaning(step.status)
    details = [step.priority] if step.priority != "medium" else []
    details += [step.status] if known is None else []
    remark = f" ({', '.join(details)})" if details else ""
    return f"{'  ' * step.depth}- [{_BOXES.get(known or '', ' ')}] {_one_line(step.content)}{remark}"


def _one_line(text: str) -> str:
    return " ".join(text.split())
