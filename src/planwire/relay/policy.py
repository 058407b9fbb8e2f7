"""The relay's policy: a line from one side in, actions out. No I/O, no clock, no randomness.

A line that the policy has no reason to change leaves byte for byte. Lines come and go with their line feeds.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Final

from msgspec import UNSET, Struct

from planwire.acp.batches import UNREADABLE, split_batch
from planwire.acp.conversation import AGENT, CLIENT, asks_for_replay, value_of
from planwire.acp.messages import Extension, Reading
from planwire.acp.read import read
from planwire.acp.requests import Requests
from planwire.acp.translate import Translator
from planwire.acp.words import ATTACHING, OPENING, PLAN_UPDATES
from planwire.chat.reminder import Reminder, write_reminder
from planwire.journal.protocol import Terms
from planwire.model.events import Event, MessageAdded, SessionOpened, Told, TurnEnded
from planwire.model.kinds import prose_of
from planwire.model.plan import Fields
from planwire.readmodel.states import RELAY
from planwire.relay.actions import BY_RELAY, CLOSED, Action, Meet, Record, SessionMemory, ToAgent, ToClient
from planwire.relay.capabilities import Capabilities, name_in, offer
from planwire.relay.envelope import (
    FromAgent,
    FromClient,
    JsonId,
    first_text,
    peek_agent,
    peek_client,
    text_of,
    title_of,
    update_of,
)
from planwire.relay.fast_lists import KnownPrefixes
from planwire.relay.other_updates import HANDLERS, Agreement
from planwire.relay.questions import Questions
from planwire.relay.reminder import STEERED, block, tell
from planwire.relay.splice import Unspliceable, append_element
from planwire.relay.tools import Tools, ToolServer
from planwire.relay.wire_session import WireSession

__all__ = ["WORDS_OF_AGENT", "WORDS_OF_CLIENT", "Policy"]

#: A line without any of these words is none of the policy's business: the pipes pass it on unread.
WORDS_OF_CLIENT: Final = (b'"id"',)
WORDS_OF_AGENT: Final = (
    b'"id"',
    b'"plan',
    b'"user_message',
    b'"usage_update"',
    b'"state_update"',
    b'"compaction_',
    b'"session_info_update"',
    b'"switch_mode"',
)


class _ClientRequest(Struct, frozen=True):
    """A request of the client's that waits for its answer. `told`: it told the agent its plans, for the reason `why`.
    `key`: it gave the agent the plan tools."""

    method: str
    params: Fields
    why: str | None = None
    told: Told | None = None
    key: str | None = None


class Policy:
    """One connection. `command` names an agent that does not name itself; `new_word` makes random words for marks;
    `server` has the plan tools, if the agent gets them; `read_file` gives the text of a plan file by its URI and the
    folder of its session, or None."""

    def __init__(
        self,
        command: str,
        new_word: Callable[[], str],
        *,
        context: bool = True,
        server: ToolServer | None = None,
        read_file: Callable[[str, str | None], str | None] = lambda _uri, _folder: None,
    ) -> None:
        self._agent = self._command = command
        self._client: str | None = None
        self._new_word = new_word
        self._context = context
        self._agreed = Agreement(None, Questions())
        self._translator: Translator | None = None
        self._sessions: dict[str, WireSession] = {}
        self._unanswered = Requests[_ClientRequest]()
        self._prefixes = KnownPrefixes()
        self._tools = Tools(server, new_word)
        self._read_file = read_file

    def learn(self, session: str, memory: SessionMemory) -> None:
        """Take in what the journal holds of a session, at first and whenever another writer changed it."""
        if session in self._sessions:
            self._sessions[session].learn(memory)

    def is_working(self) -> bool:
        """Whether the agent works on a prompt: only then does it use tools."""
        return any(session.is_working for session in self._sessions.values())

    def terms(self, session_id: str) -> Terms:
        """What the lease of a session says."""
        session = self._sessions.get(session_id)
        return Terms(RELAY, is_working=session is not None and session.is_working)

    def lack_journal(self, problem: str) -> None:
        """Leave the plan tools out: their journal can't be used."""
        self._tools.fail(problem)

    def news(self) -> list[Action]:
        """Lines of the relay's own for the client: the plans that the agent made with the tools."""
        return self._tools.news(self._sessions.values(), self._translator)

    def close(self) -> list[Action]:
        """Both sides are at their end: a replay that was going on is over, and so is every turn."""
        actions: list[Action] = []
        for session in self._sessions.values():
            actions += session.end_retelling()
            if session.is_working or not session.has_stopped:
                reason = "disconnected" if session.is_working else CLOSED
                actions.append(Record(session.id, TurnEnded(reason), BY_RELAY))
        return actions

    # -- from the client

    def from_client(self, line: bytes) -> list[Action]:
        try:
            message = peek_client(line)
            params = value_of(message.params) if message.method in _HEARD else None
        except UNREADABLE:
            return self._batch(line, self.from_client, ToAgent) or [ToAgent(line)]
        if message.method is UNSET:
            return [ToAgent(line), *self._answered_by_client(message)]
        if not isinstance(params, dict):
            return [ToAgent(line)]
        match message.method:
            case "initialize":
                self._remember(message.id, _ClientRequest("initialize", params))
                return [ToAgent(offer(line, params))]
            case "session/prompt":
                return self._prompted(line, message.id, params)
        method = str(message.method)
        line, key, warnings = self._tools.offer(line, method, params, self._agreed.capabilities)
        self._remember(message.id, _ClientRequest(method, params, key=key))
        return [ToAgent(line), *warnings, *self._attached(method, params, key)]

    def _attached(self, method: str, params: Fields, key: str | None) -> Iterator[Action]:
        """An old session goes on. The agent may retell its history (R37, R39)."""
        session_id = params.get("sessionId")
        if method not in ATTACHING or not isinstance(session_id, str):
            return
        session = self._sessions.get(session_id)
        is_retold = asks_for_replay(method, params)
        self._tools.attach(session_id, is_new=session is None, retelling=is_retold)
        cwd = text_of(params, "cwd") or None
        self._tools.bind(session_id, key, cwd)
        if session is None:
            session = self._sessions[session_id] = WireSession(session_id, attached=True)
            yield Meet(session_id, False, self._agent, cwd)
        session.cwd = cwd or session.cwd
        session.attach()
        if is_retold:
            session.show_missed_list(self._translator)
            session.plans.begin_retelling()
            if self._translator is not None:
                self._translator.retell(session_id)

    def _prompted(self, line: bytes, message_id: object, params: Fields) -> list[Action]:
        session_id = params.get("sessionId")
        if not isinstance(session_id, str):
            return [ToAgent(line)]
        actions: list[Action] = [*self._met(session_id)]
        session = self._sessions[session_id]
        actions += session.end_retelling()
        first = first_text(params.get("prompt"))
        is_command = first.startswith("/")
        if not session.has_title and first and not is_command:
            session.has_title = True
            actions.append(Record(session_id, SessionOpened(title=title_of(first)), BY_RELAY))
        told = None
        why = session.due() if self._context and params.get("prompt") and not is_command else None
        if why is not None:
            line, events = self._tell(line, session, why)
            actions += (Record(session_id, event, BY_RELAY) for event in events)
            told = next((event for event in events if isinstance(event, Told)), None)
        session.begin_turn(message_id)
        self._remember(message_id, _ClientRequest("session/prompt", {"sessionId": session_id}, why, told))
        return [ToAgent(line), *actions]

    def _tell(self, line: bytes, session: WireSession, why: str) -> tuple[bytes, Sequence[Event]]:
        """Add a block to the prompt that tells the agent its plans, if there is anything to tell."""
        state = session.state()
        words = session.context.words(why, state)
        if not words and (why == STEERED or not session.records()):
            return line, ()
        read = partial(self._file_text, session.id)
        mark, text = block(tell(why, state, words, read), self._new_word())
        try:
            line = append_element(line, ("params", "prompt"), {"type": "text", "text": text})
        except Unspliceable:
            return line, ()
        reminder = Reminder(mark, text, f"{why.partition('.')[0]}.")
        return line, (MessageAdded(write_reminder(reminder)), session.context.tell(mark, text, words))

    def _answered_by_client(self, message: FromClient) -> Iterator[Action]:
        question = self._agreed.questions.close(message.id)
        if question is not None:
            yield from self._sessions[question.session].hear_answer(question, value_of(message.result))

    # -- from the agent

    def from_agent(self, line: bytes) -> list[Action]:
        session = self._prefixes.session_of(line)
        if session is not None:
            return [ToClient(line), *session.hear_list(line)]
        try:
            message = peek_agent(line)
        except UNREADABLE:
            return self._batch(line, self.from_agent, ToClient) or self._read(line, read(line))
        if message.method is UNSET:
            actions = [*self._answered_by_agent(message)]  # what is still to be retold comes before the answer (R37)
            retold = [action for action in actions if isinstance(action, ToClient)]
            return [*retold, ToClient(line), *(action for action in actions if not isinstance(action, ToClient))]
        params = message.params
        if params is UNSET or params.sessionId is UNSET:
            return [ToClient(line)] if message.method != "session/update" else self._read(line, read(line))
        if message.method == "session/request_permission" and message.id is not UNSET:
            return [ToClient(line), *self._questioned(message.id, line, params.sessionId)]
        if message.method != "session/update" or params.update is UNSET:
            return [ToClient(line)]
        sort = params.update.sessionUpdate
        if sort in PLAN_UPDATES:
            return self._read(line, read(line))
        handle = HANDLERS.get(sort) if isinstance(sort, str) else None
        if handle is None:
            return [ToClient(line)]
        update = update_of(line)
        if update is None:
            return [ToClient(line)]
        met = [*self._met(params.sessionId)]
        return [*met, *handle(line, update, self._sessions[params.sessionId], self._agreed)]

    def _read(self, line: bytes, reading: Reading) -> list[Action]:
        """Translate a line about plans for the client, whatever its shape, and record it."""
        if len(reading.updates) != 1:
            return [ToClient(line)]
        [update] = reading.updates
        if update.envelope.bare or update.session is None:
            return [ToClient(line)]
        actions = [*self._met(update.session)]
        session = self._sessions[update.session]
        if self._translator is not None and self._translator.dialect.baseline:
            self._prefixes.learn(line, reading, session)
        session.show_missed_list(self._translator)
        actions += session.hear(update.body)
        text = prose_of(update.body)
        if self._translator is not None and update.body is not None and text is not None:
            if self._agreed.questions.has_shown(session.id, text):
                self._translator.know(session.id, update.body.id, text)
        return [*self._translated(line, reading), *actions]

    def _translated(self, line: bytes, reading: Reading) -> Iterator[Action]:
        if self._translator is None:
            yield ToClient(line)
            return
        text = line.rstrip(b"\r\n")
        lines = self._translator.translate(text, AGENT, reading)
        asked_for = isinstance(reading.updates[0].body, Extension) and self._translator.dialect.operations
        if asked_for or lines == (text,):  # who gets pieces of a text has asked for pieces
            yield ToClient(line)
        else:
            ending = line[len(text) :] or b"\n"
            yield from (ToClient(each + ending) for each in lines)

    def _questioned(self, message_id: JsonId, line: bytes, session_id: str) -> Iterator[Action]:
        yield from self._met(session_id)
        session = self._sessions[session_id]
        value = value_of(line)
        if value:
            current = session.questions.unasked(session.plans.current)
            question = self._agreed.questions.ask(message_id, value.get("params"), session.plans.plans, current)
            yield from session.hear_question(question) if question else ()

    def _answered_by_agent(self, message: FromAgent) -> Iterator[Action]:
        asked = self._unanswered.answer(CLIENT, message.id)
        if asked is None:
            return
        failed = message.error is not UNSET
        result = value_of(message.result)
        session_id = asked.params.get("sessionId")
        match asked.method:
            case "initialize" if not failed:
                self._initialized(asked.params, result)
            case method if method in OPENING and isinstance(result, dict):
                yield from self._opened(result.get("sessionId"), asked.params, asked.key)
            case method if method in ATTACHING and isinstance(session_id, str):
                session = self._sessions[session_id]
                was_retold = session.plans.is_retold
                yield from session.end_retelling(failed=failed)
                self._tools.open(session_id, failed=failed)
                if failed:
                    session.context.detach()
                else:
                    yield from self.news() if was_retold else ()
                    yield from self._opened(session_id, asked.params)
            case "session/prompt" if isinstance(session_id, str):
                yield from self._turn_answered(self._sessions[session_id], message, asked, result)

    def _initialized(self, request: Fields, result: Any) -> None:
        capabilities = Capabilities.agreed(request, result)
        self._agreed = Agreement(capabilities, self._agreed.questions)
        self._translator = Translator(capabilities.dialect, self._file_text)
        self._prefixes = KnownPrefixes()
        self._client = name_in(request.get("clientInfo") or request.get("info"))
        if isinstance(result, dict):
            self._agent = name_in(result.get("agentInfo") or result.get("info")) or self._command

    def _opened(self, session_id: object, params: Fields, key: str | None = None) -> Iterator[Action]:
        if isinstance(session_id, str):
            yield from self._met(session_id, fresh=True)
            cwd = text_of(params, "cwd") or None
            self._sessions[session_id].cwd = cwd
            self._tools.bind(session_id, key, cwd)
            yield Record(session_id, SessionOpened(self._agent, self._client, cwd), BY_RELAY)

    def _turn_answered(
        self, session: WireSession, message: FromAgent, asked: _ClientRequest, result: Any
    ) -> Iterator[Action]:
        was_last = session.prompt_answered(message.id)
        if message.error is not UNSET and asked.why is not None and asked.told is not None:
            yield Record(session.id, session.context.take_back(asked.why, asked.told), BY_RELAY)
        stop_reason = "error" if message.error is not UNSET else text_of(result, "stopReason")
        if stop_reason and was_last:  # in version 2 the answer only says that it has begun
            session.end_turn()
            yield Record(session.id, TurnEnded(stop_reason))

    # -- both

    def _met(self, session_id: str, *, fresh: bool | None = None) -> Iterator[Action]:
        if session_id not in self._sessions:
            fresh = self._is_opening() if fresh is None else fresh
            self._sessions[session_id] = WireSession(session_id, attached=not fresh)
            yield Meet(session_id, fresh, self._agent)

    def _file_text(self, session_id: str | None, uri: str) -> str | None:
        """The text of a session's plan file, if it may be read."""
        session = self._sessions.get(session_id or "")
        return self._read_file(uri, session.folder) if session else None

    def _is_opening(self) -> bool:
        """Whether a session that nobody mentioned before is likely the one that the client just asked for."""
        return any(asked.method in OPENING for asked in self._unanswered)

    def _remember(self, message_id: Any, asked: _ClientRequest) -> None:
        if message_id is not UNSET:
            self._unanswered.ask(CLIENT, message_id, asked)

    def _batch(
        self, line: bytes, hear: Callable[[bytes], list[Action]], to: type[ToAgent] | type[ToClient]
    ) -> list[Action]:
        """Hear each message of a batch on its own (R36). Nothing if the line is no batch."""
        messages = split_batch(line)
        if not messages:
            return []
        actions = [action for message in messages for action in hear(message)]
        sent = [action.data.rstrip(b"\r\n") for action in actions if isinstance(action, to)]
        rest = [action for action in actions if not isinstance(action, to)]
        if sent == messages:
            return [to(line), *rest]
        return [*([to(b"[%b]\n" % b",".join(sent))] if sent else []), *rest]


_HEARD = OPENING | ATTACHING | {"initialize", "session/prompt"}
