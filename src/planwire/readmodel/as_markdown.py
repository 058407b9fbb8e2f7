"""A plan as markdown, for copying and for exports."""

import msgspec

from planwire.model.kinds import content_of, kind_of, text_of
from planwire.model.markdown import box_of
from planwire.model.plan import MEDIUM
from planwire.model.statuses import DEFAULT_STATUS
from planwire.model.steps import PlanState, Step
from planwire.model.text import unwrapped

__all__ = ["plan_markdown"]


def plan_markdown(state: PlanState) -> str:
    """A text as it is; any other plan as a title and a list of tasks, a link, or its fields."""
    kind = kind_of(state.plan)
    if kind.is_text:
        return text_of(state.plan)
    title = "# Plan" if state.plan.id is None else f"# {unwrapped(state.plan.id)}"
    if kind.has_editable_steps:
        return "\n".join([title, "", *map(_task, state.steps)]) + "\n"
    if kind.field:
        return f"{title}\n\n<{text_of(state.plan)}>\n"
    fields = msgspec.json.format(msgspec.json.encode(content_of(state.plan)), indent=2).decode()
    return f"{title}\n\n```json\n{fields}\n```\n"


def _task(step: Step) -> str:
    details = [step.priority] if step.priority != MEDIUM else []
    details += [step.status] if step.known is None else []
    remark = f" ({', '.join(details)})" if details else ""
    box = box_of(step.status if step.known else DEFAULT_STATUS)
    return f"{'  ' * step.depth}- [{box}] {unwrapped(step.content)}{remark}"
