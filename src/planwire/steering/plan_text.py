"""A plan as text that people edit, and the edited text as changes.

    [x] (high) Read the config {s1}
    [~] Write the parser {s2}
    [ ] Check it on the old files

One step a line. `{s1}` is the step's id: a line without one is a new step, an id without a line is a step that goes,
and the order of the lines is the order of the steps. A box holds the character of a status, or its word. Brackets hold
a priority, in a plan whose steps have one. Lines that begin with # are comments.
"""

import re
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from planwire.errors import PlanError, UneditableText
from planwire.model import diff
from planwire.model.changes import apply_changes
from planwire.model.events import AddStep, MoveStep, RemoveStep, RewordStep, SetPriority, SetStatus, StepChange
from planwire.model.kinds import kind_of
from planwire.model.plan import MEDIUM
from planwire.model.statuses import BOXES, canonical
from planwire.model.steps import PlanState, Step
from planwire.model.text import unwrapped

__all__ = ["Merge", "as_text", "changes_in", "merge"]

_LINE: Final = re.compile(r"^\[(?P<box>[^\]]*)\]\s*(?P<text>.*?)\s*(?:\{(?P<id>s\d+)\})?$")
_PRIORITY: Final = re.compile(r"^\((\w+)\)(?:\s+|$)")


class _Edited(Struct, frozen=True):
    id: str | None
    content: str
    status: str
    priority: str


class Merge(Struct, frozen=True):
    """Changes for a plan that moved on: those that still apply, and the steps that both sides changed."""

    changes: tuple[StepChange, ...] = ()
    disputed: tuple[str, ...] = ()


def as_text(state: PlanState) -> str:
    """The steps, one a line."""
    if not state.steps:
        raise PlanError("this plan has no steps that can be edited; say what you think of it with planwire comment")
    has_priorities = kind_of(state.plan).has_priorities
    return "".join(_line(step, has_priorities) + "\n" for step in state.steps)


def changes_in(text: str, state: PlanState) -> tuple[StepChange, ...]:
    """The changes between a state and its edited text. Nested steps go before those that they are nested in.

    New steps come last, from the last to the first, each behind the known step above it: the id that one will get
    depends on what others add meanwhile.
    """
    lines = [*_edited(text, state)]
    steps = {step.id: step for step in state.steps}
    kept = {line.id for line in lines}
    changes: list[StepChange] = [RemoveStep(step) for step in reversed(steps) if step not in kept]
    changes += [each for line in lines if line.id for each in _changes_of(line, steps[line.id])]
    state = apply_changes(state, changes)
    added: list[StepChange] = []
    before = ""
    for line in lines:
        if line.id is None:
            added.append(AddStep(line.content, before, line.priority, line.status))
            continue
        ids = [step.id for step in state.steps]
        place = ids.index(before) + 1 if before else 0
        if ids[place : place + 1] != [line.id]:
            changes.append(MoveStep(line.id, before))
            state = apply_changes(state, changes[-1:])
        before = line.id
    return (*changes, *reversed(added))


def merge(changes: tuple[StepChange, ...], before: PlanState, now: PlanState) -> Merge:
    """Carry changes of an earlier state over to the plan as it is now.

    A step that another writer changed meanwhile keeps that change; the person decides about it again.
    """
    difference = diff.compare(before, now)
    theirs = {removed.step.id for removed in difference.removed}
    theirs |= {each.step.id for each in (*difference.reworded, *difference.status, *difference.priority)}
    made: list[StepChange] = []
    disputed: dict[str, None] = {}
    for change in changes:
        about = f"the new step {change.content!r}" if isinstance(change, AddStep) else change.step
        if about in theirs:
            disputed[about] = None
            continue
        try:
            now = apply_changes(now, [change])
            made.append(change)
        except PlanError:
            disputed[about] = None
    return Merge(tuple(made), tuple(disputed))


def _line(step: Step, has_priorities: bool) -> str:
    box = step.known.box if step.known else step.status
    text = unwrapped(step.content)
    said = has_priorities and (step.priority != MEDIUM or text.startswith("("))
    return f"[{box}] {f'({step.priority}) ' if said else ''}{text} {{{step.id}}}"


def _edited(text: str, state: PlanState) -> Iterator[_Edited]:
    known = {step.id for step in state.steps}
    has_priorities = kind_of(state.plan).has_priorities
    seen: set[str] = set()
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = _LINE.match(line.strip().removeprefix("- "))
        words = match["text"] if match else ""
        bracket = _PRIORITY.match(words) if has_priorities else None
        content = words[bracket.end() :] if bracket else words
        if match is None or not content:
            raise UneditableText(
                f"line {number}: a step looks like `[ ] its text {{s1}}`, and this is {line.strip()!r}"
            )
        if match["id"] is not None and match["id"] not in known:
            raise UneditableText(f"line {number}: there is no step {match['id']}; leave the id out for a new step")
        if match["id"] in seen:
            raise UneditableText(f"line {number}: the step {match['id']} is there twice")
        seen |= {match["id"]} if match["id"] else set()
        box = match["box"].strip() or " "
        row = BOXES.get(box)
        status = row.word if row else canonical(box)
        yield _Edited(match["id"], content, status, bracket[1] if bracket else MEDIUM)


def _changes_of(line: _Edited, step: Step) -> Iterator[StepChange]:
    if line.content != unwrapped(step.content):
        yield RewordStep(step.id, line.content)
    if line.status != canonical(step.status):
        yield SetStatus(step.id, line.status)
    if line.priority != step.priority:
        yield SetPriority(step.id, line.priority)
