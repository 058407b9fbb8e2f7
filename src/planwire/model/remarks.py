"""The life of a remark: how it begins, who hears it, and what ends it.

| remark | ends when |
|---|---|
| comment on a step | it was told, and then the step is completed, cancelled or gone; or it is answered |
| comment on the plan or a passage, and any comment kept in force | a person closes it; its plan ends |
| request for changes | it was told, and then its agent changes texts or steps, or another proposal comes |
| selection | a newer one of the same plan; all its steps are finished or gone |
| suggestion | the plan contains it; a newer one of the same kind for the same steps |

A person can close and reopen any of them. A comment that its agent has not heard outlives its plan until it is told.
`fold` calls the functions here; they depend only on the states around an event.
"""

from collections.abc import Callable, Container, Iterable
from typing import Final, assert_never

from msgspec.structs import replace

from planwire.model.events import COMMENT, REQUEST, SELECTION, SUGGESTION, Recorded, Remarked
from planwire.model.records import AGENT, Closing, PlanRecord, Remark, RemarkAnswer, Telling
from planwire.model.statuses import canonical
from planwire.model.step_changes import AddStep, MoveStep, RemoveStep, RewordStep, SetPriority, SetStatus, StepChange
from planwire.model.steps import PlanState, Step
from planwire.model.wording import wording

__all__ = [
    "ANSWERED",
    "FINISHED",
    "FOLLOWED",
    "GONE",
    "OLDER",
    "PLAN_ENDED",
    "REVISED",
    "RUN_ALL",
    "SUPERSEDED",
    "WITHDRAWN",
    "answered",
    "close",
    "closed_by_change",
    "closed_with_plan",
    "known",
    "made",
    "offered",
    "refused",
    "remark_of",
    "reopened",
    "superseded",
    "told",
]

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
#: The remark was part of a review in an older journal, which says nothing more about it.
OLDER: Final = "older"

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
    closing = Closing(recorded.seq, recorded.at, recorded.by, SUPERSEDED, new.id)
    return _bounded((*(replace(each, closed=closing) if each.id in ids else each for each in remarks), new))


def known(remarks: Remarks, said: Iterable[Remark]) -> Remarks:
    """The remarks of a plan with those of a review in an older journal, which are not told again."""
    older = (
        replace(each, told=Telling(each.seq, each.at, "", ""), closed=Closing(each.seq, each.at, each.by, OLDER))
        for each in said
    )
    return _bounded((*remarks, *older))


def remark_of(recorded: Recorded, event: Remarked, number: int) -> Remark:
    """The remark that an event makes, with its number within the session."""
    return Remark(
        event.name or f"r{number}",
        recorded.seq,
        recorded.at,
        recorded.by,
        event.plan_id,
        event.kind,
        event.text,
        event.revision,
        event.step,
        event.quote,
        event.steps,
        event.changes,
        event.review,
        event.kept,
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


def told(remarks: Remarks, ids: Container[str], telling: Telling) -> Remarks:
    """The remarks after the reader got some of them. The first telling counts, with two exceptions. A telling that
    names its request replaces a reminder in an older journal, which no refusal would match. And a telling to a child
    that resumed its work replaces one to the lead, which heard the remark in the child's place."""

    def first(known: Telling | None) -> Telling:
        is_for_lead = known is not None and known.reader == AGENT != telling.reader
        return known if known and not is_for_lead and (known.request or not telling.request) else telling

    return tuple(replace(each, told=first(each.told), offered=None) if each.id in ids else each for each in remarks)


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


def closed_by_change(before: PlanState | None, after: PlanRecord, recorded: Recorded) -> Remarks:
    """The remarks of a plan after a change, with those closed that the change ends."""
    if all(each.closed for each in after.remarks):
        return after.remarks
    change = _Ending(before, after.state, by_agent=recorded.by == AGENT)
    closed = []
    for each in after.remarks:
        how = None if each.closed else change.ends(each)
        closing = Closing(recorded.seq, recorded.at, recorded.by, how) if how else None
        closed.append(replace(each, closed=closing) if closing else each)
    return _bounded(tuple(closed))


class _Ending:
    """Which remarks a change of a plan ends, and how."""

    def __init__(self, before: PlanState | None, after: PlanState, *, by_agent: bool) -> None:
        self._by_agent = by_agent
        self._before = before
        self._after = after
        self._places = {step.id: place for place, step in enumerate(after.steps)}
        self._texts = {step.content for step in after.steps}

    def ends(self, remark: Remark) -> str | None:
        """How the change ends a remark; None if it does not."""
        match remark.kind:
            case "suggestion":
                return FOLLOWED if self._contains(remark.changes) else None
            case "selection":
                return None if any(self._is_open(step) for step in remark.steps) else FINISHED
            case "request":
                return REVISED if remark.told and self._by_agent and self._rewords() else None
            case "comment" if remark.step is not None and remark.told and not remark.kept:
                return self._finishes(remark.step)
        return None

    def _is_open(self, step: str) -> bool:
        return step in self._places and self._after.steps[self._places[step]].is_open

    def _finishes(self, step: str) -> str | None:
        if step not in self._places:
            return GONE
        was_over = any(each.id == step and not each.is_open for each in (self._before.steps if self._before else ()))
        return None if was_over or self._is_open(step) else FINISHED

    def _rewords(self) -> bool:
        return self._before is None or wording(self._before) != wording(self._after)

    def _contains(self, changes: tuple[StepChange, ...]) -> bool:
        """Whether the plan contains a suggestion. A suggestion in words alone never counts as contained."""
        steps, places, texts = self._after.steps, self._places, self._texts
        return bool(changes) and all(_is_so(change, steps, places, texts) for change in changes)


def superseded(changes: Iterable[StepChange], suggestions: Iterable[Remark]) -> Remarks:
    """The suggestions that newer changes supersede: for each of a suggestion's changes there is a newer one of the same
    kind for the same step. A suggestion of several changes is superseded as a whole or not at all: half of it would no
    longer be what the person suggested."""
    newer = {_subject(change) for change in changes} - {None}
    return tuple(each for each in suggestions if each.changes and newer.issuperset(map(_subject, each.changes)))


def _subject(change: StepChange) -> tuple[type, str] | None:
    """The step and the property that a change is for. None for a new step, which never supersedes another."""
    return None if isinstance(change, AddStep) else (type(change), change.step)


def _is_so(change: StepChange, steps: tuple[Step, ...], places: dict[str, int], texts: set[str]) -> bool:
    match change:
        case AddStep(content=content) | RewordStep(content=content):  # under whichever id the agent put it
            return content in texts
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
