"""Conflicts: whether an act still fits a plan that changed since the person saw it.

Only what the act touches can conflict. A person's words must not be refused because the agent ticks off its list while
they type, so:

- a comment, a request for changes, a withdrawal and a new text for a suggestion never conflict;
- an act on a step conflicts if that step's text changed, or the step is gone;
- a new step and a move conflict if the step that they follow is gone;
- an approval, a selection and a dismissal conflict if texts or the set of steps changed, never for a status;
- several changes at once are merged: each conflicts as an act on its step would (`plan_text.merge`).

An act on a step that never existed is not a conflict but a mistake, and its command says so.
"""

from enum import Enum

from planwire.model.markdown import unmarked
from planwire.model.records import PlanRecord
from planwire.model.wording import texts_of, wording
from planwire.steering.wanted import Wanted


class Touches(Enum):
    """How much of a plan an act is about."""

    NOTHING = "nothing"
    STEP = "step"
    PLACE = "place"
    PLAN = "plan"
    CHANGES = "changes"


def is_outdated(touches: Touches, wanted: Wanted, before: PlanRecord | None, now: PlanRecord) -> bool:
    """Whether what an act touches differs between `now` and `before`, the plan that the person saw; `before` is None if
    there was no such plan."""
    if touches is Touches.NOTHING:
        return False
    if before is None:
        return touches is not Touches.PLACE and (touches is not Touches.CHANGES or wanted.has_changes)
    if touches is Touches.PLAN:
        return wording(before.state) != wording(now.state) or _is_rewritten(before.file, now.file)
    then, texts = texts_of(before.state), texts_of(now.state)
    if any(each in then and each not in texts for each in (wanted.after, wanted.before)):
        return True
    step = wanted.target or ""
    return touches is Touches.STEP and then.get(step) != texts.get(step)


def _is_rewritten(before: str | None, now: str | None) -> bool:
    """Whether a plan file says something else than when the person saw it."""
    return before is not None and now is not None and unmarked(before) != unmarked(now)


def gone(step: str, record: PlanRecord) -> bool:
    """Whether a plan lacks a step that an act names."""
    return step not in texts_of(record.state)
