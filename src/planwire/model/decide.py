"""What a writer decides before it writes, so that no fold has to: ids, and whatever a comparison of texts says.

`decided` completes an event on the newest state of its session. The event then says which step is which, what its new
steps and remarks are called, which remarks a plan closes, and whether it rewords the plan. Folding only reads that, so
the rules here can get better for ever without changing what an old journal means.
"""

from collections.abc import Iterator
from typing import TypeVar, assert_never

from msgspec.structs import replace

from planwire.errors import PlanError
from planwire.model.changes import apply_changes
from planwire.model.events import SELECTION, Event, FileSeen, PlanChanged, PlanSet, Remarked
from planwire.model.identity import step_ids
from planwire.model.markdown import unmarked
from planwire.model.names import id_number, new_id
from planwire.model.plan import MarkdownPlan
from planwire.model.records import AGENT, PlanRecord, Remark, SessionState
from planwire.model.remarks import FINISHED, FOLLOWED, GONE, REVISED
from planwire.model.seen import same_words
from planwire.model.statuses import canonical
from planwire.model.step_changes import AddStep, MoveStep, RemoveStep, RewordStep, SetPriority, SetStatus, StepChange
from planwire.model.steps import PlanState, restate
from planwire.model.wording import is_cleared, wording


def decided(state: SessionState, event: Event, by: str, suffix: str = "") -> Event:
    """The event with everything decided that its author left open. What it says already stays. New ids end with
    `suffix`, which a writer has that can't see what others write at the same time."""
    match event:
        case PlanSet(plan=plan):
            record = state.plans.get(plan.id)
            before = record.state if record else None
            ids = event.ids or step_ids(plan, before, suffix)
            return _with_consequences(replace(event, ids=ids), record, restate(plan, ids, before), by)
        case FileSeen():
            record = state.plans.get(event.plan_id)
            text = MarkdownPlan(event.plan_id, event.text)
            ids = event.ids or step_ids(text, record.state if record else None, suffix)
            seen = replace(event, ids=ids)
            return _with_consequences(seen, record, restate(text, ids, record.state if record else None), by)
        case PlanChanged():
            record = state.plans.get(event.plan_id)
            if record is None or record.removed:
                return event
            event = replace(event, changes=tuple(_named(record.state, event.changes, suffix)))
            try:
                after = apply_changes(record.state, event.changes)
            except PlanError:
                return event
            return _with_consequences(event, record, after, by)
        case Remarked() if not id_number("r", event.id) or state.remark(event.id):
            return replace(event, id=new_id("r", state.remarked + 1, suffix), carried=False)
    return event


def _named(state: PlanState, changes: tuple[StepChange, ...], suffix: str) -> Iterator[StepChange]:
    """The changes, with an id for each new step."""
    born = state.born
    for change in changes:
        if isinstance(change, AddStep) and (not id_number("s", change.id) or _is_taken(state, change.id)):
            born += 1
            yield replace(change, id=new_id("s", born, suffix))
        else:
            yield change


def _is_taken(state: PlanState, step: str) -> bool:
    """Whether a step of the plan has this id, or ever had it."""
    return any(step in ids for ids in state.memory.owners.values())


_E = TypeVar("_E", PlanSet, PlanChanged, FileSeen)


def _with_consequences(event: _E, record: PlanRecord | None, after: PlanState, by: str) -> _E:
    """The event with what follows from the plan's new texts. Clearing a list says nothing, until there is another."""
    if record is None or is_cleared(after):
        return event
    before = record.cleared or record.state
    rewords = wording(before) != wording(after)
    if isinstance(event, FileSeen):  # nobody knows who wrote the file: it is the agent's plan
        by, rewords = AGENT, record.file is not None and unmarked(record.file) != unmarked(event.text)
    is_over = record.cleared is not None or not any(step.is_open for step in before.steps)
    closing = _Endings(before, after, is_revised=rewords and by == AGENT, is_over=is_over)
    closes = {each.id: how for each in record.open_remarks if (how := closing.of(each))}
    follows = {each.id: steps for each in record.open_remarks if by == AGENT and (steps := _following(each, after))}
    return replace(event, closes=closes, follows=follows, rewords=rewords)


def _following(remark: Remark, after: PlanState) -> tuple[str, ...]:
    """The chosen steps that stay chosen although they read differently: the agent knows of the choice, has begun with
    them, and only says the same in other words."""
    if remark.kind != SELECTION or remark.told is None:
        return ()
    from planwire.model.likeness import is_rephrased  # noqa: PLC0415  (see `identity`)

    begun = {step.id: step.content for step in after.steps if not step.is_open or step.is_current}
    return tuple(
        step
        for step, was in remark.about.items()
        if step in begun and not same_words(was, begun[step]) and is_rephrased(was, begun[step])
    )


def undecided(event: Event) -> Event:
    """The event as its author made it, to be decided on another state."""
    match event:
        case PlanSet() | FileSeen():
            return replace(event, ids=(), closes={}, follows={}, rewords=False)
        case PlanChanged():
            plain = (replace(each, id="") if isinstance(each, AddStep) else each for each in event.changes)
            return replace(event, changes=tuple(plain), closes={}, follows={}, rewords=False)
        case Remarked():
            return replace(event, id="")
    return event


class _Endings:
    """Which remarks a plan closes by becoming `after`, and how. After a list that is over, one without any of its steps
    is another plan: even what is kept in force of a step ends, or it would be in force again whenever its step is."""

    def __init__(self, before: PlanState, after: PlanState, *, is_revised: bool, is_over: bool) -> None:
        self._is_revised = is_revised
        ids = {step.id for step in before.steps}
        self._is_another = is_over and bool(ids and after.steps) and ids.isdisjoint(each.id for each in after.steps)
        self._over = {step.id for step in before.steps if not step.is_open}
        self._steps = after.steps
        self._places = {step.id: place for place, step in enumerate(after.steps)}
        self._texts = {step.content for step in after.steps}

    def of(self, remark: Remark) -> str | None:
        """How a remark is closed; None if it is not."""
        match remark.kind:
            case "suggestion":
                is_there = bool(remark.changes) and all(map(self._contains, remark.changes))
                return FOLLOWED if is_there else None
            case "selection":
                return FINISHED if all(self._is_done(step, remark.done) for step in remark.steps) else None
            case "request":
                return REVISED if remark.told and self._is_revised else None
            case "comment" if remark.step is not None and remark.told:
                return GONE if self._is_another else None if remark.kept else self._finishes(remark.step)
        return None

    def _is_open(self, step: str) -> bool:
        return step in self._places and self._steps[self._places[step]].is_open

    def _is_done(self, step: str, done: tuple[str, ...]) -> bool:
        return not self._is_open(step) if step in self._places else step in done

    def _finishes(self, step: str) -> str | None:
        if step not in self._places:
            return GONE
        return None if step in self._over or self._is_open(step) else FINISHED

    def _contains(self, change: StepChange) -> bool:
        """Whether the plan is as a suggested change would make it. A suggestion in words alone is never contained."""
        steps, places = self._steps, self._places
        match change:
            case AddStep(content=content) | RewordStep(content=content):  # under whichever id the agent put it
                return content in self._texts
            case RemoveStep(step=step):
                return step not in places
            case MoveStep(step=step, after=""):
                return places.get(step) == 0
            case MoveStep(step=step, after=after):
                return step in places and after in places and places[step] == places[after] + 1
            case SetStatus(step=step, status=status):
                return step in places and canonical(steps[places[step]].status) == canonical(status)
            case SetPriority(step=step, priority=priority):
                return step in places and steps[places[step]].priority == priority
            case _ as never:
                assert_never(never)
