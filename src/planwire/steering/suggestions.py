"""Suggestions for an agent's plan: how a new one combines with the open ones.

One rule holds for every act: a step has one open suggestion of each kind (a status, a text, a place, …). A newer one
replaces the one before it, whoever made that (`model.remarks`), and asking for what the plan says anyway only withdraws
it. An agent that is told two places for one step could follow neither.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from planwire.model.changes import effective_changes
from planwire.model.records import Remark
from planwire.model.remarks import superseded
from planwire.model.statuses import canonical
from planwire.model.step_changes import AddStep, MoveStep, RemoveStep, SetStatus, StepChange
from planwire.model.steps import PlanState
from planwire.steering.moves import Way
from planwire.steering.overlay import Overlay

_Suggestions = tuple[Remark, ...]


def settled(
    state: PlanState, suggestions: _Suggestions, changes: tuple[StepChange, ...]
) -> tuple[tuple[StepChange, ...], _Suggestions]:
    """The changes to suggest, and the open suggestions that they supersede. Both are empty if all is as wanted.

    A change that the plan already contains is not suggested, unless it is a move: the person moved the step within the
    suggested order, which counts for more than its place in the plan.
    """
    needed = effective_changes(state, changes)
    if not suggestions:
        return needed, ()
    news = Overlay.of(state, suggestions).news(changes)
    news = tuple(each for each in news if not _is_repeated(each, suggestions))
    old = superseded(news, suggestions)
    rest = Overlay.of(state, _without(suggestions, old))
    return rest.news(each for each in news if each in needed or isinstance(each, MoveStep)), old


def compared(change: StepChange) -> StepChange:
    """A change with the table's word for its status, so that spellings compare as equal."""
    return replace(change, status=canonical(change.status)) if isinstance(change, SetStatus | AddStep) else change


def undone(state: PlanState, suggestions: _Suggestions, ways: Sequence[Way]) -> _Suggestions:
    """The last suggested move, if a further move would only undo it; empty otherwise."""
    wanted = Overlay.of(state, suggestions).after(ways[0]).order
    named = {step for way in ways for move in way for step in (move.step, move.after)}
    for each in reversed(suggestions):
        moved = {change.step for change in each.changes if isinstance(change, MoveStep)}
        is_move = bool(moved) and all(isinstance(change, MoveStep) for change in each.changes)
        if is_move and moved & named and Overlay.of(state, _without(suggestions, (each,))).order == wanted:
            return (each,)
    return ()


def best_way(state: PlanState, suggestions: _Suggestions, ways: Sequence[Way]) -> Way:
    """The way to move a step that leads to the wanted order, together with the suggestions that it leaves open. A way
    that moves nothing in the plan itself would look to the agent as if it was followed already, so a way that does, or
    that supersedes another move, is better. After many moves there are orders that no single way leads to; then the
    first way at least puts the step after the right one."""
    if not suggestions:
        return ways[0]
    plan, wanted = Overlay.of(state), Overlay.of(state, suggestions).after(ways[0]).order
    better: list[Way] = []
    good: list[Way] = []
    for way in ways:
        old = superseded(way, suggestions)
        if Overlay.of(state, _without(suggestions, old)).after(way).order == wanted:
            (better if old or plan.news(way) else good).append(way)
    return [*better, *good, *ways][0]


def _without(suggestions: _Suggestions, old: _Suggestions) -> _Suggestions:
    return tuple(each for each in suggestions if each not in old)


def _is_repeated(change: StepChange, suggestions: _Suggestions) -> bool:
    """Whether the same new step, or the same removal, is suggested already."""
    if not isinstance(change, AddStep | RemoveStep):
        return False
    return any(compared(change) == compared(each) for suggestion in suggestions for each in suggestion.changes)
