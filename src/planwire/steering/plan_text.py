"""A plan as text that people edit, and the edited text as changes.

    [x] (high) Read the config {s1}
    [~] Write the parser {s2}
    [ ] Check it on the old files

One step per line. `{s1}` is the step's id: a line without an id is a new step, a missing id means that its step is
removed, and the order of the lines is the order of the steps. A box holds the character of a status, or its word.
Brackets hold a priority, in a plan whose steps have one; other words in brackets are text. Lines that begin with # are
comments. An unedited line changes nothing, whatever an agent wrote into its step.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Final

from msgspec import Struct

from planwire.errors import PlanError, UneditableText
from planwire.model import diff
from planwire.model.changes import apply_changes
from planwire.model.kinds import kind_of
from planwire.model.plan import MEDIUM, PRIORITIES
from planwire.model.statuses import BOXES, canonical
from planwire.model.step_changes import AddStep, MoveStep, RemoveStep, RewordStep, SetPriority, SetStatus, StepChange
from planwire.model.steps import PlanState, Step
from planwire.model.text import unwrapped
from planwire.steering.words import step_of

_LINE: Final = re.compile(r"^\[(?P<box>[^\]]*)\]\s*(?P<text>.*)$")
_ID: Final = re.compile(r"\{(s\d+)\}$")
_PRIORITY: Final = re.compile(r"^\(([^)]*)\)(?:\s+|$)")


class _Edited(Struct, frozen=True):
    id: str | None
    content: str
    status: str
    priority: str


class Merge(Struct, frozen=True):
    """Changes for a plan that changed meanwhile: those that still fit it, and those for the person to decide again."""

    changes: tuple[StepChange, ...] = ()
    disputed: tuple[StepChange, ...] = ()


def as_text(state: PlanState) -> str:
    """The steps, one per line."""
    if not state.steps:
        raise PlanError("This plan has no steps to edit: comment on it instead.")
    has_priorities = kind_of(state.plan).has_priorities
    return "".join(_line(step, has_priorities) + "\n" for step in state.steps)


def changes_in(text: str, state: PlanState) -> tuple[StepChange, ...]:
    """The changes between a state and its edited text. Nested steps are removed before those that they are nested in.

    New steps come last, from the last to the first, each after the known step above it: the id of a new step depends on
    what others add meanwhile, so none can be named.
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
    """Carry changes to an earlier state over to the plan as it is now.

    Changes to a step that another writer reworded or removed are disputed. A new status disputes nothing: agents tick
    off their lists all the time.
    """
    difference = diff.compare(before, now)
    theirs = {each.step.id for each in difference.removed} | {each.step.id for each in difference.reworded}
    made = [each for each in changes if step_of(each) not in theirs]
    try:
        apply_changes(now, made)
    except PlanError:
        made = list(_fitting(made, now))
    return Merge(tuple(made), tuple(each for each in changes if each not in made) if len(made) < len(changes) else ())


def _fitting(changes: Iterable[StepChange], now: PlanState) -> Iterator[StepChange]:
    """The changes that a plan can take when made in order."""
    for change in changes:
        with suppress(PlanError):
            now = apply_changes(now, [change])
            yield change


def _line(step: Step, has_priorities: bool) -> str:
    box = step.known.box if step.known else step.status
    text = unwrapped(step.content)
    said = has_priorities and (step.priority != MEDIUM or text.startswith("("))
    priority = f"({step.priority}) " if said else ""
    return unwrapped(f"[{box}] {priority}{text} {{{step.id}}}")


def _edited(text: str, state: PlanState) -> Iterator[_Edited]:
    known = {step.id: step for step in state.steps}
    has_priorities = kind_of(state.plan).has_priorities
    priorities = {*PRIORITIES, *(step.priority for step in state.steps)} if has_priorities else set()
    seen: set[str] = set()
    for number, line in enumerate(map(str.strip, text.splitlines()), start=1):
        if not line or line.startswith("#"):
            continue
        found = _ID.search(line)
        step = known.get(found[1]) if found else None
        if found and step is None:
            raise UneditableText(f"line {number}: there is no step {found[1]}; leave the id out for a new step")
        if step and step.id in seen:
            raise UneditableText(f"line {number}: step {step.id} appears twice")
        if step:
            seen.add(step.id)
        if step and line == _line(step, has_priorities):
            yield _Edited(step.id, unwrapped(step.content), canonical(step.status), step.priority)
        else:
            yield _parsed(number, line, step, priorities)


def _parsed(number: int, line: str, step: Step | None, priorities: set[str]) -> _Edited:
    match = _LINE.match(_ID.sub("", line.removeprefix("- ")).strip())
    words = match["text"] if match else ""
    bracket = _PRIORITY.match(words)
    priority = bracket[1] if bracket and bracket[1] in priorities else None
    content = words[bracket.end() :] if bracket and priority else words
    if match is None or not content:
        raise UneditableText(f"line {number}: expected a step such as `[ ] its text {{s1}}`, found {line!r}")
    box = match["box"].strip() or " "
    row = BOXES.get(box)
    return _Edited(step.id if step else None, content, row.word if row else canonical(box), priority or MEDIUM)


def _changes_of(line: _Edited, step: Step) -> Iterator[StepChange]:
    if line.content != unwrapped(step.content):
        yield RewordStep(step.id, line.content)
    if line.status != canonical(step.status):
        yield SetStatus(step.id, line.status)
    if line.priority != step.priority:
        yield SetPriority(step.id, line.priority)
