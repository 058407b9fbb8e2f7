"""Annotations: people's suggestions for an agent's own plan and their remarks on it, step by step.

Faces show them over the plan, never in it, so that nobody takes a person's word for the agent's.
"""

from typing import assert_never

from msgspec import Struct
from msgspec.structs import replace

from planwire.model.events import AddStep, MoveStep, RemoveStep, RewordStep, SetPriority, SetStatus, StepChange
from planwire.model.records import Delta, PlanRecord
from planwire.model.statuses import spoken
from planwire.model.steps import PlanState, Step
from planwire.readmodel.history import suggestion_words

__all__ = ["Annotations", "Remark", "SuggestedChange", "annotations", "suggestion_sentence"]


class SuggestedChange(Struct, frozen=True):
    """One suggested change. `kind` is the tag of the change (`status`, `reword`, `add`, …), `text` says in words what
    the step should become, `suggestion` is the number of its event, `number` its own among the changes there. `note` is
    what its author says about it."""

    suggestion: int
    number: int
    kind: str
    text: str
    by: str
    at: int
    note: str | None = None


class Remark(Struct, frozen=True):
    """A comment on a step or on the plan, and the revision that its author saw."""

    text: str
    by: str
    at: int
    revision: int


class Annotations(Struct, frozen=True):
    """Everything to show over a plan. `steps` has the suggestions for each step, `added` the suggested steps, each with
    the step that it goes behind ("" is the beginning, None the end), in the order that they would have in the list.
    `remarks` are those that still matter, by step; None has those on the plan as a whole."""

    steps: dict[str, tuple[SuggestedChange, ...]] = {}
    added: tuple[tuple[str | None, SuggestedChange], ...] = ()
    remarks: dict[str | None, tuple[Remark, ...]] = {}


def annotations(record: PlanRecord, state: PlanState | None = None) -> Annotations:
    """The annotations of a plan as it is now; `state` has the steps of a plan file. A step that is over needs no
    remarks: the history has them."""
    steps_now = (state or record.state).steps
    unfinished = {step.id for step in steps_now if step.is_open}
    texts = {step.id: step.content for step in steps_now}
    steps: dict[str, tuple[SuggestedChange, ...]] = {}
    added: dict[str | None, list[SuggestedChange]] = {}
    for suggestion in record.suggestions:
        for number, change in enumerate(suggestion.changes):
            kind, text = str(type(change).__struct_config__.tag), _becomes(change, texts)
            suggested = SuggestedChange(
                suggestion.seq, number, kind, text, suggestion.by, suggestion.at, suggestion.note
            )
            if isinstance(change, AddStep):
                together = added.setdefault(change.after, [])
                together.insert(len(together) if change.after is None else 0, suggested)  # as `apply_changes` does it
            elif change.step in texts:
                steps[change.step] = (*steps.get(change.step, ()), suggested)
    remarks: dict[str | None, tuple[Remark, ...]] = {}
    for review in record.reviews:
        for comment in review.comments:
            if comment.step is None or comment.step in unfinished:
                remark = Remark(comment.text, review.by, review.at, review.revision)
                remarks[comment.step] = (*remarks.get(comment.step, ()), remark)
    places = ((after if not after or after in texts else None, together) for after, together in added.items())
    return Annotations(steps, tuple((after, each) for after, together in places for each in together), remarks)


def suggestion_sentence(record: PlanRecord, suggestion: Delta) -> str:
    """A suggestion in words, with its note. A step that left the plan has the name that it had last."""
    there = {step.id for step in record.state.steps}
    gone = {change.step for change in suggestion.changes if not isinstance(change, AddStep)} - there
    former = [Step(step, _last_text(record.state, step), "") for step in sorted(gone)]
    state = replace(record.state, steps=(*record.state.steps, *former)) if gone else record.state
    words = [word.text for word in suggestion_words(state, suggestion.changes)]
    return "; ".join([*words, suggestion.note] if suggestion.note else words)


def _last_text(state: PlanState, step: str) -> str:
    """The last text of a step, as far as the plan remembers it."""
    return next((text for text, owners in reversed(state.memory.owners.items()) if step in owners), step)


def _becomes(change: StepChange, texts: dict[str, str]) -> str:
    match change:
        case AddStep(content=content) | RewordStep(content=content):
            return content
        case SetStatus(status=status):
            return spoken(status)
        case SetPriority(priority=priority):
            return f"{priority} priority"
        case RemoveStep():
            return "remove"
        case MoveStep(after=after):
            return f"after: {texts.get(after, after)}" if after else "first"
        case _ as never:
            assert_never(never)
