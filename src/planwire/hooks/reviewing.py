"""The waiting hook: a process that holds a proposal back until a person has decided about it, anywhere.

It puts the question into the journal and looks there until the question is over. A person's decision is the hook's
answer. If the agent went on without it, the hook ends without a word; if no one decides in time, or the agent hangs up,
it closes the question first. A timeout is never an approval: if an agent takes silence for one, the hook sends the plan
back instead.

It may wait for days, so a look is one query of the session's last number, a few times in a second. If it is killed, its
lease lapses, and the next process that looks at the journal closes its question (`session.lapses`).
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from secrets import token_hex
from threading import Event as Flag
from time import monotonic, sleep
from typing import Final

from planwire.errors import JournalError, JournalUnavailable
from planwire.hooks.agents import HookPayload
from planwire.hooks.answers import Approve, SendBack
from planwire.hooks.claude_code import NAME as CLAUDE_CODE
from planwire.hooks.claude_refusal import RefusalWatch
from planwire.hooks.hang_ups import hang_ups, processes_above
from planwire.hooks.happenings import TurnOver
from planwire.hooks.looking import looked_up
from planwire.hooks.loose_fields import text_in
from planwire.hooks.review_events import (
    answer_to,
    asking,
    is_asked,
    proposal_in,
    refused,
    told,
    unanswered,
)
from planwire.hooks.review_terms import ReviewTerms, terms_of
from planwire.journal import Journal, Lease, Stamped, Terms, catch_up, load_state
from planwire.model.authors import authored, reported_by
from planwire.model.events import Event, SessionOpened, TurnEnded
from planwire.model.plan import MarkdownPlan
from planwire.model.records import AGENT, SessionState
from planwire.model.unheard import CLIENT
from planwire.readmodel.states import HOOK
from planwire.session.origin import placed
from planwire.session.pending_reviews import PendingReviews
from planwire.session.writer import append_latest, stamped
from planwire.steering.reach import ANSWER, WORDS

#: Seconds between two looks at the journal, between two after QUIET seconds, and between two at the processes above.
LOOK: Final = 0.2
LOOK_LATER: Final = 1.0
QUIET: Final = 600.0
LOOK_UP: Final = 1.0
#: Seconds before its end from which the hook hands a verdict on at once: there may be no time to take it back.
HURRY: Final = 10.0
#: Seconds to keep trying to record the end of a question in a busy journal.
PATIENCE: Final = 60.0


def hold_review(
    journal: Journal,
    payload: HookPayload,
    say: Callable[[bytes], None],
    *,
    session: str | None = None,
    drain: Callable[[], object] = lambda: None,
    terms: ReviewTerms | None = None,
) -> bool:
    """Hold the proposal of a hook back until it is decided, and answer the hook by `say`, which writes and flushes.
    Returns whether that ended the agent's turn, which no other hook reports then.

    `session` is the journal's name for the session, if that is not the agent's. `drain` brings into the journal what
    other hooks of the agent have said since: if no other process drains, only this shows that the agent went on.
    """
    heard = looked_up(payload.heard)
    proposed = proposal_in(heard)
    if proposed is None or not proposed.text.strip():
        return False
    with hang_ups() as is_over:
        plan = MarkdownPlan(heard.own_plan(proposed.plan_id), proposed.text)
        terms = terms or terms_of(heard.agent)
        held = HeldReview(journal, payload, session or heard.session, plan, terms, is_over)
        held.hold(say, drain)
        return held.has_ended_turn


def leave_undecided(payload: HookPayload, say: Callable[[bytes], None]) -> None:
    """Answer a hook about whose proposal no one can be asked: if the agent would take silence for an approval, the plan
    goes back."""
    proposed, words = proposal_in(looked_up(payload.heard)), terms_of(payload.heard.agent).unanswered
    if words and proposed is not None and proposed.text.strip():
        say(payload.spoken(SendBack(words)))


class HeldReview:
    """One question, from its first event to its last. `is_over` is set when the agent hangs up; `has_ended_turn` says
    whether the agent's turn ended with the question."""

    def __init__(
        self,
        journal: Journal,
        payload: HookPayload,
        session: str,
        plan: MarkdownPlan,
        terms: ReviewTerms,
        is_over: Flag,
    ) -> None:
        self._journal = journal
        self._payload = payload
        self._client = authored(CLIENT, reported_by(payload.agent.title))
        self._session = session
        self._plan = plan
        self._terms = terms
        self._is_over = is_over
        self.has_ended_turn = False
        self._question = token_hex(8)
        self._pending = PendingReviews(journal)
        self._state = SessionState(session)
        self._lease: Lease | None = None
        transcript = text_in(payload.fields, "transcript_path")
        is_watched = payload.heard.agent == CLAUDE_CODE and payload.heard.child is None
        self._refusals = RefusalWatch(transcript) if is_watched else None
        self._above = processes_above()
        self._begun = self._looked_up = monotonic()

    def hold(self, say: Callable[[bytes], None], drain: Callable[[], object]) -> None:
        """Ask, wait, and answer. A journal that can't be used has no decision in it: that is the same as if no one
        decided."""
        end = self._begun + self._terms.wait_seconds
        try:
            with suppress(JournalUnavailable):
                drain()
            self._ask(end)
            answer = self._wait(end, drain) if self._lease else self._silence()
        except JournalError:
            answer = self._silence()
        try:
            if answer is not None:
                self._give(answer, say)
        finally:
            if self._lease is not None:
                with suppress(JournalError):
                    self._lease.release()

    # -- the question

    def _ask(self, end: float) -> None:
        """Put the question into the journal, which may be busy. First the lease: it says that people can answer."""
        can = Terms(HOOK, can=(ANSWER, WORDS), question=self._question)
        while not self._is_hung_up():
            try:
                self._lease = self._lease or self._journal.lease(self._session, can)
                self._state = load_state(self._journal, self._session)
                self._append(self._asking, AGENT)
                return
            except JournalUnavailable:
                if monotonic() >= end:
                    raise
                self._is_over.wait(LOOK)

    def _asking(self, state: SessionState) -> Sequence[Event]:
        title = self._payload.agent.title
        events = asking(state, self._payload.heard, title, self._plan, self._terms, self._question)
        return tuple(placed(each) if isinstance(each, SessionOpened) else each for each in events)

    def _wait(self, end: float, drain: Callable[[], object]) -> Approve | SendBack | None:
        """Look until the question is over. Returns None if the hook has nothing to say then."""
        while True:
            is_hung_up, is_late = self._is_hung_up(), monotonic() >= end
            with suppress(JournalUnavailable):
                drain()
                self._look(at_once=end - monotonic() < HURRY)
                if not self._is_asked(self._state):
                    return None
                if self._refusals and self._refusals.is_refused():
                    self._append_patiently(lambda state: refused(state, self._plan.id, self._question), self._client)
                    return None
                answer = answer_to(self._state.plans[self._plan.id], self._plan.content, self._terms)
                if answer is not None and not is_hung_up:
                    return answer
            if is_hung_up or is_late:
                return self._close(is_hung_up=is_hung_up)
            pause = LOOK if monotonic() < self._begun + QUIET else LOOK_LATER
            self._is_over.wait(min(self._pending.pause(self._state, pause), max(end - monotonic(), 0)))

    def _look(self, *, at_once: bool = False) -> None:
        if self._journal.last_seq(self._session) != self._state.seq:
            self._state = catch_up(self._journal, self._state)
        if self._pending.hand_on(self._state, at_once=at_once):
            self._state = catch_up(self._journal, self._state)

    def _is_asked(self, state: SessionState) -> bool:
        return is_asked(state, self._plan.id, self._question)

    def _is_hung_up(self) -> bool:
        """Whether no one listens to this process any more."""
        if self._is_over.is_set():
            return True
        if monotonic() - self._looked_up >= LOOK_UP:
            self._looked_up = monotonic()
            return processes_above() != self._above
        return False

    # -- its end

    def _close(self, *, is_hung_up: bool) -> Approve | SendBack | None:
        """Close the question without a verdict. A decision that comes at that very moment counts, if the agent still
        listens. If silence would be an approval, the plan goes back."""
        late: list[Approve | SendBack] = []

        def closing(state: SessionState) -> Sequence[Event]:
            late.clear()
            if not self._is_asked(state):
                return ()
            answer = answer_to(state.plans[self._plan.id], self._plan.content, self._terms)
            if answer is not None and not is_hung_up:
                late.append(answer)
                return ()
            in_terminal = self._terms.asks_itself and not is_hung_up
            end = unanswered(state, self._plan.id, self._question, in_terminal=in_terminal)
            return (*end, *self._turn_end())

        with suppress(JournalError):
            self._append_patiently(closing, HOOK)
        if late:
            return late[0]
        return None if is_hung_up else self._silence()

    def _silence(self) -> SendBack | None:
        """What to say when no one decided: nothing, unless that would be an approval."""
        return SendBack(self._terms.unanswered) if self._terms.unanswered else None

    def _give(self, answer: Approve | SendBack, say: Callable[[bytes], None]) -> None:
        """Answer the hook, then record that the agent has the answer. In this order nothing counts as told that was not
        said."""
        spoken = self._payload.spoken(answer)
        is_heard = bool(spoken) or (isinstance(answer, Approve) and not self._terms.needs_word)
        if spoken:
            try:
                say(spoken)
            except OSError:
                is_heard = False
        if not is_heard:
            self._close(is_hung_up=True)
            return

        def telling(state: SessionState) -> Sequence[Event]:
            end = self._turn_end() if isinstance(answer, Approve) else ()
            return (*told(state, self._plan.id, self._question, answer), *end)

        with suppress(JournalError):
            self._append_patiently(telling, HOOK)

    def _turn_end(self) -> tuple[TurnEnded, ...]:
        """The end of the turn, if the hook is that of a turn's end."""
        ends = [each for each in self._payload.heard.what if isinstance(each, TurnOver)]
        return (TurnEnded(ends[0].stop_reason),) if ends else ()

    # -- writing

    def _append(self, prepare: Callable[[SessionState], Sequence[Event]], by: str) -> None:
        def latest() -> SessionState:
            self._state = catch_up(self._journal, self._state)
            return self._state

        def prepared(state: SessionState) -> Sequence[Stamped]:
            return stamped(prepare(state), by)

        written = append_latest(self._journal, latest, prepared)
        self.has_ended_turn = self.has_ended_turn or any(isinstance(each.event, TurnEnded) for each in written)

    def _append_patiently(self, prepare: Callable[[SessionState], Sequence[Event]], by: str) -> None:
        """Append to a journal that may be busy. If this fails, the process that finds the lapsed lease closes the
        question."""
        end = monotonic() + PATIENCE
        while True:
            try:
                self._append(prepare, by)
                return
            except JournalUnavailable:
                if monotonic() >= end:
                    raise
                sleep(LOOK)  # some failures, such as a full disk, come at once
