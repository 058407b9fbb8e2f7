"""A plan as the JSON object that a model reads: its steps, its text, and the last verdict on it.

It is small, since a model pays for every word of it. The whole shape, for programs, is `readmodel.as_json`.
"""

import msgspec

from planwire.model.file_texts import ReadFile, no_files, state_with_text
from planwire.model.kinds import content_of, kind_of
from planwire.model.plan import MEDIUM, Fields, Plan, PlanId
from planwire.model.records import Review, SessionState
from planwire.model.steps import Step

__all__ = ["plan_value"]

#: Steps to come that a brief answer has behind the current ones.
_NEXT = 3


def plan_value(state: SessionState, plan_id: PlanId, detail: str = "full", read: ReadFile = no_files) -> Fields | None:
    """The plan as JSON, or None if there is no such plan. A brief one has only the current and the next steps. `read`
    gives the text of a plan file, whose checkboxes are its steps."""
    record = state.plans.get(plan_id)
    if record is None or record.removed:
        return None
    shown = state_with_text(record.state, read)
    progress = shown.progress
    value: Fields = {
        "plan_id": plan_id,
        "version": record.version,
        "revision": record.revision,
        "by": record.by,
        "progress": f"{progress.done} of {progress.total} done",
        "steps": [_step_value(step, record.authors.get(step.id)) for step in _shown(shown.steps, detail)],
    }
    if detail == "full":
        value |= _texts(record.state.plan) | _texts(shown.plan)
        value["notes"] = [{"by": delta.by, "text": delta.note} for delta in record.deltas if delta.note]
        value["deltas"] = len(record.deltas)
    if record.summary:
        value["summary"] = record.summary
    if record.ended:
        value["ended"] = record.ended
    if record.review:
        value["verdict"] = _verdict_value(record.review)
    plain: Fields = msgspec.json.decode(msgspec.json.encode(value))
    return plain


def _verdict_value(review: Review) -> Fields:
    words = {"by": review.by, "verdict": review.verdict, "revision": review.revision, "stale": review.is_stale}
    return {**words, "answer": review.answer} if review.answer else words


def _step_value(step: Step, by: str | None) -> Fields:
    value: Fields = {"id": step.id, "content": step.content, "status": step.status}
    if step.priority != MEDIUM:
        value["priority"] = step.priority
    return {**value, "by": by} if by else value


def _texts(plan: Plan) -> Fields:
    """The address or the text of a plan. A list is in the steps already."""
    return {name: text for name, text in content_of(plan).items() if kind_of(plan).field and isinstance(text, str)}


def _shown(steps: tuple[Step, ...], detail: str) -> tuple[Step, ...]:
    if detail != "brief":
        return steps
    current = [step for step in steps if step.is_current]
    return (*current, *[step for step in steps if step.is_open and not step.is_current][:_NEXT])
