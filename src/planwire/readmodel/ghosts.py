"""Ghosts: the places of steps that people suggest to add or to move."""

from collections.abc import Sequence

from planwire.model.records import Remark
from planwire.model.step_changes import MoveStep
from planwire.model.steps import PlanState
from planwire.readmodel.annotations import Annotations
from planwire.readmodel.card import Ghost, StepRow
from planwire.steering.overlay import Overlay


def added_steps(rows: tuple[StepRow, ...], over: Annotations) -> tuple[Ghost, ...]:
    """The suggested steps with their places. A new step comes after everything nested in the step before it."""
    places = {row.id: place for place, row in enumerate(rows)} if over.added else {}
    ghosts = []
    for after, change in over.added:
        at = len(rows) - 1 if after is None else places[after] if after else -1
        depth = rows[at].depth if after else 0
        while after and at + 1 < len(rows) and rows[at + 1].depth > depth:
            at += 1
        ghosts.append(Ghost(after, rows[at].id if at >= 0 else "", depth, change))
    return tuple(ghosts)


def moved_steps(state: PlanState, suggestions: Sequence[Remark], over: Annotations) -> tuple[Ghost, ...]:
    """The suggested places of steps, in the order of the plan with all suggestions applied. A suggestion of several
    moves is about the step of the first one; the other moves make room for it."""
    moves: dict[str, tuple[MoveStep, ...]] = {}
    for each in suggestions:
        way = tuple(change for change in each.changes if isinstance(change, MoveStep))
        if way and way[0].step in over.steps:
            moves[way[0].step] = way
    if not moves:
        return ()
    ghosts, behind, carried = [], "", -1
    for step in Overlay.of(state, suggestions).steps:
        if step.id in moves:
            way, carried = moves[step.id], step.depth
            change = next(each for each in reversed(over.steps[step.id]) if each.kind == "move")
            before = way[-1].step if len(way) > 1 and way[-1].after == step.id else None
            ghosts.append(Ghost(way[0].after, behind, step.depth, change, step.id, before))
        elif carried < 0 or step.depth <= carried:  # nested steps move along
            behind, carried = step.id, -1
    return tuple(ghosts)
