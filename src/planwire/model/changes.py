"""Changes of single steps: a delta instead of the whole list again.

`apply_changes` gives the plan with all the changes made, in order, or refuses all of them. Ids stay with their steps,
and a step that is added gets an id that the plan never had.
"""

from collections.abc import Iterable

from msgspec.structs import replace

from planwire.errors import PlanError, UnknownStep
from planwire.model import markdown
from planwire.model import task_edits as edit
from planwire.model.events import AddStep, MoveStep, RemoveStep, RewordStep, SetPriority, SetStatus, StepChange
from planwire.model.plan import Entry, ItemsPlan, MarkdownPlan, Plan
from planwire.model.steps import PlanState, restate

__all__ = ["apply_changes", "mark"]


def apply_changes(state: PlanState, changes: Iterable[StepChange]) -> PlanState:
    """The state after the changes. If one of them can't be made, none is."""
    for change in changes:
        match state.plan:
            case ItemsPlan():
                state = _change_list(state, state.plan, change)
            case MarkdownPlan():
                state = _change_text(state, state.plan, change)
            case _:
                raise PlanError(f"a plan of kind {state.plan.kind!r} has no steps that can be changed here")
    return state


def mark(state: PlanState, step_id: str, status: str) -> Plan:
    """The plan with one step's status changed; in a markdown text that is one character."""
    return apply_changes(state, [SetStatus(step_id, status)]).plan


def _change_list(state: PlanState, plan: ItemsPlan, change: StepChange) -> PlanState:
    ids: list[str | None] = [step.id for step in state.steps]
    entries = list(plan.entries)
    match change:
        case AddStep(content=content, priority=priority, status=status):
            place = _behind(state, change.after)
            entries.insert(place, Entry(content, priority, status))
            ids.insert(place, None)
        case MoveStep(step=step, after=after):
            place = _place(state, step)
            entry, step_id = entries.pop(place), ids.pop(place)
            to = _behind(state, after)
            to -= to > place
            entries.insert(to, entry)
            ids.insert(to, step_id)
        case RemoveStep(step=step):
            place = _place(state, step)
            del entries[place], ids[place]
        case SetStatus(step=step, status=status):
            place = _place(state, step)
            entries[place] = replace(entries[place], status=status)
        case RewordStep(step=step, content=content):
            place = _place(state, step)
            entries[place] = replace(entries[place], content=content)
        case SetPriority(step=step, priority=priority):
            place = _place(state, step)
            entries[place] = replace(entries[place], priority=priority)
    return restate(replace(plan, entries=tuple(entries)), ids, state)


def _change_text(state: PlanState, plan: MarkdownPlan, change: StepChange) -> PlanState:
    ids: list[str | None] = [step.id for step in state.steps]
    text = plan.content
    match change:
        case AddStep(content=content, status=status):
            place = _behind(state, change.after, text)
            text = edit.add_task(text, _anchor(state, change.after), content, status)
            ids.insert(place, None)
        case MoveStep(step=step, after=after):
            place = _place(state, step)
            size = edit.family(text, place)
            to = _behind(state, after, text)
            text = edit.move_task(text, place, _anchor(state, after))
            moved = ids[place : place + size]
            del ids[place : place + size]
            to -= size if to > place else 0
            ids[to:to] = moved
        case RemoveStep(step=step):
            place = _place(state, step)
            size = edit.family(text, place)
            text = edit.remove_task(text, place)
            del ids[place : place + size]
        case SetStatus(step=step, status=status):
            text = markdown.mark(text, _place(state, step), status)
        case RewordStep(step=step, content=content):
            text = edit.reword_task(text, _place(state, step), content)
        case SetPriority():
            raise PlanError("steps of a markdown plan have no priority: put it into their text")
    return restate(replace(plan, content=text), ids, state)


def _place(state: PlanState, step_id: str) -> int:
    for place, step in enumerate(state.steps):
        if step.id == step_id:
            return place
    known = ", ".join(step.id for step in state.steps) or "none"
    raise UnknownStep(f"the plan has no step {step_id!r}; its steps are: {known}")


def _anchor(state: PlanState, after: str | None) -> int | None:
    """The place of the step that a step goes behind; None is the beginning."""
    if after is None:
        return _last_outermost(state)
    return _place(state, after) if after else None


def _last_outermost(state: PlanState) -> int | None:
    return max((place for place, step in enumerate(state.steps) if step.depth == 0), default=None)


def _behind(state: PlanState, after: str | None, text: str | None = None) -> int:
    """Where a step goes that is to stand behind another one and, in a text, behind all that is nested in it."""
    if after is None:
        return len(state.steps)
    if not after:
        return 0
    place = _place(state, after)
    return place + (1 if text is None else edit.family(text, place))
