"""A plan as the JSON object that a model reads: its steps, its text, and the last verdict on it.

It is small, since a model pays for every word. The full shape, for programs, is in `readmodel.as_json`.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from planwire.model.authors import by_fields
from planwire.model.children import children_of, is_finished
from planwire.model.events import StepRef
from planwire.model.file_texts import ReadFile, address_of, no_files, state_with_text
from planwire.model.kinds import content_of, kind_of
from planwire.model.plan import MEDIUM, Fields, Plan, PlanId
from planwire.model.records import PlanRecord, Review, SessionState
from planwire.model.steps import Step
from planwire.model.text import shortened

#: How many next steps a brief answer has after the current ones.
_NEXT: Final = 3
#: The longest name in the head of a plan, in characters. Names that models choose are shorter.
_NAME: Final = 512
_UNREAD: Final = (
    "the file can't be read now, so its steps are those of the last look: it is gone, or not a .md file of UTF-8 text, "
    "or larger than a plan may be, or outside the folders of this session"
)


class Piece(NamedTuple):
    """A piece of a plan: an element of the list with that name, or a part of the text."""

    name: str
    value: Any
    is_text: bool = False


def plan_head(state: SessionState, plan_id: PlanId, read: ReadFile = no_files) -> Fields | None:
    """The part of a plan that is on every page, or None if there is no such plan. `read` returns the text of a plan
    file, whose checkboxes are its steps."""
    record = _record(state, plan_id)
    if record is None:
        return None
    shown = state_with_text(record.state, read)
    value: Fields = {
        "plan_id": plan_id and shortened(plan_id, _NAME),
        "version": record.version,
        "revision": record.revision,
        **_by(record.by),
        "progress": str(shown.progress),
        "deltas": len(record.deltas),
    }
    if address_of(shown.plan):
        value["problem"] = _UNREAD
    if record.ended:
        value["ended"] = record.ended
    if record.review:
        value["verdict"] = _verdict_value(record.review)
    return value


def plan_pieces(
    state: SessionState, plan_id: PlanId, detail: str, read: ReadFile, remarks: Iterable[Piece]
) -> Iterator[Piece]:
    """The rest of a plan in the order in which a model needs it, with what people said after its steps. In brief, only
    the current and the next steps."""
    record = _record(state, plan_id)
    if record is None:
        yield from remarks
        return
    shown = state_with_text(record.state, read)
    children = children_of(state)
    for step in _shown(shown.steps, detail):
        by = record.authors.get(step.id, record.by)
        value = _step_value(step, None if by == record.by else by)
        below = children.get(StepRef(plan_id, step.id), ())
        if shown_below := [_child_value(each, read) for each in below if step.is_open or not is_finished(each)]:
            value["children"] = shown_below
        yield Piece("plan.steps", value)
    if record.summary:
        yield Piece("plan.summary", record.summary, is_text=True)
    yield from remarks
    if detail != "full":
        return
    for name, text in (_texts(record.state.plan) | _texts(shown.plan)).items():
        yield Piece(f"plan.{name}", text, is_text=True)
    for note in record.notes:
        yield Piece("plan.notes", {**by_fields(note.by), "text": note.text})
    if record.noted > len(record.notes):
        words = f"{record.noted - len(record.notes)} more: get_plan with notes: true shows all"
        yield Piece("plan.older_notes", words, is_text=True)


def _by(author: str) -> Fields:
    return {key: shortened(word, _NAME) for key, word in by_fields(author).items()}


def _record(state: SessionState, plan_id: PlanId) -> PlanRecord | None:
    record = state.plans.get(plan_id)
    return None if record is None or record.removed else record


def _verdict_value(review: Review) -> Fields:
    words: Fields = {**_by(review.by), "verdict": review.verdict}
    words |= {"revision": review.revision, "stale": review.is_stale}
    return {**words, "answer": shortened(review.answer, _NAME)} if review.answer else words


def _step_value(step: Step, by: str | None) -> Fields:
    value: Fields = {"id": step.id, "content": step.content}
    if step.status:
        value["status"] = step.status
    if step.priority != MEDIUM:
        value["priority"] = step.priority
    return {**value, **by_fields(by)} if by else value


def _child_value(record: PlanRecord, read: ReadFile) -> Fields:
    """A plan that works for a step, by id and progress: get_plan has the rest."""
    return {"plan_id": record.state.plan.id, "progress": str(state_with_text(record.state, read).progress)}


def _texts(plan: Plan) -> Fields:
    """The address or the text of a plan. A list has neither: its entries are the steps."""
    return {name: text for name, text in content_of(plan).items() if kind_of(plan).field and isinstance(text, str)}


def _shown(steps: tuple[Step, ...], detail: str) -> tuple[Step, ...]:
    if detail != "brief":
        return steps
    current = [step for step in steps if step.is_current]
    return (*current, *[step for step in steps if step.is_open and not step.is_current][:_NEXT])
