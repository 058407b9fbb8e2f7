"""The readers of a session: the agent that leads it, and the children that work for steps of its plans.

Each reader has a chat of its own, and plans that its model is told. A child hears only of its own plan. The lead hears
of all plans that are not a child's. It also hears the remarks on a child's plan once that child has nothing left to do,
or its step is done or gone: no other reader would.
"""

from planwire.model.children import DEEPEST, folds_away, is_finished, parent_step
from planwire.model.events import (
    ContextCompacted,
    Event,
    FileSeen,
    MessageAdded,
    MessagePinned,
    PlanChanged,
    PlanRemoved,
    PlanReopened,
    PlanReviewed,
    PlanSet,
    Told,
)
from planwire.model.plan import PlanId
from planwire.model.records import AGENT, HeardUpTo, PlanRecord, SessionState

#: The reader that leads a session, as plans and messages name it. Tellings name it `AGENT`.
LEAD = ""


def is_for(state: SessionState, record: PlanRecord, reader: str) -> bool:
    """Whether a reader hears what people say about a plan."""
    return record.reader == reader or (reader == LEAD and _is_over(state, record))


def _is_over(state: SessionState, record: PlanRecord) -> bool:
    """Whether no one works on a child's plan any more: it is done, or the step its child works for is, or one above."""
    if record.removed or is_finished(record):
        return True
    below = state.plans.get(record.reader, record)
    for _ in range(DEEPEST):
        if below.parent is None:
            break
        works_for = parent_step(state, below.parent)
        if works_for is None or not works_for[1].is_open:
            return True
        below = works_for[0]
    return False


def plans_of(state: SessionState, reader: str) -> dict[PlanId, PlanRecord]:
    """The living plans that are told to a reader's model. Finished plans that worked for a step are left out, so that
    the text does not grow with their number."""
    return {
        plan_id: record
        for plan_id, record in state.living().items()
        if record.reader == reader and not folds_away(state, record)
    }


def heard_by(state: SessionState, reader: str) -> HeardUpTo:
    """How far a reader has heard of what people did."""
    return state.heard if reader == LEAD else state.children.get(reader, HeardUpTo())


def told_as(reader: str) -> str:
    """The name of a reader in tellings."""
    return reader or AGENT


def reader_of_event(event: Event, after: SessionState) -> str | None:
    """The reader whose chat an event belongs to; None for an event without a place in a chat."""
    match event:
        case MessageAdded(reader=reader) | ContextCompacted(reader=reader) | MessagePinned(reader=reader):
            return reader
        case Told(reader=reader):
            return LEAD if reader == AGENT else reader
        case PlanSet(plan=plan):
            return after.plans[plan.id].reader
        case PlanChanged() | FileSeen() | PlanRemoved() | PlanReopened() | PlanReviewed():
            record = after.plans.get(event.plan_id)
            return record.reader if record else None
    return None
