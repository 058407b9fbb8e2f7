"""The difference between two states of a plan: enough to animate it, and to make the later plan from the earlier."""

from bisect import bisect_left
from collections.abc import Sequence
from itertools import compress, count
from operator import ne

from msgspec import Struct
from msgspec.structs import replace

from planwire.model.plan import Entry, ItemsPlan, Plan
from planwire.model.steps import PlanState, Step


class Added(Struct, frozen=True):
    """A new step, at its place in the later plan. `entry` is None in a markdown text."""

    step: Step
    at: int
    entry: Entry | None = None


class Removed(Struct, frozen=True):
    """A step that is gone, at its place in the earlier plan."""

    step: Step
    at: int


class Moved(Struct, frozen=True):
    """A step that overtook others: its places in the earlier and the later plan."""

    step: Step
    before: int
    at: int


class Changed(Struct, frozen=True):
    """One property of a step that stayed: its text, status or priority, at its place in the later plan."""

    step: Step
    at: int
    before: str
    after: str


class Rewritten(Struct, frozen=True):
    """An entry whose invisible fields changed (`_meta`, fields outside the protocol)."""

    at: int
    entry: Entry


class Diff(Struct, frozen=True):
    """All changes by kind. `frame` is the later plan without its entries, if anything besides entries changed."""

    added: tuple[Added, ...] = ()
    removed: tuple[Removed, ...] = ()
    moved: tuple[Moved, ...] = ()
    reworded: tuple[Changed, ...] = ()
    status: tuple[Changed, ...] = ()
    priority: tuple[Changed, ...] = ()
    rewritten: tuple[Rewritten, ...] = ()
    frame: Plan | None = None

    def __bool__(self) -> bool:
        return self != _NOTHING


_NOTHING = Diff()


def compare(before: PlanState | None, after: PlanState) -> Diff:
    """The difference between two states of one plan; `before` is None for a new plan."""
    if before is None:
        added = tuple(Added(step, at, _entry(after, at)) for at, step in enumerate(after.steps))
        return Diff(added=added, frame=after.plan)
    stayed, added, removed, moved = _align(before, after)
    reworded: list[Changed] = []
    status: list[Changed] = []
    priority: list[Changed] = []
    rewritten: list[Rewritten] = []
    for place, at in stayed:
        old, new = before.steps[place], after.steps[at]
        if old.content != new.content:
            reworded.append(Changed(new, at, old.content, new.content))
        if old.status != new.status:
            status.append(Changed(new, at, old.status, new.status))
        if old.priority != new.priority:
            priority.append(Changed(new, at, old.priority, new.priority))
        entry = _entry(after, at)
        if entry is not None and entry != _visibly_changed(_entry(before, place), old, new):
            rewritten.append(Rewritten(at, entry))
    return Diff(
        added,
        removed,
        moved,
        tuple(reworded),
        tuple(status),
        tuple(priority),
        tuple(rewritten),
        _changed_frame(before.plan, after.plan),
    )


def _changed_frame(before: Plan, after: Plan) -> Plan | None:
    """The later plan without its entries; None if only entries differ."""
    if not (isinstance(before, ItemsPlan) and isinstance(after, ItemsPlan)):
        return None if before == after else after
    if (before.id, before.meta, before.extra) == (after.id, after.meta, after.extra):
        return None
    return replace(after, entries=())


def _entry(state: PlanState, at: int) -> Entry | None:
    return state.plan.entries[at] if isinstance(state.plan, ItemsPlan) else None


def _visibly_changed(entry: Entry | None, old: Step, new: Step) -> Entry | None:
    """The entry as the visible changes from one step to the other would leave it."""
    if entry is None:
        return None
    priority = entry.priority if old.priority == new.priority else new.priority
    return Entry(new.content, priority, new.status, entry.meta, entry.extra)


def _align(
    before: PlanState, after: PlanState
) -> tuple[Sequence[tuple[int, int]], tuple[Added, ...], tuple[Removed, ...], tuple[Moved, ...]]:
    """The steps that stayed (as places before and after), came, left, and overtook others. If no step came, left or
    moved, only those that changed are among the ones that stayed."""
    olds, news = before.steps, after.steps
    if [step.id for step in olds] == [step.id for step in news]:
        changed = compress(count(), map(ne, _rows(before), _rows(after)))
        return [(at, at) for at in changed], (), (), ()
    places = {step.id: place for place, step in enumerate(olds)}
    stayed = [(places[step.id], at) for at, step in enumerate(news) if step.id in places]
    kept = {step.id for step in news}
    in_order = _longest_rising([place for place, _ in stayed])
    return (
        stayed,
        tuple(Added(step, at, _entry(after, at)) for at, step in enumerate(news) if step.id not in places),
        tuple(Removed(step, place) for place, step in enumerate(olds) if step.id not in kept),
        tuple(Moved(news[at], place, at) for place, at in stayed if place not in in_order),
    )


def _rows(state: PlanState) -> Sequence[Entry | Step]:
    return state.plan.entries if isinstance(state.plan, ItemsPlan) else state.steps


def _longest_rising(places: list[int]) -> set[int]:
    """The largest set of places that kept their order: everything else has moved (patience sorting)."""
    tails: list[int] = []
    tail_at: list[int] = []
    previous: list[int] = []
    for index, place in enumerate(places):
        pile = bisect_left(tails, place)
        previous.append(tail_at[pile - 1] if pile else -1)
        tails[pile : pile + 1] = [place]
        tail_at[pile : pile + 1] = [index]
    rising: set[int] = set()
    index = tail_at[-1] if tail_at else -1
    while index >= 0:
        rising.add(places[index])
        index = previous[index]
    return rising
