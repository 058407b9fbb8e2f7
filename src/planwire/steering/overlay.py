"""The steps of an agent's plan with people's suggestions laid over it: statuses, texts, priorities and places.

Steps are neither added nor removed here, so that every change that fits the plan also fits its overlay. A markdown text
is not rewritten for it: a text with a thousand steps takes a tenth of a second to parse, and a plan can have a hundred
suggestions.
"""

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from planwire.model.kinds import prose_of
from planwire.model.markdown import parse
from planwire.model.records import Remark
from planwire.model.statuses import canonical
from planwire.model.step_changes import AddStep, MoveStep, RemoveStep, RewordStep, SetPriority, SetStatus, StepChange
from planwire.model.steps import PlanState, Step


class Overlay(Struct, frozen=True):
    """Steps in their suggested order. `parents` maps the id of each step to the step that it is nested in."""

    steps: tuple[Step, ...]
    parents: dict[str, str | None]

    @classmethod
    def of(cls, state: PlanState, suggestions: Iterable[Remark] = ()) -> "Overlay":
        """The steps of a plan with these suggestions applied, the oldest first."""
        overlay = cls(state.steps, _parents(state))
        return overlay.after(change for each in suggestions for change in each.changes)

    @property
    def order(self) -> list[str]:
        """The ids of the steps."""
        return [step.id for step in self.steps]

    def after(self, changes: Iterable[StepChange]) -> "Overlay":
        """The overlay with more changes. Changes to steps that the plan lacks are ignored."""
        overlay = self
        for change in changes:
            overlay = overlay._changed(change)
        return overlay

    def news(self, changes: Iterable[StepChange]) -> tuple[StepChange, ...]:
        """The changes that make a difference when made in order; none if they undo each other. An added or removed step
        always makes one."""
        news: list[StepChange] = []
        overlay = self
        for change in changes:
            after = overlay._changed(change)
            if isinstance(change, AddStep | RemoveStep) or after != overlay:
                news.append(change)
            overlay = after
        comes_or_goes = any(isinstance(change, AddStep | RemoveStep) for change in news)
        return tuple(news) if comes_or_goes or overlay != self else ()

    def _changed(self, change: StepChange) -> "Overlay":
        match change:
            case MoveStep():
                return self._moved(change)
            case SetStatus(step=step, status=status):
                steps = (
                    replace(each, status=status)
                    if each.id == step and canonical(each.status) != canonical(status)
                    else each
                    for each in self.steps
                )
            case RewordStep(step=step, content=content):
                steps = (replace(each, content=content) if each.id == step else each for each in self.steps)
            case SetPriority(step=step, priority=priority):
                steps = (replace(each, priority=priority) if each.id == step else each for each in self.steps)
            case _:
                return self
        return Overlay(tuple(steps), self.parents)

    def _moved(self, move: MoveStep) -> "Overlay":
        """Move a step, with everything nested in it, after another step and everything nested in that."""
        ids = self.order
        if move.step not in ids or (move.after and move.after not in ids):
            return self
        family = self._family(move.step)
        anchor = move.after or ids[0]
        if anchor in family:
            return self
        others = [step for step in self.steps if step.id not in family]
        place = 0
        if move.after:
            behind = self._family(move.after)
            place = max(at for at, step in enumerate(others) if step.id in behind) + 1
        deeper = self.steps[ids.index(anchor)].depth - self.steps[ids.index(move.step)].depth
        moved = [replace(step, depth=step.depth + deeper) for step in self.steps if step.id in family]
        parents = {**self.parents, move.step: self.parents[anchor]}
        return Overlay((*others[:place], *moved, *others[place:]), parents)

    def _family(self, step: str) -> set[str]:
        """A step and everything nested in it."""
        family = {step}
        for each in self.steps:
            if self.parents[each.id] in family:
                family.add(each.id)
        return family


def _parents(state: PlanState) -> dict[str, str | None]:
    parents: dict[str, str | None] = {step.id: None for step in state.steps}
    text = prose_of(state.plan)
    if text is None:
        return parents
    around: list[tuple[int, str]] = []
    for task, step in zip(parse(text).tasks, state.steps, strict=True):
        first, end = task.item
        while around and around[-1][0] <= first:
            around.pop()
        if around:
            parents[step.id] = around[-1][1]
        around.append((end, step.id))
    return parents
