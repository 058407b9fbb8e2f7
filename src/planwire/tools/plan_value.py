"""A plan as the JSON object that a model reads: its steps, its text, and everything people said about it."""

import msgspec

from planwire.model.fold import PlanRecord, Review, SessionState
from planwire.model.kinds import content_of, kind_of
from planwire.model.plan import MEDIUM, Fields, PlanId
from planwire.model.steps import Step
from planwire.tools.delivered_reviews import unanswered

__all__ = ["plan_value"]

#: Steps to come that a brief answer has behind the current ones.
_NEXT = 3


def plan_value(state: SessionState, plan_id: PlanId, detail: str = "full") -> Fields | None:
    """The plan as JSON, or None if there is no such plan. A brief one has only the current and the next steps."""
    record = state.plans.get(plan_id)
    if record is None or record.removed:
        return None
    progress = record.state.progress
    value: Fields = {
        "plan_id": plan_id,
        "version": record.version,
        "revision": record.revision,
        "progress": f"{progress.done} of {progress.total} done",
        "steps": [_step_value(step) for step in _shown(record, detail)],
    }
    if detail == "full":
        if kind_of(record.state.plan).field:  # a list is in the steps already
            value |= {name: text for name, text in content_of(record.state.plan).items() if isinstance(text, str)}
        value["notes"] = [delta.note for delta in record.deltas if delta.note]
        value["deltas"] = len(record.deltas)
    if record.summary:
        value["summary"] = record.summary
    if record.suggestions:
        value["wishes"] = [
            {"by": each.by, "note": each.note, "changes": list(each.changes)} for each in record.suggestions
        ]
    if record.review:
        value["review"] = _review_value(record, record.review)
        earlier = [each for each in unanswered(record) if each is not record.review]
        if earlier:
            value["earlier_reviews"] = [_review_value(record, each) for each in earlier]
    plain: Fields = msgspec.json.decode(msgspec.json.encode(value))
    return plain


def _review_value(record: PlanRecord, review: Review) -> Fields:
    value: Fields = msgspec.to_builtins(review)
    return {**value, "stale": record.is_stale(review)}


def _step_value(step: Step) -> Fields:
    value: Fields = {"id": step.id, "content": step.content, "status": step.status}
    return value if step.priority == MEDIUM else {**value, "priority": step.priority}


def _shown(record: PlanRecord, detail: str) -> tuple[Step, ...]:
    steps = record.state.steps
    if detail != "brief":
        return steps
    current = [step for step in steps if step.is_current]
    return (*current, *[step for step in steps if step.is_open and not step.is_current][:_NEXT])
