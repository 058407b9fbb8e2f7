"""Changes of single steps: a delta instead of the whole list again.

`apply_changes` makes all the changes in order, or refuses all of them. Ids stay with their steps, and an added step
gets an id that the plan never had. `effective_changes` is the one rule for "this changes nothing", for tools and
people alike: a write without effect would still make a revision, and the next writer would be refused as stale.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final, TypeAlias, assert_never

from msgspec.structs import replace

from planwire.errors import PlanError, UnknownStep
from planwire.model import markdown, task_edits
from planwire.model.plan import Entry, FilePlan, ItemsPlan, MarkdownPlan, OtherPlan, Plan
from planwire.model.statuses import canonical
from planwire.model.step_changes import AddStep, MoveStep, RemoveStep, RewordStep, SetPriority, SetStatus, StepChange
from planwire.model.steps import PlanState, Step, restate


def apply_changes(state: PlanState, changes: Iterable[StepChange]) -> PlanState:
    """Make the changes in order. If one of them is impossible, raise `PlanError` and make none."""
    for run in _runs(changes):
        match state.plan:
            case ItemsPlan():
                state = _change_list(state, state.plan, run)
            case MarkdownPlan():
                state = _change_text(state, state.plan, run)
            case FilePlan() | OtherPlan():
                raise PlanError(f"a plan of kind {state.plan.kind!r} has no steps that can be changed here")
            case _ as never:
                assert_never(never)
    return state


def effective_changes(state: PlanState, changes: Iterable[StepChange]) -> tuple[StepChange, ...]:
    """The changes that make a visible difference when made in order; none if they undo each other.

    A status is the same under any of its spellings: `done` on a completed step is no change, nor is `medium` on an
    entry that leaves its priority out.
    """
    effective: list[StepChange] = []
    now = state
    for run in _runs(changes):
        after = apply_changes(now, run)
        news = _news(now, after, run)
        made = after if len(news) == len(run) else apply_changes(now, news)
        if made.plan != now.plan:
            effective += news
            now = made
    return tuple(effective) if now.plan != state.plan else ()


def mark(state: PlanState, step_id: str, status: str) -> Plan:
    """The plan with one step's status changed. In a markdown text, that changes one character."""
    return apply_changes(state, [SetStatus(step_id, status)]).plan


def place_of(state: PlanState, step_id: str) -> int:
    """The place of a step. Raises `UnknownStep`, listing the plan's steps, if there is no such step."""
    for place, step in enumerate(state.steps):
        if step.id == step_id:
            return place
    known = ", ".join(step.id for step in state.steps) or "none"
    raise UnknownStep(f"the plan has no step {step_id!r}; its steps are: {known}")


def last_outermost(steps: Sequence[Step]) -> int | None:
    """The place of the last step on the outermost level that has steps; None without steps.

    A step added at the end of a text follows it. That level need not be 0: all checkboxes may be nested in plain items.
    """
    outermost = min((step.depth for step in steps), default=0)
    return max((place for place, step in enumerate(steps) if step.depth == outermost), default=None)


#: Why the steps of a numbered list take no change.
NUMBERED: Final = (
    "its steps are a numbered list without checkboxes: set the plan again, with - [ ] before each step or as entries"
)

#: Changes made together: consecutive new statuses, or one other change. A text is parsed once per run, because people
#: tick off hundreds of steps at once.
_Run: TypeAlias = tuple[StepChange, ...]


def _runs(changes: Iterable[StepChange]) -> Iterator[_Run]:
    for are_statuses, group in groupby(changes, lambda change: isinstance(change, SetStatus)):
        run = tuple(group)
        yield from (run,) if are_statuses else ((change,) for change in run)


def _news(before: PlanState, after: PlanState, run: _Run) -> _Run:
    """The changes of a run that people can see; a change of spelling alone is none."""
    statuses = {step.id: canonical(step.status) for step in before.steps}
    news: list[StepChange] = []
    for change in run if after.plan != before.plan else ():
        match change:
            case SetStatus(step=step, status=status):
                is_same = statuses[step] == canonical(status)
                statuses[step] = canonical(status)
            case SetPriority(step=step, priority=priority):
                is_same = before.steps[place_of(before, step)].priority == priority
            case RewordStep(step=step, content=content):
                is_same = before.steps[place_of(before, step)].content == content
            case _:
                is_same = False
        if not is_same:
            news.append(change)
    return tuple(news)


def _marks(state: PlanState, run: Iterable[StepChange]) -> Iterator[tuple[int, str]]:
    """The places of steps, with their new statuses."""
    places = {step.id: place for place, step in enumerate(state.steps)}
    for change in run:
        if isinstance(change, SetStatus):
            yield places[change.step] if change.step in places else place_of(state, change.step), change.status


def _change_list(state: PlanState, plan: ItemsPlan, run: _Run) -> PlanState:
    ids: list[str | None] = [step.id for step in state.steps]
    entries = list(plan.entries)
    match change := run[0]:
        case AddStep(content=content, priority=priority, status=status):
            place = _behind(state, change.after)
            entries.insert(place, Entry(content, priority, status))
            ids.insert(place, change.id or None)
        case MoveStep(step=step, after=after):
            place = place_of(state, step)
            entry, step_id = entries.pop(place), ids.pop(place)
            to = _behind(state, after)
            to -= to > place
            entries.insert(to, entry)
            ids.insert(to, step_id)
        case RemoveStep(step=step):
            place = place_of(state, step)
            del entries[place], ids[place]
        case SetStatus():
            for place, status in _marks(state, run):
                entries[place] = replace(entries[place], status=status)
        case RewordStep(step=step, content=content):
            place = place_of(state, step)
            entries[place] = replace(entries[place], content=content)
        case SetPriority(step=step, priority=priority):
            place = place_of(state, step)
            entries[place] = replace(entries[place], priority=priority)
        case _ as never:
            assert_never(never)
    return restate(replace(plan, entries=tuple(entries)), ids, state)


def _change_text(state: PlanState, plan: MarkdownPlan, run: _Run) -> PlanState:
    ids: list[str | None] = [step.id for step in state.steps]
    text = plan.content
    if not all(step.status for step in state.steps):
        raise PlanError(NUMBERED)
    match change := run[0]:
        case AddStep(content=content, status=status):
            anchor = _anchor(state, change.after)
            ids.insert(_behind_family(text, anchor), change.id or None)
            text = task_edits.add_task(text, anchor, content, status)
        case MoveStep(step=step, after=after):
            place, anchor = place_of(state, step), _anchor(state, after)
            size, to = task_edits.family(text, place), _behind_family(text, anchor)
            text = task_edits.move_task(text, place, anchor)
            moved = ids[place : place + size]
            del ids[place : place + size]
            to -= size if to > place else 0
            ids[to:to] = moved
        case RemoveStep(step=step):
            place = place_of(state, step)
            size = task_edits.family(text, place)
            text = task_edits.remove_task(text, place)
            del ids[place : place + size]
        case SetStatus():
            text = markdown.mark(text, _marks(state, run))
        case RewordStep(step=step, content=content):
            text = task_edits.reword_task(text, place_of(state, step), content)
        case SetPriority():
            raise PlanError("steps of a markdown plan have no priority: put it into their text")
        case _ as never:
            assert_never(never)
    return restate(replace(plan, content=text), ids, state)


def _behind(state: PlanState, after: str | None) -> int:
    """The place after a step of a list. None is the end, "" the beginning."""
    if after is None:
        return len(state.steps)
    return place_of(state, after) + 1 if after else 0


def _anchor(state: PlanState, after: str | None) -> int | None:
    """The place of the step of a text to insert after; None for the beginning."""
    if after is None:
        return last_outermost(state.steps)
    return place_of(state, after) if after else None


def _behind_family(text: str, anchor: int | None) -> int:
    """The place after a step of a text and everything nested in it."""
    return 0 if anchor is None else anchor + task_edits.family(text, anchor)
