"""What of a session is news to its journal: no event is written twice, and a text that streams in is one version.

Sans-IO: records in, events out, on top of what the journal is known to hold.
"""

from typing import Final

from msgspec import Struct
from msgspec.structs import asdict, replace

from planwire.model.events import (
    Event,
    MessageAdded,
    PlanRemoved,
    PlanReviewed,
    PlanSet,
    Recorded,
    ReviewAsked,
    SessionOpened,
    TurnEnded,
)
from planwire.model.fold import SessionState, fold
from planwire.model.plan import MarkdownPlan, Plan
from planwire.relay.actions import CLOSED, Known, Record
from planwire.relay.reminder import read_mark

__all__ = ["QUIET", "Dated", "History", "begin", "extends", "learn"]

#: A text that has not grown for so many milliseconds is taken for whole.
QUIET: Final = 2_000
#: Marks that are remembered, the newest.
_MARKS: Final = 200


class Dated(Struct, frozen=True):
    """A record and when it was made, in milliseconds."""

    record: Record
    at: int


def begin(session: str) -> Known:
    """What is known of a session without events."""
    return Known(SessionState(session))


def learn(known: Known, recorded: Recorded) -> Known:
    """What is known after one more event: all that `fold` knows, and what the agent was told."""
    state = fold(known.state, recorded)
    if isinstance(recorded.event, MessageAdded) and (found := read_mark(recorded.event.message)):
        mark, text, told = found
        marks = {**known.marks, mark: text}
        while len(marks) > _MARKS:
            del marks[next(iter(marks))]
        return Known(state, max(told, known.told), marks, recorded.seq)
    return replace(known, state=state)


class History:
    """One session's journal as it will be once everything is written that was taken in."""

    def __init__(self, known: Known) -> None:
        self.known = known
        self._streaming: Dated | None = None
        self._question: Dated | None = None  # about the text that streams in

    def take(self, dated: Dated) -> list[Dated]:
        """The records to be written now, with this one among them if it is news and whole."""
        event = dated.record.event
        held = self._streaming
        if held is not None and isinstance(event, SessionOpened | MessageAdded):
            return self._news(dated)
        if held is not None and dated.record.streams and isinstance(event, ReviewAsked):
            self._question = dated
            return []
        if held is not None and extends(held.record.event, event):
            self._streaming = dated
            return []
        settled = self.settle()
        if dated.record.streams and isinstance(event, PlanSet):
            if self._is_news(event):
                self._streaming = dated
            return settled
        return [*settled, *self._news(dated)]

    def settle(self, now: int | None = None) -> list[Dated]:
        """A text that was streaming in is whole: at a given time, only if it has been quiet for long enough."""
        held = self._streaming
        if held is None or (now is not None and now - held.at < QUIET):
            return []
        question = self._question
        self._streaming = self._question = None
        return [*self._news(held), *(self._news(question) if question else ())]

    def rebase(self, known: Known, unwritten: list[Dated]) -> list[Dated]:
        """The journal holds something else than was thought: what of the unwritten is still news."""
        self.known = known
        return [news for each in unwritten for news in self._news(each)]

    def _news(self, dated: Dated) -> list[Dated]:
        event = self._wanted(dated.record.event)
        if event is None:
            return []
        record = replace(dated.record, event=event)
        state = self.known.state
        self.known = learn(self.known, Recorded(state.id, state.seq + 1, dated.at, record.by, event))
        return [replace(dated, record=record)]

    def _wanted(self, event: Event) -> Event | None:
        """The event as it is to be written, or None if it would say nothing new."""
        plans = self.known.state.live()
        match event:
            case PlanSet():
                return event if self._is_news(event) else None
            case PlanRemoved(plan_id=plan_id):
                return event if plan_id in plans else None
            case ReviewAsked(plan_id=plan_id, options=options):
                asked = plans[plan_id].asked if plan_id in plans else None
                return event if plan_id in plans and not (asked and asked.options == options) else None
            case PlanReviewed(plan_id=plan_id):
                return replace(event, revision=plans[plan_id].revision) if plan_id in plans else None
            case TurnEnded(stop_reason=reason) if reason == CLOSED:
                is_over = self.known.state.stopped is not None and not any(each.asked for each in plans.values())
                return None if is_over else event
            case SessionOpened():
                known = self.known.state.opened or SessionOpened()
                new = {key: word for key, word in asdict(event).items() if word not in (None, getattr(known, key))}
                return SessionOpened(**new) if new else None
        return event

    def _is_news(self, event: PlanSet) -> bool:
        before = self.known.state.live().get(event.plan.id)
        return before is None or before.state.plan != event.plan


def extends(before: Event, after: Event) -> bool:
    """Whether a text is another one that went on."""
    if not (isinstance(before, PlanSet) and isinstance(after, PlanSet)):
        return False
    return _goes_on(before.plan, after.plan)


def _goes_on(before: Plan, after: Plan) -> bool:
    if not (isinstance(before, MarkdownPlan) and isinstance(after, MarkdownPlan)):
        return False
    same = (before.id, before.meta, before.extra) == (after.id, after.meta, after.extra)
    return same and after.content.startswith(before.content)
