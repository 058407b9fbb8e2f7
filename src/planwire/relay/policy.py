"""The relay's policy: a line from one side in, actions out. No I/O, no clock, no randomness.

A line that the policy has no reason to change leaves byte for byte. Lines come and go with their line feeds.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from msgspec import UNSET

from planwire.acp.batches import UNREADABLE
from planwire.acp.conversation import asks_for_replay, value_of
from planwire.acp.messages import Reading
from planwire.acp.permissions import selection
from planwire.acp.read import read
from planwire.acp.splice import Unspliceable, append_element
from planwire.acp.words import ATTACHING, OPENING, PLAN_UPDATES, SPOKEN
from planwire.chat.retelling import STEERED
from planwire.journal.protocol import Terms
from planwire.model.events import Gap, SessionOpened
from planwire.model.kinds import prose_of
from planwire.model.plan import Fields
from planwire.model.records import PROMPT
from planwire.model.titles import title_of_prompt
from planwire.readmodel.states import RELAY
from planwire.relay.actions import BY_RELAY, Action, HoldBack, Leave, Record, SessionMemory, ToAgent, ToClient, Warn
from planwire.relay.agents import AgentRow
from planwire.relay.answering import Answering
from planwire.relay.batched import batched
from planwire.relay.capabilities import offer
from planwire.relay.client_requests import ClientRequest, ClientRequests
from planwire.relay.connection import Connection
from planwire.relay.envelope import (
    WORDS_OF_SIGNS,
    FromAgent,
    first_text,
    last_text,
    peek_agent,
    peek_client,
    session_of_plan,
    text_of,
    update_of,
)
from planwire.relay.fast_lists import KnownLists
from planwire.relay.framing import TOO_LONG
from planwire.relay.openings import Openings
from planwire.relay.other_updates import HANDLERS
from planwire.relay.outbox import Outbox
from planwire.relay.prompting import Prompting
from planwire.relay.questions import Questions
from planwire.relay.thoughts import SAYINGS, Overheard
from planwire.relay.titles import listed_without_blocks
from planwire.relay.tools import Tools, ToolServer
from planwire.relay.translated import blank_line, followed, translated, whole_list
from planwire.relay.wire_session import ContextBlock, WireSession


class Policy:
    """One connection. `command` names an agent that does not name itself; `new_word` makes random words for marks;
    `server` has the plan tools, if the agent gets them; `read_file` gives the text of a plan file by its URI and the
    folder of its session, or None. Without `steers`, what people do elsewhere reaches the agent only with the client's
    own prompts. `learned` are rows of agents that win over planwire's own."""

    def __init__(
        self,
        command: str,
        new_word: Callable[[], str],
        *,
        context: bool = True,
        steers: bool = True,
        server: ToolServer | None = None,
        read_file: Callable[[str, str | None], str | None] = lambda _uri, _folder: None,
        learned: Sequence[AgentRow] = (),
    ) -> None:
        self._new_word = new_word
        self._context = context
        self._sides = Connection(command, Questions(new_word), self._file_text, learned)
        self._overheard = Overheard()
        self._requests = ClientRequests()
        self._outbox = Outbox()
        self._tools = Tools(server, new_word)
        self._openings = Openings(self._sides, self._requests, self._tools, self._overheard)
        self._sessions = self._openings.sessions
        self._answering = Answering(self._outbox, self._sides.questions, self._sessions)
        self._prompting = Prompting(
            self._outbox, self._answering, self._block, self._requests.has_any, self._lend, new_word, is_on=steers
        )
        self._lists = KnownLists()
        self._read_file = read_file

    def learn(self, session: str, memory: SessionMemory) -> None:
        """Take in what the journal holds of a session, at first and whenever another writer changed it."""
        if session in self._sessions:
            self._sessions[session].learn(memory)
            self._outbox.tell_client(self._openings.unshown(self._sessions[session]))
            self._outbox.tell_client(followed(self._sessions[session], self._sides.translator))
            self._prompting.look(self._sessions[session])

    def is_working(self) -> bool:
        """Whether the agent works on a prompt: only then does it use tools."""
        return any(session.is_working for session in self._sessions.values())

    def is_asking(self) -> bool:
        """Whether the agent waits for a person's answer about a plan."""
        return any(session.questions.is_any_open for session in self._sessions.values())

    def terms(self, session_id: str) -> Terms:
        """What the lease of a session says."""
        session = self._sessions.get(session_id)
        return Terms(RELAY, session is not None and session.is_working, self._prompting.abilities(session))

    def lack_journal(self, problem: str) -> None:
        """Leave the plan tools out: their journal can't be used."""
        self._tools.fail(problem)

    @property
    def has_lines(self) -> bool:
        """Whether lines of the relay's own wait for the pipes."""
        return not self._outbox.is_empty

    def for_agent(self) -> list[Action]:
        """Lines of the relay's own for the agent: answers and words of people."""
        return self._outbox.for_agent()

    def for_client(self) -> list[Action]:
        """Lines of the relay's own for the client, and the plans that the agent made with the tools."""
        return [*self._outbox.for_client(), *self._tools.news(self._sessions.values(), self._sides.translator)]

    def end_input(self) -> None:
        """No more lines come from the client: those held back go to the agent while they can."""
        for session in self._sessions.values():
            self._let_pass(session)

    def lose_client(self) -> list[Action]:
        """The client's input is at its end: from now on nothing reaches the agent."""
        self._prompting.is_on = False
        return [*self._answering.lose_client()]

    def overdue(self, hold: HoldBack) -> None:
        """Something has waited as long as it may: let it go."""
        session = self._sessions.get(hold.session)
        if session is None:
            return  # all was quiet in it, and it was left
        if hold.what != PROMPT:
            self._prompting.give_answers(session)
        elif session.own_turn.number == hold.turn:
            self._let_pass(session)

    def close(self) -> list[Action]:
        """Both sides have ended: end every replay and every turn."""
        actions: list[Action] = []
        for session in self._sessions.values():
            actions += session.close()
        return [*actions, *(self._tools.absence() if any(each.worked for each in self._sessions.values()) else ())]

    # -- from the client

    def from_client(self, line: bytes) -> list[Action]:
        return [*self._outbox.behind(self._hear_client(line)), *self._left()]

    def _hear_client(self, line: bytes) -> list[Action]:
        try:
            message = peek_client(line)
            params = value_of(message.params) if message.method in _HEARD else None
        except UNREADABLE:
            actions = batched(line, self._hear_client, ToAgent)
            return [ToAgent(line)] if actions is None else actions
        if message.method is UNSET:
            return self._answering.hear(line, message)
        if not isinstance(params, dict):
            self._requests.remember_other(message)
            return [ToAgent(line)]
        match message.method:
            case "session/cancel" | "$/cancel_request":
                return self._cancelled(line, params)
            case "initialize":
                self._requests.remember(message.id, ClientRequest("initialize", params))
                return [ToAgent(offer(line, params))]
            case "session/prompt":
                return self._prompted(line, message.id, params)
        method = str(message.method)
        line, key, warnings = self._tools.offer(line, method, params, self._sides.capabilities)
        self._requests.remember(message.id, ClientRequest(method, params, key=key))
        return [ToAgent(line), *warnings, *self._openings.attach(params, method, key)]

    def _prompted(self, line: bytes, message_id: object, params: Fields) -> list[Action]:
        session_id = params.get("sessionId")
        if not isinstance(session_id, str) or message_id is UNSET:  # no answer will say when it is over
            return [ToAgent(line)]
        actions: list[Action] = [*self._openings.meet(session_id, by_client=True)]
        session = self._sessions[session_id]
        if session.own_turn.is_full:
            self._let_pass(session)
        held = self._prompting.hold(session, line)
        if held is not None:
            return [*actions, *held]
        actions += session.end_retelling()
        first = first_text(params.get("prompt"))
        is_command = first.startswith("/")
        if not session.has_title and first and not is_command:
            session.has_title = True
            actions.append(Record(session_id, SessionOpened(title=title_of_prompt(first)), BY_RELAY))
        told = None
        why = self._reason(session) if self._context and params.get("prompt") and not is_command else None
        block = self._block(session, why) if why is not None else None
        if block is not None:
            try:
                line = append_element(line, ("params", "prompt"), self._sides.ways.prompt_part(block.text))
                message, told = session.tell(block, PROMPT, last_text(params.get("prompt")))
                actions += (Record(session_id, event, BY_RELAY) for event in (message, told))
            except Unspliceable:
                pass
        actions += self._lend(session)
        session.begin_turn(message_id)
        session.signs.prompt(first, self._sides.ways)
        if self._sides.translator is not None:
            self._sides.translator.settle(session_id)
        self._requests.remember(message_id, ClientRequest("session/prompt", {"sessionId": session_id}, why, told))
        return [ToAgent(line), *actions]

    def _reason(self, session: WireSession) -> str | None:
        """Why a prompt has to tell the agent something, or None."""
        is_hidden = self._sides.ways.hides_tools and self._tools.has(session.id)
        return session.due() or (session.announcing() if is_hidden else None)

    def _lend(self, session: WireSession) -> Iterator[Action]:
        return self._tools.lend(session, self._sessions.values())

    def _block(self, session: WireSession, why: str = STEERED) -> ContextBlock | None:
        """A block for the agent. It names hidden tools unless the agent knows of them for sure."""
        is_hidden = self._sides.ways.hides_tools and self._tools.has(session.id)
        announces = is_hidden and (why != STEERED or session.announcing() is not None)
        file_text = partial(self._file_text, session.id)
        return session.block(why, self._new_word(), file_text, announces_tools=announces)

    def _cancelled(self, line: bytes, params: Fields) -> list[Action]:
        for session in self._sessions.values():
            is_turn = params.get("sessionId") == session.id
            if is_turn or "requestId" in params:
                self._prompting.hear_cancel(session, line, is_turn=is_turn)
        return [ToAgent(line)]

    # -- from the agent

    def words_of_agent(self) -> tuple[bytes, ...]:
        """Words that make a line of the agent's matter at the moment, though it is not about plans."""
        spoken = (_SPOKEN,) if self._sides.translator is not None and self._sides.translator.is_open else ()
        return (*spoken, *self._tools.words)

    def overhear(self, block: bytes) -> None:
        """Lines of the agent's passed by without any of our words. This needs no lock (see `Overheard`)."""
        self._overheard.pass_by(block)

    def hear_beginning(self, line: bytes) -> list[Action]:
        """The beginning of a line of the agent's that is too long to be read: a plan in it leaves a gap."""
        session_id = session_of_plan(line)
        if not session_id:
            return [] if session_id is None else [Warn(f"{TOO_LONG}, and was not recorded")]
        gap = Record(session_id, Gap(1, TOO_LONG), BY_RELAY)
        return self._openings.put_off([*self._openings.meet(session_id), gap])

    def from_agent(self, line: bytes) -> list[Action]:
        before = self._outbox.for_client()  # the agent may use the id of a question again once it has an answer
        return [*before, *self._openings.put_off(self._hear_agent(line)), *self._left()]

    def _hear_agent(self, line: bytes) -> list[Action]:
        passing = self._lists.passing(line)
        if passing is not None:
            return [ToClient(passing.line), *passing.session.hear_list(line, passing.plan_id)]
        try:
            message = peek_agent(line)
        except UNREADABLE:
            heard = batched(line, self._hear_agent, ToClient)
            return self._read(line, read(line)) if heard is None else heard
        if message.method is UNSET and self._prompting.is_own(message.id):
            return self._answered_to_us(message)
        if message.method is UNSET:
            actions = [*self._answered_by_agent(message)]  # what is still to be retold comes before the answer
            retold = [action for action in actions if isinstance(action, ToClient)]
            others = (action for action in actions if not isinstance(action, ToClient))
            return [*retold, ToClient(listed_without_blocks(line)), *others]
        params = message.params
        has_session = params is not UNSET and params.sessionId is not UNSET
        if message.id is not UNSET and not (message.method == "session/request_permission" and has_session):
            self._sides.questions.use_again(message.id)
        if message.method == "$/cancel_request":
            return [ToClient(line), *self._answering.withdraw(line)]
        if params is UNSET or params.sessionId is UNSET:
            return [ToClient(line)] if message.method != "session/update" else self._read(line, read(line))
        if message.method == "session/request_permission" and message.id is not UNSET:
            option = self._tools.grant(params.sessionId, line, self._sides.ways) if self._prompting.is_on else None
            if option is not None:
                self._outbox.answer_agent(message.id, selection(option))
                return []
            met = [*self._openings.meet(params.sessionId)]
            asked = self._answering.ask(self._sessions[params.sessionId], message.id, line)
            return [*whole_list(params.sessionId, self._sides.translator), ToClient(line), *met, *asked]
        if message.method != "session/update" or params.update is UNSET:
            return [ToClient(line)]
        sort = params.update.sessionUpdate
        if sort in PLAN_UPDATES:
            return self._read(line, read(line))
        if sort in SAYINGS:
            self._overheard.keep(line)
        gap = blank_line(params.sessionId, self._sides.translator) if sort == SPOKEN else []
        handle = HANDLERS.get(sort) if isinstance(sort, str) else None
        has_sign = any(word in line for word in WORDS_OF_SIGNS)
        update = update_of(line) if handle or has_sign else None
        if update is None:
            return [*gap, ToClient(line)]
        met = [*self._openings.meet(params.sessionId)]
        session = self._sessions[params.sessionId]
        self._tools.hear_call(session.id, update)
        heard = handle(line, update, session, self._sides) if handle else [ToClient(line)]
        actions = [*gap, *met, *heard, *session.hear_sign(update, self._sides.ways)]
        self._go_on(session)
        return actions

    def _read(self, line: bytes, reading: Reading) -> list[Action]:
        """Translate a line about plans for the client, whatever its shape, and record it."""
        update = reading.updates[0] if len(reading.updates) == 1 else None
        if update is None or update.envelope.bare or update.session is None:
            return [ToClient(line)]
        actions = [*self._openings.meet(update.session)]
        session = self._sessions[update.session]
        session.show_missed_list(self._sides.translator)
        actions += session.hear(update.body)
        text = prose_of(update.body)
        if self._sides.translator is not None and update.body is not None and text is not None:
            if self._sides.questions.has_shown(session.id, text):
                self._sides.translator.know(session.id, update.body.id, text)
        sent = [*translated(line, reading, self._sides.translator)]
        self._lists.learn(line, sent, reading, session, self._sides.translator)
        whole = whole_list(session.id, self._sides.translator) if not session.is_working else ()
        return [*sent, *whole, *actions]

    def _answered_to_us(self, message: FromAgent) -> list[Action]:
        session = self._prompting.session_of(message.id)
        whole = whole_list(session.id, self._sides.translator)
        value = value_of(message.result if message.error is UNSET else message.error)
        actions = self._prompting.answered(message, value)
        self._go_on(session)
        return [*whole, *actions]

    def _answered_by_agent(self, message: FromAgent) -> Iterator[Action]:
        asked = self._requests.answer(message.id)
        if asked is None:
            return
        failed = message.error is not UNSET
        result = value_of(message.result)
        session_id = asked.params.get("sessionId")
        match asked.method:
            case "initialize" if not failed:
                self._sides.initialize(asked.params, result)
                self._prompting.ways = self._sides.ways
                self._lists = KnownLists()
            case method if method in OPENING and isinstance(result, dict):
                session_id = result.get("sessionId")
                yield from self._openings.opened(session_id, asked)
            case method if method in ATTACHING and isinstance(session_id, str):
                yield from self._openings.attached(self._sessions[session_id], asked, failed=failed)
                if asks_for_replay(method, asked.params) and not failed:
                    yield from (*self._openings.unshown(self._sessions[session_id]), *self.for_client())
            case "session/prompt" if isinstance(session_id, str):
                yield from self._turn_answered(self._sessions[session_id], message, asked, result)
        if isinstance(session_id, str) and session_id in self._sessions:
            self._outbox.tell_client(self._openings.unshown(self._sessions[session_id]))
            self._go_on(self._sessions[session_id])

    def _turn_answered(
        self, session: WireSession, message: FromAgent, asked: ClientRequest, result: Any
    ) -> Iterator[Action]:
        yield from whole_list(session.id, self._sides.translator)
        was_last = session.prompt_answered(message.id)
        if message.error is not UNSET and asked.why is not None and asked.told is not None:
            yield Record(session.id, session.context.take_back(asked.why, asked.told), BY_RELAY)
        stop_reason = "error" if message.error is not UNSET else text_of(result, "stopReason")
        if stop_reason and was_last:  # in version 2 the answer only says that it has begun
            yield from session.end_turn(stop_reason)

    # -- both

    def _left(self) -> Iterator[Action]:
        """Let go of sessions that are quiet, if there are very many: their ids may never come back."""
        for session in self._openings.leave():
            self._lists.forget(session)
            yield from session.close()
            yield Leave(session.id)

    def _go_on(self, session: WireSession) -> None:
        """Go on with what waited for the end of a turn, or of a request."""
        if not session.is_working:
            self._let_pass(session)
            if session.worked > 1:  # some agents start their servers after the first turn
                self._outbox.tell_client(self._tools.absence())
        self._prompting.go_on(session)

    def _let_pass(self, session: WireSession) -> None:
        for line in self._prompting.held(session):
            self._outbox.pass_on(self._hear_client(line))

    def _file_text(self, session_id: str | None, uri: str) -> str | None:
        """The text of a session's plan file, if it may be read."""
        session = self._sessions.get(session_id or "")
        return self._read_file(uri, session.folder) if session else None


_SPOKEN = b'"%b"' % SPOKEN.encode()
_HEARD = OPENING | ATTACHING | {"initialize", "session/cancel", "session/prompt", "$/cancel_request"}
