"""Moves up and down: a step and a number of places, as moves after other steps.

The journal knows one kind of move: to the place after another step, or to the beginning of the plan. So for a step to
become the first in a nested list, the step that was first must move after it. And each move past one neighbour can be
expressed in two ways, as a move of the step or of the neighbour, which matters where other moves are suggested already.
"""

from collections.abc import Sequence
from itertools import takewhile
from typing import TypeAlias

from planwire.model.step_changes import MoveStep
from planwire.model.steps import Step

#: Moves that together bring a step to its place.
Way: TypeAlias = tuple[MoveStep, ...]


def ways_to_move(steps: Sequence[Step], step: str, by: int) -> tuple[Way, ...]:
    """The ways to move a step `by` places down, or up if negative, among the steps of the same depth and parent. Empty
    if there is no step to pass. With fewer steps to pass, the step moves to the edge."""
    above, below = _siblings(steps, step, -1), _siblings(steps, step, 1)
    passed = (above if by < 0 else below)[: abs(by)]
    if not passed:
        return ()
    neighbour = passed[0]
    if by < 0:
        way = _up(steps, step, above, len(passed))
        other_way: Way = (MoveStep(neighbour, step),)
    else:
        way = (MoveStep(step, passed[-1]),)
        other_way = _up(steps, neighbour, [step, *above], 1)
    return (way, other_way) if len(passed) == 1 else (way,)


def way_before(steps: Sequence[Step], step: str, other: str, *, is_text: bool) -> Way:
    """The way to bring a step right before another one, into the other one's list. Moving it after the step above is
    not enough: in a text that step may be the parent, or the end of another list."""
    ids = [each.id for each in steps]
    if other == ids[0]:
        return (MoveStep(step, ""),)
    return (MoveStep(step, other), MoveStep(other, step)) if is_text else (MoveStep(step, ids[ids.index(other) - 1]),)


def _up(steps: Sequence[Step], step: str, above: list[str], places: int) -> Way:
    if places < len(above):
        return (MoveStep(step, above[places]),)
    first = above[-1]
    if first == steps[0].id:
        return (MoveStep(step, ""),)
    behind_it = MoveStep(first, step)
    return (behind_it,) if places == 1 else (MoveStep(step, first), behind_it)


def _siblings(steps: Sequence[Step], step: str, direction: int) -> list[str]:
    """The steps before or after one, nearest first, of the same depth and parent."""
    place = next(at for at, each in enumerate(steps) if each.id == step)
    depth = steps[place].depth
    around = reversed(steps[:place]) if direction < 0 else iter(steps[place + 1 :])
    return [each.id for each in takewhile(lambda each: each.depth >= depth, around) if each.depth == depth]
