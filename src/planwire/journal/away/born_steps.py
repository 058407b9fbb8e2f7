"""The steps that waiting events add to plans, so that whoever names one of them means the same one in the end.

A step gets its id from the number of steps that its plan ever had. Others may add steps to the same plan meanwhile, so
once the waiting events are delivered, their steps may have other ids. Therefore an append that names such a step says
which event added it, and with what text (`WaitingStep`).
"""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from msgspec.structs import replace

from planwire.journal.away.records import WaitingStep
from planwire.journal.provisional import WaitingPlace
from planwire.model.events import Event, PlanChanged, PlanSet, Recorded, Remarked
from planwire.model.fold import fold
from planwire.model.plan import PlanId
from planwire.model.records import SessionState
from planwire.model.step_changes import AddStep, MoveStep, StepChange

__all__ = ["BornSteps", "RealStep", "named_steps", "with_real_steps"]

#: The real id of a plan's step; None if there is no such step.
RealStep: TypeAlias = Callable[[PlanId, str], str | None]


class BornSteps:
    """The steps that events of one session added. `state` is the session before those."""

    def __init__(self, state: SessionState) -> None:
        self.begun = state.seq
        self._state = state
        #: By plan and id: the number of the event, the step's text, and how many of its steps before it have that text.
        self._born: dict[tuple[PlanId, str], tuple[int, str, int]] = {}
        self._ids: dict[tuple[PlanId, int, str], list[str]] = {}

    @property
    def seq(self) -> int:
        """The last event that was looked at."""
        return self._state.seq

    def look(self, events: Iterable[Recorded]) -> None:
        """Find the steps that these events add, which follow those that were looked at before."""
        for each in events:
            before, self._state = self._state, fold(self._state, each)
            if self._state.plans is not before.plans:
                self._note(before, each.seq)

    def meant(
        self, named: Iterable[tuple[PlanId, str]], place: Callable[[int], WaitingPlace | None]
    ) -> list[WaitingStep]:
        """Which steps are meant by these ids, as far as waiting events added them. `place` says where an event is."""
        found: list[WaitingStep] = []
        for plan_id, step in named:
            if (born := self._born.get((plan_id, step))) and (where := place(born[0])):
                found.append(WaitingStep(plan_id, step, where, *born[1:]))
        return found

    def id_of(self, plan_id: PlanId, seq: int, content: str, nth: int) -> str | None:
        """The id of a step that an event added, or that was there already with that text."""
        ids = self._ids.get((plan_id, seq, content))
        if ids is None and (record := self._state.plans.get(plan_id)) is not None:
            ids = [step.id for step in record.state.steps if step.content == content]
        return ids[min(nth, len(ids) - 1)] if ids else None

    def _note(self, before: SessionState, seq: int) -> None:
        for plan_id, record in self._state.plans.items():
            was = before.plans.get(plan_id)
            if record.state.born > (was.state.born if was else 0):
                old = {step.id for step in was.state.steps} if was else ()
                for step in record.state.steps:
                    if step.id not in old:
                        ids = self._ids.setdefault((plan_id, seq, step.content), [])
                        self._born[plan_id, step.id] = (seq, step.content, len(ids))
                        ids.append(step.id)


def named_steps(event: Event) -> set[tuple[PlanId, str]]:
    """The steps that an event names, by their plan and id."""
    found: set[tuple[PlanId, str]] = set()

    def note(plan_id: PlanId, step: str) -> str:
        found.add((plan_id, step))
        return step

    with_real_steps(event, note)
    return found


def with_real_steps(event: Event, real: RealStep) -> Event:
    """An event with the real ids of the steps that it names. A change of a step that is not there is left out."""
    match event:
        case PlanChanged(plan_id=plan_id, changes=changes) if changes:
            return replace(event, changes=tuple(_changes(plan_id, changes, real)))
        case Remarked(plan_id=plan_id, step=step, steps=steps, changes=changes) if step or steps or changes:
            return replace(
                event,
                step=real(plan_id, step) if step else step,
                steps=tuple(found for each in steps if (found := real(plan_id, each))),
                changes=tuple(_changes(plan_id, changes, real)),
            )
        case PlanSet(parent=parent) if parent is not None and (found := real(parent.plan_id, parent.step)):
            return replace(event, parent=replace(parent, step=found))
    return event


def _changes(plan_id: PlanId, changes: Iterable[StepChange], real: RealStep) -> Iterator[StepChange]:
    for each in changes:
        after = real(plan_id, each.after) if isinstance(each, AddStep | MoveStep) and each.after else None
        if isinstance(each, AddStep):
            yield replace(each, after=after) if each.after else each
        elif step := real(plan_id, each.step):
            if not isinstance(each, MoveStep):
                yield replace(each, step=step)
            elif after or not each.after:
                yield replace(each, step=step, after=after or "")
