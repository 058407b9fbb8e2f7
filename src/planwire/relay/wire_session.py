"""One session as the relay hears it: the parts that follow it, and the events that result."""

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from planwire.acp.conversation import AGENT
from planwire.acp.heard_plans import MAX_PLANS, Heard, TooMany
from planwire.acp.messages import Body
from planwire.acp.translate import Translator
from planwire.chat.reminder import Reminder, write_reminder
from planwire.chat.retelling import ANNOUNCED, RESUMED, STEERED, announce, retell
from planwire.journal.waiting import is_waiting
from planwire.model.decide import decided
from planwire.model.events import (
    ACP,
    CHANGES_REQUESTED,
    DISCONNECTED,
    ContextCompacted,
    MessageAdded,
    PlanRemoved,
    PlanReviewed,
    PlanSet,
    Recorded,
    ReviewAsked,
    Told,
    TurnEnded,
)
from planwire.model.file_texts import ReadFile, seen_files
from planwire.model.fold import fold
from planwire.model.kinds import is_blank, prose_of
from planwire.model.plan import Fields, Plan, PlanId
from planwire.model.records import FILE, PlanRecord, SessionState
from planwire.model.sameness import is_same
from planwire.model.stop_reasons import STOP_CANCELLED, STOP_END_TURN
from planwire.model.unheard import Words
from planwire.relay.actions import BY_AGENT, BY_CLIENT, BY_RELAY, CLOSED, Record, RecordLine, SessionMemory, Warn
from planwire.relay.agent_context import AgentContext
from planwire.relay.agent_plans import AgentPlans
from planwire.relay.agents import AgentRow
from planwire.relay.compaction import CompactionFallback, Compactions
from planwire.relay.compaction_signs import CompactionSigns
from planwire.relay.echoes import SentBlock
from planwire.relay.open_questions import OpenQuestions
from planwire.relay.own_turn import OwnTurn
from planwire.relay.questions import Question
from planwire.relay.reminder import block
from planwire.relay.thoughts import Overheard, SessionThoughts
from planwire.relay.unrecorded_reviews import UnrecordedReviews


class ContextBlock(Struct, frozen=True):
    """A block of text that tells an agent its plans and the words of people, and the reason for it."""

    mark: str
    text: str
    words: Words
    why: str


class WireSession:
    """A session on this connection. `cwd`: where it works, if the client said so here. `worked`: how many turns of it
    ended here. `has_stopped`: its turn is over, and its agent has not mentioned a plan since. `is_cancelled`: its turn
    was cancelled. `is_rejected`: a person rejected a plan in its turn. `is_unshown`: it goes on, and its client may
    lack plans that the agent did not retell."""

    def __init__(self, session_id: str, overheard: Overheard, *, attached: bool) -> None:
        self.id = session_id
        self.thoughts = SessionThoughts(session_id, overheard)
        self.cwd: str | None = None
        self.has_title = self._may_have_title = attached  # what the journal has of it says whether it has
        self.has_stopped = attached
        self.worked = 0
        self.plans = AgentPlans()
        self.questions = OpenQuestions()
        self.compactions = Compactions()
        self.signs = CompactionSigns()
        self.shown_compactions = CompactionFallback()
        self.context = AgentContext(attached=attached)
        self.own_turn = OwnTurn()
        self._reviews = UnrecordedReviews()
        self.is_cancelled = self.is_rejected = self.is_unshown = False
        self._prompts: set[object] = set()  # the unanswered ones
        self._is_working = False
        self._turns = 0  # that ended, on this connection and before

    @property
    def is_working(self) -> bool:
        return self._is_working

    @property
    def is_quiet(self) -> bool:
        """Whether nobody works in it, and nobody waits for anything from it."""
        is_busy = self.is_working or self.questions.is_any_open or self.plans.is_retold
        return not is_busy and self.own_turn.is_idle

    def close(self) -> Iterator[Record | Warn]:
        """No more is heard of it here: end its replay and its turn."""
        yield from self.end_retelling()
        if self.is_working or not self.has_stopped:
            yield Record(self.id, TurnEnded(DISCONNECTED if self.is_working else CLOSED), BY_RELAY)

    @property
    def folder(self) -> str | None:
        """The folder that it works in, as the client said on this connection or an earlier one."""
        opened = self.memory.state.opened if self.memory else None
        return self.cwd or (opened.cwd if opened else None)

    @property
    def memory(self) -> SessionMemory | None:
        return self.context.memory

    def learn(self, memory: SessionMemory) -> None:
        """Take in what the journal holds. An old session that nobody recorded before has no title yet. While the
        journal's server is away, nobody knows whether it has one."""
        if self._may_have_title and not is_waiting(memory.seq):
            self._may_have_title = False
            self.has_title = memory.state.opened is not None and memory.state.opened.title is not None
        if self.memory is None:
            self._turns += memory.state.turns
        if self.memory is None or memory.seq < self.memory.seq:  # or the session was forgotten, and began anew
            self.own_turn.forget_until(memory.seq)
        self._reviews.learn(memory, is_anew=self.memory is not None and memory.seq < self.memory.seq)
        self.context.learn(memory)

    def attach(self) -> None:
        """The client loads or resumes the session."""
        self.context.attach()
        self.plans.mentioned.clear()

    def begin_turn(self, message_id: object) -> None:
        self._prompts.add(message_id)
        self.signs.begin_turn()
        self.thoughts.begin()
        self._is_working = True
        self.is_cancelled = self.is_rejected = self.own_turn.is_deaf = False
        self.compactions.begin_turn()
        self.plans.current.clear()
        self.questions.begin_turn()

    def prompt_answered(self, message_id: object) -> bool:
        """The agent answered a prompt. Whether that was the last open one."""
        self._prompts.discard(message_id)
        return not self._prompts

    def end_turn(self, reason: str) -> list[Record]:
        """End the turn, for the right reason: some agents report a cancelled turn as ended by itself, and some report
        one that ended with the rejection of a plan as cancelled."""
        if self.is_cancelled and reason == STOP_END_TURN:
            reason = STOP_CANCELLED
        elif self.is_rejected and reason == STOP_CANCELLED and not self.is_cancelled:
            reason = STOP_END_TURN
        self._is_working = self.is_cancelled = False
        self.own_turn.steering = 0  # whether the agent answers or not: its next turn takes words again
        self.has_stopped = True
        self.worked += 1
        self._turns += 1
        self.questions.end_turn()
        return [*self._compacted(self.signs.end_turn(reason)), Record(self.id, TurnEnded(reason))]

    def hear_sign(self, update: Fields, ways: AgentRow) -> Iterator[Record]:
        """An update may be a sign of a compaction."""
        sign = None if self.plans.is_retold else self.signs.hear(update, ways)
        return self._compacted(sign)

    def _compacted(self, sign: str | None) -> Iterator[Record]:
        if sign is not None and self.compactions.notice():
            self.context.is_compacted = True
            yield Record(self.id, ContextCompacted(reason=sign), BY_RELAY)

    def hear(self, body: Body) -> Iterator[Record | Warn]:
        """What an update about plans adds to the journal."""
        return self._record(self.plans.hear(body), streams_in=True)

    def hear_list(self, line: bytes, plan_id: PlanId = None) -> tuple[RecordLine, ...]:
        """The same for a line that took the fast path."""
        if not self.plans.hear_list(line, plan_id):
            return ()
        self.has_stopped = False
        return (RecordLine(self.id, line, self.thoughts.take(), plan_id),)

    def show_missed_list(self, translator: Translator | None) -> None:
        """Show the translator the newest list, which left without it: from now on it may matter."""
        line = self.plans.take_untranslated()
        if line is not None and translator is not None:
            translator.translate(line.rstrip(b"\r\n"), AGENT)

    def hear_question(self, question: Question) -> Iterator[Record | Warn]:
        """The agent asks a person about a plan, which only the question may contain, or which is still to come."""
        if self.plans.is_retold or not self.questions.ask(question):
            return
        if question.proposed is not None:
            yield from self.hear_proposal(question.proposed)
        elif not question.is_ahead:
            self.has_stopped = False
            yield self._review(question.asked())

    def hear_proposal(self, plan: Plan) -> Iterator[Record | Warn]:
        """A plan that a question is about, from the question or its tool call: it may never come in a plan message."""
        return self._record(self.plans.hear(plan), streams_in=False)

    def hear_answer(self, question: Question, result: Any, by: str = BY_CLIENT) -> Iterator[Record]:
        """The client answered a question, or the agent took it back."""
        review = self.questions.answer(question, result)
        self.is_rejected |= question.answered(result).verdict == CHANGES_REQUESTED
        if review is not None:
            yield self._review(review, by)

    def end_retelling(self, *, failed: bool = False) -> Iterator[Record | Warn]:
        """End a replay, if one is going on, and record what it ended with. Thoughts that were retold are history."""
        self.thoughts.begin()
        return self._record(self.plans.end_retelling(failed=failed), streams_in=False)

    def due(self) -> str | None:
        """Why the next prompt has to tell the agent its plans, or None."""
        return self.context.due(self.records, self.plans.mentioned)

    def announcing(self) -> str | None:
        """Why the next prompt has to tell the agent that it has the plan tools: this alone, or with the plans that it
        may lack; None if it was told before, or that is not known yet."""
        if any(ANNOUNCED in sent.text for sent in self.context.known_marks.values()):
            return None
        if self.context.is_attached:
            return None if self.memory is None else RESUMED if self.records() else ANNOUNCED
        return ANNOUNCED

    def block(self, why: str, word: str, read: ReadFile, *, announces_tools: bool = False) -> ContextBlock | None:
        """A block that tells the agent its plans, for a reason, and that it has the plan tools; None if there is
        nothing to tell. `word` is a random one. Plan files are told, and compared with what people saw of them, as they
        are now, whether or not anybody recorded that yet."""
        state = self.state()
        for seen in seen_files(state, read):
            state = fold(state, Recorded(self.id, state.seq + 1, 0, FILE, decided(state, seen, FILE)))
        words = Words() if why == ANNOUNCED else self.context.words(why, state)
        if not words and (why in (ANNOUNCED, STEERED) or not self.records()):
            return ContextBlock(*block(announce(), word), words, why) if announces_tools and why != STEERED else None
        mark, text = block(retell(why, state, words, read, announces_tools=announces_tools), word)
        return ContextBlock(mark, text, words, why)

    def tell(self, told: ContextBlock, way: str, before: str = "") -> tuple[MessageAdded, Told]:
        """The agent gets a block by a way, after the text `before`. Returns the events of that."""
        sent = SentBlock(told.text, before[len(before.rstrip()) :])
        reminder = Reminder(told.mark, told.text, f"{told.why.partition('.')[0]}.", sent.gap)
        return MessageAdded(write_reminder(reminder)), self.context.tell(told.mark, sent, told.words, way)

    def records(self) -> list[PlanRecord]:
        """The plans worth telling."""
        return [record for record in self.state().living().values() if not is_blank(record.state.plan)]

    def has_changed(self, record: PlanRecord) -> bool:
        """Whether the agent has told another plan by now than the journal has."""
        plan = self.plans.plans.get(record.state.plan.id)
        return plan is not None and not is_same(plan, record.state.plan)

    def state(self) -> SessionState:
        """The session as the journal knows it, or newer: as the agent told it and was told, and as people judged it."""
        state = self.context.state or SessionState(self.id)
        state = replace(state, turns=max(state.turns, self._turns))
        for plan in self.plans.plans.values():
            if not _is_recorded(state, plan):
                event = decided(state, PlanSet(plan, via=ACP), BY_AGENT)
                state = fold(state, Recorded(self.id, state.seq + 1, 0, BY_AGENT, event))
            state = self._reviews.fold_onto(state, plan.id, self.worked)
        for plan_id in self.plans.removed:
            state = fold(state, Recorded(self.id, state.seq + 1, 0, BY_AGENT, PlanRemoved(plan_id)))
        return state

    def _record(self, outcomes: Iterable[Heard | TooMany], *, streams_in: bool) -> Iterator[Record | Warn]:
        for heard in outcomes:
            if isinstance(heard, TooMany):
                yield Warn(f"session {self.id} has {MAX_PLANS:,} plans; more are not recorded")
            elif heard.plan is None:
                self._reviews.forget(heard.id)
                yield Record(self.id, PlanRemoved(heard.id))
            else:
                yield from self._record_plan(heard.plan, is_news=heard.is_news, streams_in=streams_in)

    def _record_plan(self, plan: Plan, *, is_news: bool, streams_in: bool) -> Iterator[Record]:
        """The plan, if it is news, and what was asked and answered about it before it came."""
        streams = streams_in and prose_of(plan) is not None
        asked = self.questions.plan_came(plan.id, is_news=is_news)
        if is_news or asked:
            self.has_stopped = False
        if is_news:
            self._reviews.forget(plan.id)
            yield Record(self.id, PlanSet(plan, via=ACP), streams=streams, why=self.thoughts.take())
        for event in asked:
            if isinstance(event, ReviewAsked):
                yield self._review(event, streams=streams)
            else:
                yield self._review(event, BY_CLIENT)

    def _review(self, event: ReviewAsked | PlanReviewed, by: str = BY_AGENT, *, streams: bool = False) -> Record:
        self._reviews.add(event, by, self.worked)
        return Record(self.id, event, by, streams=streams)


def _is_recorded(state: SessionState, plan: Plan) -> bool:
    record = state.live().get(plan.id)
    return record is not None and is_same(record.state.plan, plan)
