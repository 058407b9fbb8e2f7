"""Conflicts: whether an act still fits a plan that changed since the person saw it.

A conflict is about what the act touches. An agent that ticks off its list while a person types must not turn their
words away, so:

- a comment, a request for changes and a withdrawal never conflict;
- an act on a step conflicts if that step's text changed, or the step is gone;
- a new step conflicts only if the step that it goes behind is gone;
- an approval, a selection and a dismissal conflict if texts or the set of steps changed, never for a status.
"""

from enum import Enum

from planwire.model.fold import PlanRecord
from planwire.model.kinds import content_of, kind_of, text_of
from planwire.model.markdown import unmarked

__all__ = ["Touches", "gone", "is_outdated"]


class Touches(Enum):
    """How much of a plan an act is about."""

    NOTHING = "nothing"
    STEP = "step"
    PLACE = "place"
    PLAN = "plan"


def is_outdated(touches: Touches, step: str | None, before: PlanRecord | None, now: PlanRecord) -> bool:
    """Whether what an act touches is another in `now` than in `before`, the plan that the person saw; None if there was
    no such plan."""
    if touches is Touches.NOTHING:
        return False
    if before is None:
        return True
    if touches is Touches.PLAN or not step:
        return touches is Touches.PLAN and _text(before) != _text(now)
    then, text = _texts(before).get(step), _texts(now).get(step)
    return text is None or (touches is Touches.STEP and text != then)


def gone(step: str | None, record: PlanRecord) -> bool:
    """Whether a plan lacks a step that an act names."""
    return bool(step) and step not in _texts(record)


def _texts(record: PlanRecord) -> dict[str, str]:
    return {step.id: step.content for step in record.state.steps}


def _text(record: PlanRecord) -> object:
    """All that a verdict is about: the wording of a plan, without statuses and their order."""
    plan = record.state.plan
    kind = kind_of(plan)
    if kind.is_text:
        return unmarked(text_of(plan))
    return _texts(record) if kind.has_editable_steps else content_of(plan)
