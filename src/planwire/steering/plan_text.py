"""A plan as text to be edited, and the edited text as changes.

    [x] (high) Read the config {s1}
    [~] Write the parser {s2}
    [ ] Check it on the old files

One step a line. `{s1}` is the step's id: a line without one is a new step, an id without a line is a step that goes,
and the order of the lines is the order of the steps. Lines that begin with # are not read.
"""

import re
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from planwire.errors import PlanError, UneditableText
from planwire.model import diff
from planwire.model.changes import apply_changes
from planwire.model.events import AddStep, MoveStep, RemoveStep, RewordStep, SetPriority, SetStatus, StepChange
from planwire.model.plan import ItemsPlan
from planwire.model.statuses import CANCELLED, COMPLETED, IN_PROGRESS, PENDING, meaning
from planwire.model.steps import PlanState, Step

__all__ = ["Merge", "as_text", "changes_in", "merge"]

_BOXES: Final = {PENDING: " ", IN_PROGRESS: "~", COMPLETED: "x", CANCELLED: "-"}
_STATUSES: Final = {box: status for status, box in _BOXES.items()} | {"X": COMPLETED}
_LINE: Final = re.compile(r"^\[(?P<box>[^\]]*)\]\s*(?:\((?P<priority>\w+)\)\s+)?(?P<text>.*?)\s*(?:\{(?P<id>s\d+)\})?$")


class _Edited(Struct, frozen=True):
    number: int
    id: str | None
    content: str
    status: str
    priority: str


class Merge(Struct, frozen=True):
    """Changes for a plan that moved on: those that can still be made, and steps on which both sides had a word."""

    changes: tuple[StepChange, ...] = ()
    disputed: tuple[str, ...] = ()


def as_text(state: PlanState) -> str:
    """The steps, one a line."""
    if not state.steps:
        raise PlanError("this plan has no steps that can be edited; say what you think of it with planwire comment")
    return "".join(_line(step) + "\n" for step in state.steps)


def changes_in(text: str, state: PlanState) -> tuple[StepChange, ...]:
    """What was changed in a text that was made from this state."""
    lines = [*_edited(text, state)]
    steps = {step.id: step for step in state.steps}
    kept = {line.id for line in lines}
    changes: list[StepChange] = [RemoveStep(step) for step in steps if step not in kept]
    changes += [each for line in lines if line.id for each in _changes_of(line, steps[line.id], state)]
    state = apply_changes(state, changes)
    before = ""
    for line in lines:
        ids = [step.id for step in state.steps]
        place = ids.index(before) + 1 if before else 0
        move: StepChange | None = None
        if line.id is None:
            move = AddStep(line.content, before, line.priority, line.status)
        elif ids[place : place + 1] != [line.id]:
            move = MoveStep(line.id, before)
        if move is not None:
            changes.append(move)
            state = apply_changes(state, [move])
        before = line.id or next(step.id for step in state.steps if step.id not in ids)
    return tuple(changes)


def merge(changes: tuple[StepChange, ...], before: PlanState, now: PlanState) -> Merge:
    """The changes that were meant for an earlier state, for the plan as it is now.

    A change of a step that somebody else changed meanwhile is not made: it is for the person to decide again.
    """
    difference = diff.compare(before, now)
    theirs = {removed.step.id for removed in difference.removed}
    theirs |= {each.step.id for each in (*difference.reworded, *difference.status, *difference.priority)}
    made: list[StepChange] = []
    disputed: dict[str, None] = {}
    for change in changes:
        about = f"the new step {change.content!r}" if isinstance(change, AddStep) else change.step
        try:
            if about in theirs:
                raise PlanError("somebody else changed it")
            apply_changes(now, [*made, change])
            made.append(change)
        except PlanError:
            disputed[about] = None
    return Merge(tuple(made), tuple(disputed))


def _line(step: Step) -> str:
    box = _BOXES.get(meaning(step.status) or "") or step.status
    text = " ".join(step.content.split())
    priority = f"({step.priority}) " if step.priority != "medium" or text.startswith("(") else ""
    return f"[{box}] {priority}{text} {{{step.id}}}"


def _edited(text: str, state: PlanState) -> Iterator[_Edited]:
    known = {step.id for step in state.steps}
    seen: set[str] = set()
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = _LINE.match(line.strip().removeprefix("- "))
        if match is None or not match["text"]:
            raise UneditableText(
                f"line {number}: a step looks like `[ ] its text {{s1}}`, and this is {line.strip()!r}"
            )
        if match["id"] is not None and match["id"] not in known:
            raise UneditableText(f"line {number}: there is no step {match['id']}; leave the id out for a new step")
        if match["id"] in seen:
            raise UneditableText(f"line {number}: the step {match['id']} is there twice")
        seen |= {match["id"]} if match["id"] else set()
        box = match["box"].strip() or " "
        yield _Edited(number, match["id"], match["text"], _STATUSES.get(box, box), match["priority"] or "medium")


def _changes_of(line: _Edited, step: Step, state: PlanState) -> Iterator[StepChange]:
    if line.content != " ".join(step.content.split()):
        yield RewordStep(step.id, line.content)
    if line.status != (meaning(step.status) or step.status):
        yield SetStatus(step.id, line.status)
    if line.priority != step.priority and isinstance(state.plan, ItemsPlan):
        yield SetPriority(step.id, line.priority)
