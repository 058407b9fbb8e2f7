"""The life of a remark: how it begins, who hears it, and what ends it.

| remark | ends when |
|---|---|
| comment on a step | it was told, and then the step is completed, cancelled or gone; or it is answered |
| comment on the plan or a passage, and any comment kept in force | a person closes it; its plan ends |
| comment kept in force of a step | the same; or its list is over, and another one follows |
| request for changes | it was told, and then its agent changes texts or steps, or another proposal comes |
| selection | a newer one of the same plan; all its steps are finished or gone |
| suggestion | the plan contains it; a newer one of the same kind for the same steps |

A person can close and reopen any of them. A comment that its agent has not heard outlives its plan until it is told.
`fold` calls the functions here; they depend only on the states around an event.
"""

from collections.abc import Callable, Container, Iterable, Mapping
from typing import Final

from msgspec.structs import replace

from planwire.model.events import (
    COMMENT,
    REQUEST,
    SELECTION,
    SUGGESTION,
    FileSeen,
    PlanChanged,
    PlanSet,
    Recorded,
    Remarked,
)
from planwire.model.names import new_id
from planwire.model.records import AGENT, Closing, Remark, RemarkAnswer, Telling
from planwire.model.step_changes import AddStep, StepChange
from planwire.model.steps import PlanState

#: How a remark ends.
WITHDRAWN: Final = "withdrawn"
ANSWERED: Final = "answered"
FINISHED: Final = "finished"
GONE: Final = "gone"
REVISED: Final = "revised"
SUPERSEDED: Final = "superseded"
FOLLOWED: Final = "followed"
PLAN_ENDED: Final = "plan_ended"
#: A selection ends because a person chose all steps again.
RUN_ALL: Final = "run_all"

#: How many closed remarks of a plan the state holds, the newest first. The journal has them all.
MOST_CLOSED: Final = 32
MOST_CLOSED_BY_PEOPLE: Final = 256
_BY_PEOPLE: Final = (WITHDRAWN, SUPERSEDED, RUN_ALL)

Remarks = tuple[Remark, ...]


def made(remarks: Remarks, new: Remark, recorded: Recorded) -> Remarks:
    """The remarks of a plan with one more, new or reopened, which may supersede others. Comments never supersede each
    other."""
    old: Iterable[Remark] = ()
    if new.kind == SELECTION:
        old = [each for each in remarks if each.kind == SELECTION and each.is_open]
    elif new.kind == SUGGESTION:
        old = superseded(new.changes, [each for each in remarks if each.kind == SUGGESTION and each.is_open])
    ids = {each.id for each in old}
    closing = Closing(recorded.seq, recorded.at, recorded.author, SUPERSEDED, new.id)
    return _bounded((*(replace(each, closed=closing) if each.id in ids else each for each in remarks), new))


def remark_of(recorded: Recorded, event: Remarked, number: int) -> Remark:
    """The remark that an event makes. It gets this number if its writer gave it no id."""
    return Remark(
        id=event.id or new_id("r", number),
        seq=recorded.seq,
        at=recorded.at,
        by=recorded.author,
        plan_id=event.plan_id,
        kind=event.kind,
        text=event.text,
        revision=event.revision,
        step=event.step,
        steps=event.steps,
        changes=event.changes,
        review=event.review,
        kept=event.kept,
        about=event.about,
        passage=event.passage,
    )


def close(remarks: Remarks, remark_id: str, closing: Closing) -> Remarks:
    """The remarks after a person closed one of them."""
    return _changed(remarks, remark_id, lambda each: replace(each, closed=each.closed or closing))


def reopened(remarks: Remarks, is_meant: Callable[[Remark], bool], recorded: Recorded) -> Remarks:
    """The remarks with some reopened. The agent is told of each again, as it may no longer heed them."""
    for each in remarks:
        if each.closed and is_meant(each):
            others = tuple(other for other in remarks if other.id != each.id)
            remarks = made(others, replace(each, closed=None, told=None, offered=None), recorded)
    return remarks


def answered(remarks: Remarks, remark_id: str, answer: RemarkAnswer, closing: Closing) -> Remarks:
    """The remarks after an answer to one of them. The answer ends a comment on a step, unless it is kept in force."""

    def with_answer(remark: Remark) -> Remark:
        ends = remark.kind == COMMENT and remark.step is not None and not remark.kept
        closed = remark.closed or (closing if ends else None)
        return replace(remark, answers=(*remark.answers, answer), closed=closed)

    return _changed(remarks, remark_id, with_answer)


def offered(remarks: Remarks, ids: Container[str], offer: Telling) -> Remarks:
    """The remarks with some on their way to the reader."""
    return tuple(replace(each, offered=offer) if each.id in ids else each for each in remarks)


def told(remarks: Remarks, ids: Container[str], telling: Telling, stale: Mapping[str, tuple[str, ...]]) -> Remarks:
    """The remarks after the reader got some of them, and of some which of their steps are `stale`. The first telling
    counts, with two exceptions. A telling to a child that resumed its work replaces one to the lead, which heard the
    remark in the child's place. And one that other steps are stale replaces what was told before."""

    def after(remark: Remark) -> Remark:
        if remark.id not in ids:
            return remark
        known, now = remark.told, replace(telling, stale=stale.get(remark.id, ()))
        is_for_child = known is not None and known.reader == AGENT != telling.reader
        is_first = known is None or is_for_child or now.stale != known.stale
        return replace(remark, told=now if is_first else known, offered=None)

    return tuple(map(after, remarks))


def refused(remarks: Remarks, request: str) -> Remarks:
    """The remarks after the reader refused a request: its contents were not told, and are not on their way."""

    def without(telling: Telling | None) -> Telling | None:
        return None if telling and telling.request == request else telling

    return tuple(replace(each, told=without(each.told), offered=without(each.offered)) for each in remarks)


def closed_with_plan(remarks: Remarks, closing: Closing, of_request: Closing | None = None) -> Remarks:
    """The remarks of a plan that ends. `of_request` is how requests for changes end, if not by `closing`. A comment or
    request that the agent has not heard stays open until it is told."""

    def ended(remark: Remark) -> Remark:
        if remark.closed or not (remark.told or remark.kind in (SELECTION, SUGGESTION)):
            return remark
        return replace(remark, closed=of_request if of_request and remark.kind == REQUEST else closing)

    return _bounded(tuple(map(ended, remarks)))


def after_change(
    remarks: Remarks, event: PlanSet | PlanChanged | FileSeen, state: PlanState, recorded: Recorded
) -> Remarks:
    """The remarks of a plan after an event that left it in this state: some closed, each in its way, and choices of
    steps about the words of today, where the event says that they follow, and with the steps that are done. A step that
    is open again is not."""
    if all(each.closed for each in remarks):
        return remarks
    steps = {step.id: step for step in state.steps}

    def after(remark: Remark) -> Remark:
        if remark.closed:
            return remark
        if how := event.closes.get(remark.id):
            return replace(remark, closed=Closing(recorded.seq, recorded.at, recorded.author, how))
        if remark.kind != SELECTION:
            return remark
        about = {step: steps[step].content for step in event.follows.get(remark.id, ()) if step in steps}
        done = [each for each in remark.steps if (not steps[each].is_open if each in steps else each in remark.done)]
        return replace(remark, about=remark.about | about, done=tuple(done))

    return _bounded(tuple(map(after, remarks)))


def superseded(changes: Iterable[StepChange], suggestions: Iterable[Remark]) -> Remarks:
    """The suggestions that newer changes supersede: for each of a suggestion's changes there is a newer one of the same
    kind for the same step. A suggestion of several changes is superseded as a whole or not at all: half of it would no
    longer be what the person suggested."""
    newer = {_subject(change) for change in changes} - {None}
    return tuple(each for each in suggestions if each.changes and newer.issuperset(map(_subject, each.changes)))


def _subject(change: StepChange) -> tuple[type, str] | None:
    """The step and the property that a change is for. None for a new step, which never supersedes another."""
    return None if isinstance(change, AddStep) else (type(change), change.step)


def _changed(remarks: Remarks, remark_id: str, change: Callable[[Remark], Remark]) -> Remarks:
    return _bounded(tuple(change(each) if each.id == remark_id else each for each in remarks))


def _bounded(remarks: Remarks) -> Remarks:
    """All open remarks, and the last closed ones. More of those that a person closed are kept, because the agent may
    still have to be told that they ended."""
    closed = sorted((each for each in remarks if each.closed), key=_end_of)
    if len(closed) <= MOST_CLOSED:
        return remarks
    by_people = [each for each in closed if each.told and each.closed and each.closed.how in _BY_PEOPLE]
    kept = {each.id for each in (*closed[-MOST_CLOSED:], *by_people[-MOST_CLOSED_BY_PEOPLE:])}
    return tuple(each for each in remarks if not each.closed or each.id in kept)


def _end_of(remark: Remark) -> int:
    return remark.closed.seq if remark.closed else 0
