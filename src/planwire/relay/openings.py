"""Sessions that begin, go on or are forks, and what their client has to be shown.

The id of a new session comes with the agent's answer, but some agents mention it before. So a session is met when its
id is first mentioned, on whatever line.
"""

from collections.abc import Iterator
from typing import Final

from planwire.acp.conversation import asks_for_replay
from planwire.acp.messages import Update
from planwire.acp.words import ATTACHING, FORK, OPENING
from planwire.model.events import SessionOpened
from planwire.model.kinds import prose_of
from planwire.model.plan import Fields
from planwire.model.records import PLANWIRE
from planwire.relay.actions import BY_RELAY, Action, Meet, Record, RecordLine, ToClient
from planwire.relay.client_requests import ClientRequest, ClientRequests
from planwire.relay.connection import Connection
from planwire.relay.envelope import text_of
from planwire.relay.thoughts import Overheard
from planwire.relay.tools import Tools
from planwire.relay.wire_session import WireSession

#: Sessions that stay in memory, however many ids a connection mentions.
MOST_SESSIONS: Final = 1_000


class Openings:
    """The sessions of one connection, by their ids on the wire."""

    def __init__(self, sides: Connection, requests: ClientRequests, tools: Tools, overheard: Overheard) -> None:
        self.sessions: dict[str, WireSession] = {}
        self._sides = sides
        self._requests = requests
        self._tools = tools
        self._overheard = overheard
        self._most = MOST_SESSIONS
        self._unnamed: dict[str, list[Action]] = {}  # what is put off, by sessions not explained yet

    def meet(self, session_id: str, *, by_client: bool = False) -> Iterator[Action]:
        """Meet the session of a line, unless it is known. One that the agent names first is likely the one that the
        client asked for. While forks are open, only an answer says whose history a session has. The client names no
        session before it has an answer."""
        is_open = not by_client and self._requests.are_forks_open
        if session_id in self._unnamed and not is_open:
            yield from self._named(session_id, None)
        elif session_id not in self.sessions and is_open:
            session = self.sessions[session_id] = WireSession(session_id, self._overheard, attached=False)
            session.context.attach()
            session.plans.begin_retelling()
            self._unnamed[session_id] = []
        elif session_id not in self.sessions:
            yield from self._begin(session_id, None if by_client else self._requests.opening())

    def leave(self) -> Iterator[WireSession]:
        """If there are very many sessions, let go of the older ones that are quiet."""
        if len(self.sessions) <= self._most:
            return
        for session in list(self.sessions.values())[: -MOST_SESSIONS // 2]:
            is_awaited = self._requests.has_any(session.id) or session.id in self._unnamed
            if session.is_quiet and not is_awaited and not self._tools.has(session.id):
                del self.sessions[session.id]
                self._tools.forget(session.id)
                if self._sides.translator is not None:
                    self._sides.translator.forget(session.id)
                yield session
        self._most = max(MOST_SESSIONS, len(self.sessions) + MOST_SESSIONS // 2)

    def put_off(self, actions: list[Action]) -> list[Action]:
        """The actions, without those that would record something of a session before it is known what it is."""
        if not self._unnamed:
            return actions
        now: list[Action] = []
        for each in actions:
            if isinstance(each, Record | RecordLine) and each.session in self._unnamed:
                self._unnamed[each.session].append(each)
            else:
                now.append(each)
        return now

    def attach(self, params: Fields, method: str, key: str | None) -> Iterator[Action]:
        """The client loads or resumes a session. The agent may retell its history (R37, R39), some even unasked."""
        session_id = params.get("sessionId")
        if method not in ATTACHING or not isinstance(session_id, str):
            return
        if session_id in self._unnamed:
            yield from self._named(session_id, None)
        session = self.sessions.get(session_id)
        self._tools.attach(session_id, is_new=session is None, retelling=asks_for_replay(method, params))
        cwd = text_of(params, "cwd") or None
        self._tools.bind(session_id, key, cwd)
        if session is None:
            session = self.sessions[session_id] = WireSession(session_id, self._overheard, attached=True)
            yield Meet(session_id, False, self._sides.agent, cwd)
        session.cwd = cwd or session.cwd
        session.attach()
        session.show_missed_list(self._sides.translator)
        session.plans.begin_retelling()
        if asks_for_replay(method, params) and self._sides.translator is not None:
            self._sides.translator.retell(session_id)

    def attached(self, session: WireSession, asked: ClientRequest, *, failed: bool) -> Iterator[Action]:
        """The agent answered a load or resume. Another such request may still be open."""
        yield from session.end_retelling(failed=failed)
        if self._requests.is_attaching(session.id):
            session.plans.begin_retelling()
        self._tools.open(session.id, failed=failed)
        if failed:
            session.context.detach()
            return
        session.is_unshown = True
        yield from self.opened(session.id, asked)

    def opened(self, session_id: object, asked: ClientRequest) -> Iterator[Action]:
        """A session is open, under the id that the agent gave it."""
        if not isinstance(session_id, str):
            return
        if session_id in self._unnamed:
            yield from self._named(session_id, asked)
        elif session_id not in self.sessions:
            yield from self._begin(session_id, asked)
        session = self.sessions[session_id]
        if asked.method == FORK:
            session.is_unshown = True
            parent = self.sessions.get(text_of(asked.params, "sessionId"))
            if parent is not None:  # the fork's agent has read what the parent's has, even before the journal says so
                session.context.marks = {**parent.context.known_marks, **session.context.marks}
        cwd = text_of(asked.params, "cwd") or None
        session.cwd = cwd or session.cwd
        if asked.method in OPENING:
            self._tools.bind(session_id, asked.key, cwd)
        yield Record(session_id, SessionOpened(self._sides.agent, self._sides.client, cwd), BY_RELAY)

    def unshown(self, session: WireSession) -> Iterator[Action]:
        """Lines for the client with the plans that the agent did not retell of a session that goes on, once the journal
        has answered. Those of the tools come from `Tools.news`. A text that the chat has as a message is not shown
        again."""
        translator = self._sides.translator
        if session.memory is None or not session.is_unshown or translator is None:
            return
        session.is_unshown = False
        lines: dict[bytes, None] = {}  # without repeats: where all plans become one list, each brings it
        for record in session.records():
            plan = record.state.plan
            is_other = record.owner != PLANWIRE or not self._tools.has(session.id)
            if is_other and plan.id not in session.plans.mentioned:
                session.plans.is_plain = session.plans.is_plain and plan.id is None
                translator.know(session.id, plan.id, prose_of(plan) or "")
                tag = "plan" if plan.id is None else "plan_update"
                lines |= dict.fromkeys(translator.tell(Update(session.id, tag, plan)))
        yield from (ToClient(line + b"\n") for line in lines)

    def _begin(self, session_id: str, asked: ClientRequest | None) -> Iterator[Action]:
        """Meet a session: a new one if the client asked for one, otherwise one that may have a history."""
        self.sessions[session_id] = WireSession(session_id, self._overheard, attached=asked is None)
        yield self._meeting(session_id, asked)

    def _named(self, session_id: str, asked: ClientRequest | None) -> Iterator[Action]:
        """Meet a session that the agent mentioned before: what it told of a fork is the parent's history."""
        session = self.sessions[session_id]
        if asked is not None:
            session.context.detach()
        yield self._meeting(session_id, asked)
        yield from self._unnamed.pop(session_id)
        yield from session.end_retelling()

    def _meeting(self, session_id: str, asked: ClientRequest | None) -> Meet:
        parent = asked.params.get("sessionId") if asked and asked.method == FORK else None
        fork_of = parent if isinstance(parent, str) else None
        return Meet(session_id, asked is not None, self._sides.agent, fork_of=fork_of)
