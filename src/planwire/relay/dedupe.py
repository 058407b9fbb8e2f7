"""What is news to a session's journal: no event is written twice, and a text that streams in is one version.

Agents repeat themselves: they send the same list after every tool call, retell their history after a load, and stream a
text piece by piece. So each record is compared with what the journal will contain once everything before it is written.
Sans-IO: records in, stamped events out.
"""

from typing import Final, TypeVar

from msgspec.structs import replace

from planwire.chat.reminder import read_reminder
from planwire.journal.protocol import Stamped
from planwire.model.additions import addition
from planwire.model.clocks import time_after
from planwire.model.decide import decided, undecided
from planwire.model.event_why import why_in, with_why
from planwire.model.events import (
    Event,
    MessageAdded,
    PlanReviewed,
    PlanSet,
    Recorded,
    ReviewAsked,
    SessionOpened,
    Told,
    TurnEnded,
)
from planwire.model.fold import fold
from planwire.model.kinds import prose_of
from planwire.model.records import IN_TURN, SessionState
from planwire.model.sameness import is_same
from planwire.relay.actions import CLOSED, Record, SessionMemory
from planwire.relay.echoes import SentBlock

#: Milliseconds without a new piece after which a text counts as whole.
QUIET: Final = 2_000
#: How many of the newest marks and questions are remembered.
_MARKS: Final = 200
_T = TypeVar("_T")


def begin(session: str) -> SessionMemory:
    """The memory of a session without events."""
    return SessionMemory(SessionState(session))


def learn(memory: SessionMemory, recorded: Recorded) -> SessionMemory:
    """The memory after one more event: all that `fold` knows, what the agent was told, and what it asked."""
    memory = replace(memory, state=fold(memory.state, recorded))
    match recorded.event:
        case MessageAdded(message=message) if reminder := read_reminder(message):
            sent = SentBlock(reminder.text, reminder.gap)
            return replace(memory, marks=_newest(memory.marks, reminder.mark, sent), reminded=recorded.seq)
        case Told(way=way, request=mark, stage=stage) if way in IN_TURN:
            return replace(memory, stages=_newest(memory.stages, mark, stage))
        case ReviewAsked(question=question) if question:
            return replace(memory, questions=_newest(memory.questions, question, False))
        case PlanReviewed(question=question) if question:
            return replace(memory, questions=_newest(memory.questions, question, True))
    return memory


def _newest(known: dict[str, _T], mark: str, one: _T) -> dict[str, _T]:
    """The entries with one more, and only the newest of them."""
    return dict(tuple({**known, mark: one}.items())[-_MARKS:])


class PendingHistory:
    """One session's journal as it will be once everything that came in is written."""

    def __init__(self, memory: SessionMemory) -> None:
        self.memory = memory
        self.suffix = ""  # of the ids that are given
        self._streaming: Stamped | None = None
        self._question: Stamped | None = None  # about the text that streams in

    @property
    def held_why(self) -> str:
        """The why of the text that streams in, "" if there is none: it came before the first piece."""
        return why_in(self._streaming.event) if self._streaming else ""

    def take(self, record: Record, at: int) -> list[Stamped]:
        """The events to write now, with this one among them if it is news and complete."""
        stamped, event = Stamped(at, record.by, record.event), record.event
        held = self._streaming
        if held is not None and isinstance(event, SessionOpened | MessageAdded):
            return self._news(stamped)
        if held is not None and record.streams and isinstance(event, ReviewAsked):
            self._question = stamped
            return []
        if held is not None and extends(held.event, event):
            self._streaming = Stamped(at, record.by, with_why(event, self.held_why or why_in(event)))
            return []
        whole = self.finish_stream()
        if record.streams and isinstance(event, PlanSet):
            if addition(self.memory.state, event):
                self._streaming = stamped
            return whole
        return [*whole, *self._news(stamped)]

    def finish_stream(self, now: int | None = None) -> list[Stamped]:
        """Treat the text that streams in as complete; given a time, only if it has been quiet for long enough by
        then."""
        held = self._streaming
        if held is None or (now is not None and now - held.at < QUIET):
            return []
        question = self._question
        self._streaming = self._question = None
        return [*self._news(held), *(self._news(question) if question else ())]

    def rebase(self, memory: SessionMemory, unwritten: list[Stamped]) -> list[Stamped]:
        """Start over from what another writer appended; drop what no longer changes anything, and tellings of events
        that the journal was told to forget."""
        self.memory = memory
        known = (each for each in unwritten if not (isinstance(each.event, Told) and each.event.upto > memory.seq))
        return [news for each in known for news in self._news(replace(each, event=undecided(each.event)))]

    def _news(self, stamped: Stamped) -> list[Stamped]:
        """The event with a time no earlier than that of the event before it, which may be another writer's."""
        event = self._wanted(stamped.event)
        if event is None:
            return []
        state, at = self.memory.state, time_after(self.memory.at, stamped.at, stamped.at)
        event = decided(state, event, stamped.by, self.suffix)
        self.memory = learn(self.memory, Recorded(state.id, state.seq + 1, at, stamped.by, event))
        return [Stamped(at, stamped.by, event)]

    def _wanted(self, event: Event) -> Event | None:
        """The event as the journal should have it, or None if it says nothing new."""
        state = self.memory.state
        if isinstance(event, TurnEnded) and not state.seq:
            return None  # the journal was told to forget the session, and its end alone must not bring it back
        if event == TurnEnded(CLOSED):
            is_over = state.stopped is not None and not any(each.asked for each in state.live().values())
            return None if is_over else event
        return addition(state, event)


def extends(before: Event, after: Event) -> bool:
    """Whether one event sets a plan to a text, and the other to the same text with more after it."""
    if not (isinstance(before, PlanSet) and isinstance(after, PlanSet)):
        return False
    one, other = prose_of(before.plan), prose_of(after.plan)
    if one is None or other is None or not other.startswith(one):
        return False
    return is_same(replace(before.plan, content=other), after.plan)
