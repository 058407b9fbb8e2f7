"""One session as the relay hears it: its plans, history being retold, and what the agent is to be told again."""

from collections.abc import Iterator
from typing import Any, Final

from msgspec.structs import replace

from planwire.acp.messages import Body, Extension, Removal
from planwire.model.events import ACP, Event, PlanRemoved, PlanReviewed, PlanSet, Recorded, ReviewAsked
from planwire.model.fold import PLANWIRE, Delta, PlanRecord, Review, SessionState, fold
from planwire.model.plan import FilePlan, ItemsPlan, MarkdownPlan, Plan, PlanId
from planwire.relay.actions import BY_AGENT, BY_CLIENT, BY_RELAY, Known, Record, RecordLine, Warn
from planwire.relay.compaction import CompactionFallback, fell_by_more_than_half
from planwire.relay.envelope import list_on
from planwire.relay.questions import Question
from planwire.relay.reminder import COMPACTED, RESUMED, STEERED

__all__ = ["WireSession"]

#: Plans of one session that are followed at a time.
MAX_PLANS: Final = 1_000
#: After a compaction was reported the numbers of the used context fall too, at first to an estimate: that is not
#: another one, in the turn of the report and the one after it.
SETTLING_TURNS: Final = 2
#: Those of whose doings the agent knows without being told.
_KNOWS: Final = frozenset((BY_AGENT, BY_CLIENT, BY_RELAY))


class WireSession:
    """What was said of one session on this connection, and what the journal knows of it, once it was asked."""

    def __init__(self, session_id: str, *, attached: bool) -> None:
        self.id = session_id
        self.known: Known | None = None
        self.attached = attached  # it was loaded or resumed: the agent's context is not known
        self.titled = attached
        self.is_working = False
        self.has_stopped = attached  # and nothing was heard of its plans since
        self.is_plain = True  # there was no plan yet but the one without an id
        self.prompts: set[object] = set()  # those that are unanswered
        self.current: set[PlanId] = set()  # the plans that were set in this turn
        self.judged: set[PlanId] = set()  # of these, those that a person has been asked about as they are
        self.verdicts: dict[PlanId, PlanReviewed] = {}  # on plans that are still to come in this turn
        self.marks: dict[str, str] = {}
        self.compactions = CompactionFallback()
        self._open: dict[PlanId, tuple[str, ...]] = {}  # what a person is being asked about, and the answers offered
        self._awaited: set[PlanId] = set()  # of these, the plans that are still to come
        self._plans: dict[PlanId, Plan] = {}
        self._line = b""  # the last one with a list that was heard the short way
        self._unread: bytes | None = None
        self._untold: bytes | None = None
        self._heard: set[PlanId] = set()  # since it was attached
        self._echoed: set[str] = set()  # the marks of blocks in the history that was retold since then
        self._removed: set[PlanId] = set()
        self._is_full = False
        self._retold: dict[PlanId, Plan | None] | None = None
        self._compacted: set[str] = set()
        self._used: float | None = None
        self._turns_to_settle = 0
        self._is_compacted = False
        self._told: int | None = None  # on this connection
        self._told_earlier: int | None = None

    def learn(self, known: Known) -> None:
        """What the journal knows. A session that went on without ever being recorded has no title yet."""
        if self.known is None and self.attached:
            self.titled = known.state.opened is not None and known.state.opened.title is not None
        self.known = known

    def attach(self) -> None:
        """The session is loaded or resumed: what the agent was told before may not be in its context."""
        self.attached = True
        self._heard, self._echoed = set(), set()

    def begin_turn(self, message_id: object) -> None:
        self.prompts.add(message_id)
        self.is_working = True
        self._turns_to_settle = max(0, self._turns_to_settle - 1)
        self.current.clear()
        self.judged.clear()
        self.verdicts.clear()

    def end_turn(self) -> None:
        self.is_working = False
        self.has_stopped = True
        self._open.clear()

    # -- what the agent says of plans

    @property
    def plans(self) -> dict[PlanId, Plan]:
        """The plans that were told and not removed."""
        if self._unread is not None:
            plan, self._unread = list_on(self._unread), None
            if plan is not None:
                self._plans[None] = plan
        return self._plans

    def hear_list(self, line: bytes) -> tuple[RecordLine, ...]:
        """A line with nothing but a list that needs no translation (see `usual`)."""
        if line == self._line:
            return ()
        self._line = self._unread = self._untold = line
        self.has_stopped = False
        self._heard.add(None)
        self._removed.discard(None)
        return (RecordLine(self.id, line),)

    def take_untold(self) -> bytes | None:
        """The last such line, for one who has not been told of it and now has to be; they end here."""
        line, self._untold, self._line = self._untold, None, b""
        return line

    def hear(self, body: Body) -> Iterator[Record | Warn]:
        """An update. While history is retold nothing is recorded: only its end counts."""
        if body is None:
            return
        self.is_plain = self.is_plain and body.id is None
        if self._retold is not None:
            self._retold[body.id] = None if isinstance(body, Removal) else self._whole(body, self._retold)
        elif isinstance(body, Removal):
            yield from self._remove(body.id)
        else:
            yield from self._put(self._whole(body, self.plans), streams=True)

    def hear_question(self, question: Question) -> Iterator[Record | Warn]:
        """A person is asked about a plan: one that may only be known from the question, or is still to come."""
        plan_id = question.plan_id
        if question.is_ahead and len(self._awaited) < MAX_PLANS:
            self._awaited.add(plan_id)
        self._open.pop(plan_id, None)
        if self._retold is not None or len(self._open) >= MAX_PLANS:
            return
        if question.proposed is not None:
            yield from self._put(question.proposed, streams=False)
        self._open[plan_id] = question.names
        if not question.is_ahead:
            self.has_stopped = False
            yield self._record(ReviewAsked(plan_id, question.names))

    def hear_answer(self, question: Question, result: Any) -> Iterator[Record]:
        """It is answered. If the plan has not come since, the verdict is on the one that comes next."""
        plan_id, review = question.plan_id, question.answered(result)
        self._open.pop(plan_id, None)
        if question.is_ahead and plan_id in self._awaited:
            self._awaited.discard(plan_id)
            self.verdicts[plan_id] = review
        else:
            self.judged.add(plan_id)
            yield Record(self.id, review, BY_CLIENT)

    @property
    def is_retold(self) -> bool:
        return self._retold is not None

    def begin_retelling(self) -> None:
        self._retold = {}

    def end_retelling(self, *, failed: bool = False) -> Iterator[Record | Warn]:
        """The history is told: its end is the state, unless it failed. Plans that were not retold stay."""
        retold, self._retold = self._retold, None
        for plan_id, plan in (retold or {}).items() if not failed else ():
            yield from self._remove(plan_id) if plan is None else self._put(plan, streams=False)

    def _whole(self, body: Plan | Extension, plans: "dict[PlanId, Plan] | dict[PlanId, Plan | None]") -> Plan:
        if not isinstance(body, Extension):
            return body
        before = plans.get(body.id)
        if isinstance(before, MarkdownPlan):
            return replace(before, content=before.content + body.text)
        return MarkdownPlan(body.id, body.text)

    def _put(self, plan: Plan, *, streams: bool) -> Iterator[Record | Warn]:
        before = self.plans.get(plan.id)
        streams = streams and isinstance(plan, MarkdownPlan)
        if before is None and len(self.plans) >= MAX_PLANS:
            if not self._is_full:
                self._is_full = True
                yield Warn(f"session {self.id} has {MAX_PLANS:,} plans; more are not recorded")
            return
        self._heard.add(plan.id)
        self.current.add(plan.id)
        if before != plan:
            self.has_stopped = False
            self.plans[plan.id] = plan
            self._removed.discard(plan.id)
            self.judged.discard(plan.id)
            yield self._record(PlanSet(plan, via=ACP), streams=streams)
        if plan.id in self._open:  # nobody has answered yet
            yield self._record(ReviewAsked(plan.id, self._open[plan.id]), streams=streams)
        self._awaited.discard(plan.id)
        if plan.id in self.verdicts:
            self.judged.add(plan.id)
            yield Record(self.id, self.verdicts.pop(plan.id), BY_CLIENT)

    def _remove(self, plan_id: PlanId) -> Iterator[Record]:
        self.plans.pop(plan_id, None)
        self._heard.add(plan_id)
        if plan_id not in self._removed and len(self._removed) < MAX_PLANS:
            self._removed.add(plan_id)
            yield self._record(PlanRemoved(plan_id))

    def _record(self, event: Event, *, streams: bool = False) -> Record:
        return Record(self.id, event, BY_AGENT, streams)

    # -- compactions

    def compacted(self, compaction_id: str | None) -> bool:
        """A compaction is reported as done. It is news unless it was reported before, or is history."""
        if self._retold is not None or compaction_id in self._compacted:
            return False
        if compaction_id is not None:
            self._compacted.add(compaction_id)
        self._turns_to_settle = SETTLING_TURNS
        self._is_compacted = True
        return True

    def uses(self, used: float) -> float | None:
        """So much of the context is used. If that gives a compaction away: how much it was before."""
        before, self._used = self._used, used
        if self._retold is not None or self._turns_to_settle or not fell_by_more_than_half(before, used):
            return None
        self._is_compacted = True
        return before

    # -- what the agent is to be told again

    def due(self) -> str | None:
        """Why the agent has to be told its plans with the next prompt, or None."""
        if self._is_compacted or self._was_compacted():
            return COMPACTED
        told = self.told_before()
        if self.attached and any(self._is_missing(record, told) for record in self.records()):
            return RESUMED
        plans = self.known.state.live().values() if self.known else ()
        return STEERED if any(_is_steered(record, told) for record in plans) else None

    def _was_compacted(self) -> bool:
        """Whether the journal knows of a compaction after which the agent was told nothing. What it was told here need
        not be in the journal yet."""
        if self.known is None or not all(mark in self.known.marks for mark in (*self.marks,)[-1:]):
            return False
        return self.known.state.compacted > self.known.reminded

    def _is_missing(self, record: PlanRecord, told: int) -> bool:
        """Whether a plan was in nothing that was retold: neither by itself, nor as it is in the block that told it."""
        newest = next(reversed(self.known.marks), None) if self.known else None
        return record.state.plan.id not in self._heard and (newest not in self._echoed or record.revision > told)

    def hear_echo(self, marks: set[str]) -> None:
        """What was put into a prompt is told back."""
        if self._retold is not None:
            self._echoed |= marks

    def told_before(self) -> int:
        """The number of the last event that the agent was told of, here or on an earlier connection."""
        if self._told is not None:
            return self._told
        return self.known.told if self.known else 0

    def told(self, mark: str, text: str) -> int:
        """The agent is told everything up to the event of the number that is returned."""
        self.marks[mark] = text
        self._told_earlier, self._told = self.told_before(), self.known.seq if self.known else 0
        self._is_compacted = self.attached = False
        return self._told

    def not_told(self, why: str) -> None:
        """The prompt was refused: what it told has to be told again."""
        self._told = self._told_earlier
        if why == COMPACTED:
            self._is_compacted = True
        self.attached = self.attached or why == RESUMED

    def records(self) -> list[PlanRecord]:
        """The plans that there is something to tell of: as the journal knows them, or newer as they were heard."""
        state = self.known.state if self.known else SessionState(self.id)
        heard = {plan_id: plan for plan_id, plan in self.plans.items() if not _is(state, plan)}
        events: list[Event] = [PlanSet(plan, via=ACP) for plan in heard.values()]
        events += [PlanRemoved(plan_id) for plan_id in self._removed]
        for event in events:
            state = fold(state, Recorded(self.id, state.seq + 1, 0, BY_AGENT, event))
        return [record for record in state.live().values() if _says_something(record.state.plan)]


def _is(state: SessionState, plan: Plan) -> bool:
    record = state.live().get(plan.id)
    return record is not None and record.state.plan == plan


def _says_something(plan: Plan) -> bool:
    match plan:
        case ItemsPlan(entries=entries):
            return bool(entries)
        case MarkdownPlan(content=text) | FilePlan(uri=text):
            return bool(text.strip())
    return True


def _is_steered(record: PlanRecord, told: int) -> bool:
    """Whether a person wished or said something of a plan that the agent has not been told; or changed it, if it was
    made with the tools: there that is no wish."""
    if any(wish.seq > told for wish in record.wishes):
        return True
    said: list[Delta | Review] = [*record.deltas, *record.reviews] if record.owner == PLANWIRE else [*record.reviews]
    return any(each.seq > told and each.by not in _KNOWS for each in said)
