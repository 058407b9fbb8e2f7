"""Turns that a person starts from planwire: the agent hears now what people said, or stops.

An idle agent gets a prompt of the relay's own. One that works gets the words by its own way into a running turn, if it
has one (`agents`). Otherwise, if the person agreed to that, its turn is cancelled first. The relay never prompts while
a request of the client's for the same session is open: one's answer must not be taken for the other's. All of this
happens only when a person acts.

The client has not asked for such a turn, so it never sees the answer, and the words reach it as a user message. It may
send a prompt of its own in the middle: an agent that queues gets it at once, any other when the turn is over, or after
a minute.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final

from msgspec import UNSET, Struct

from planwire.chat.retelling import STEERED
from planwire.model.events import Told
from planwire.model.plan import Fields
from planwire.model.records import ANSWER, PROMPT, STEERING, Review, SessionState, Wish
from planwire.model.unheard import Words
from planwire.relay.actions import BY_RELAY, Action, HoldBack, Record, Warn
from planwire.relay.agents import AgentRow
from planwire.relay.aloud import said_aloud
from planwire.relay.answering import Answering
from planwire.relay.envelope import FromAgent, text_of
from planwire.relay.outbox import Outbox
from planwire.relay.questions import Question
from planwire.relay.wire_session import ContextBlock, WireSession

#: Seconds that a prompt of the client's waits for the end of a turn that a person started from planwire.
HOLD: Final = 60.0
#: Seconds that an answer waits for the agent to say what became of the words sent before it.
PATIENCE: Final = 1.0


class _Own(Struct, frozen=True):
    """A request of the relay's own: the words that it tells the agent, and the wish for that, if there was one."""

    session: WireSession
    told: Told
    words: Words
    wanted: Wish | None
    steers: bool


class Prompting:
    """The relay's own turns on one connection. Unless it `is_on` there are none, and only the client answers."""

    def __init__(
        self,
        outbox: Outbox,
        answering: Answering,
        block: Callable[[WireSession], ContextBlock | None],
        has_request: Callable[[str], bool],
        lend: Callable[[WireSession], Iterable[Action]],
        new_word: Callable[[], str],
        *,
        is_on: bool,
    ) -> None:
        self.ways = AgentRow(agent="", names=())
        self._outbox = outbox
        self._answering = answering
        self._block = block
        self._has_request = has_request
        self._lend = lend
        self._new_word = new_word
        self._own: dict[str, _Own] = {}
        self.is_on = is_on

    def abilities(self, session: WireSession | None) -> tuple[str, ...]:
        """What faces may offer to people in a session."""
        if not self.is_on:
            return ()
        is_steerable = self.ways.steer and not (session and session.own_turn.is_unsteerable)
        return ("answer", "tell", "stop", *(("steer",) if is_steerable else ()))

    # -- a person's act

    def look(self, session: WireSession) -> None:
        """Do what people have asked for, as far as it can be done now."""
        memory = session.memory
        if memory is None or not self.is_on:
            return
        state, turn = memory.state, session.own_turn
        if turn.is_news(state.stop):
            turn.wanted = None
            if session.is_working:
                self._cancel(session)
        for question, decision in self._answering.decisions(session):
            self._answer(session, question, decision)
        if turn.is_news(state.tell) and not _is_stopped_since(state):
            turn.wanted = state.tell
        self.go_on(session)

    def _answer(self, session: WireSession, question: Question, decision: Review) -> None:
        """Give the agent an answer. Words that belong to it go first, because the agent may make its next plan at once.
        If they can't go into this turn, they begin the next one."""
        turn, words = session.own_turn, _words_with(session, decision)
        if (question, decision) in turn.answers:
            return
        if words and self._can_steer(session):
            turn.wanted = turn.wanted or words
            if self._steer(session):
                turn.answers.append((question, decision))
                self._outbox.hold(HoldBack(session.id, turn.number, PATIENCE, ANSWER))
                return
        self._answering.give(session, question, decision)

    def give_answers(self, session: WireSession) -> None:
        """Give the agent its answers: it has the words that go before them, or did not say so in time."""
        waiting, session.own_turn.answers = session.own_turn.answers, []
        for question, decision in waiting:
            if self._answering.is_open(question):
                self._answering.give(session, question, decision)

    def go_on(self, session: WireSession) -> None:
        """Tell the agent what it is to hear now, as soon as that is possible."""
        turn = session.own_turn
        if turn.wanted is None or turn.steering:
            return
        if not session.is_working:
            if not self._has_request(session.id):
                self._prompt(session)
        elif self._can_steer(session):
            self._steer(session)
        elif turn.wanted.interrupt and not session.is_cancelled:
            self._cancel(session)

    def _prompt(self, session: WireSession) -> None:
        request = self._ask(
            session, PROMPT, "session/prompt", lambda blocks: {"sessionId": session.id, "prompt": blocks}
        )
        if request is not None:
            self._outbox.pass_on(self._lend(session))
            session.begin_turn(request)
            session.own_turn.is_on = True
            session.own_turn.number += 1
            self._show(self._own[request])

    def _can_steer(self, session: WireSession) -> bool:
        turn = session.own_turn
        return self.ways.steer is not None and not turn.is_unsteerable and not turn.is_deaf

    def _steer(self, session: WireSession) -> bool:
        """Put the words into the running turn. False if the agent knows all of them."""
        way = self.ways.steer
        assert way is not None
        if self._ask(session, STEERING, way.method, lambda blocks: way.params(session.id, blocks)) is None:
            return False
        session.own_turn.steering += 1
        return True

    def _cancel(self, session: WireSession) -> None:
        session.is_cancelled = True
        self._outbox.notify_agent("session/cancel", {"sessionId": session.id})
        self._answering.cancel_all(session)  # as a client does that cancels (R41)

    def _ask(self, session: WireSession, way: str, method: str, params: Callable[[list[Fields]], Fields]) -> str | None:
        """Send a request of our own with what people said; None if the agent knows all of it by now."""
        wanted, session.own_turn.wanted = session.own_turn.wanted, None
        block = self._block(session)
        if block is None:
            return None
        request = f"planwire-{self._new_word()}"
        message, told = session.tell(block, way)
        self._own[request] = _Own(session, told, block.words, wanted, way == STEERING)
        records = (Record(session.id, event, BY_RELAY) for event in (message, told))
        part = self.ways.prompt_part(block.text) if way == PROMPT else {"type": "text", "text": block.text}
        self._outbox.ask_agent(request, method, params([part]), *records)
        return request

    def _show(self, own: _Own) -> None:
        """Show the client the words as a message of the user's."""
        content = {"type": "text", "text": said_aloud(own.words)}
        update = {"sessionUpdate": "user_message_chunk", "content": content, "messageId": own.told.request}
        self._outbox.show_client(own.session.id, update)

    # -- the client

    def hold(self, session: WireSession, line: bytes) -> list[Action] | None:
        """Hold back a prompt of the client's while a turn of ours runs; None lets it pass. All go when the first has
        waited long enough."""
        if not session.own_turn.is_on or self.ways.queues:
            return None
        is_first = not session.own_turn.held
        session.own_turn.hold(line)
        return [HoldBack(session.id, session.own_turn.number, HOLD, PROMPT)] if is_first else []

    def hear_cancel(self, session: WireSession, line: bytes, *, is_turn: bool) -> None:
        """The client cancels the turn or a request. This goes to the agent at once, and again after a prompt that was
        held back."""
        session.is_cancelled |= is_turn
        if session.own_turn.held:
            session.own_turn.hold(line)

    def held(self, session: WireSession) -> list[bytes]:
        """Take out what was held back: the turn is over, or it takes too long."""
        session.own_turn.is_on = False
        held, session.own_turn.held = session.own_turn.held, []
        return held

    # -- the agent

    def is_own(self, request: object) -> bool:
        """Whether a request is one of ours."""
        return isinstance(request, str) and request in self._own

    def session_of(self, request: object) -> WireSession:
        """The session of one of our requests."""
        return self._own[str(request)].session

    def answered(self, message: FromAgent, value: Any) -> list[Action]:
        """The agent answered a request of ours; `value` is the result or the error. The client hears nothing of it."""
        own = self._own.pop(str(message.id))
        failed = message.error is not UNSET
        if own.steers:
            return self._steered(own, value, failed=failed)
        return self._prompted(own, message.id, value, failed=failed)

    def _steered(self, own: _Own, value: Any, *, failed: bool) -> list[Action]:
        turn = own.session.own_turn
        turn.steering = max(turn.steering - 1, 0)
        self.give_answers(own.session)
        outcome = self.ways.steer.outcome(value, failed) if self.ways.steer else "refused"
        if outcome == "injected":
            self._show(own)
            return []
        turn.is_unsteerable |= outcome == "refused"
        turn.is_deaf = True
        turn.wanted = turn.wanted or own.wanted
        return [Record(own.session.id, own.session.context.take_back(STEERED, own.told), BY_RELAY)]

    def _prompted(self, own: _Own, request: object, value: Any, *, failed: bool) -> list[Action]:
        session = own.session
        was_last = session.prompt_answered(request)
        actions: list[Action] = []
        if failed:
            problem = text_of(value, "message") or "it gave no reason"
            actions.append(Warn(f"the agent refused what people said ({problem}): it goes with the next prompt"))
            actions.append(Record(session.id, session.context.take_back(STEERED, own.told), BY_RELAY))
        reason = "error" if failed else text_of(value, "stopReason")
        if reason and was_last:
            actions += session.end_turn(reason)
        return actions


def _is_stopped_since(state: SessionState) -> bool:
    """Whether a person stopped the turn after the wish to have the agent told something."""
    return state.stop is not None and state.tell is not None and state.stop.seq > state.tell.seq


def _words_with(session: WireSession, decision: Review) -> Wish | None:
    """The wish to have the agent hear what a person said with a decision, if they said something."""
    state = session.state()
    remarks = (each for record in state.plans.values() for each in record.open_remarks)
    if any(each.review == decision.seq and each.text and each.told is None for each in remarks):
        return Wish(decision.seq, decision.at, decision.by)
    return None
