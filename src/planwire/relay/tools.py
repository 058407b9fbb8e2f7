"""The plan tools for any agent: planwire's MCP server in its sessions, and updates of their plans for the client.

An agent starts the server before the id of a new session is known. So the server gets the name of a file (see
`session.handoff`), where it finds its session as soon as there is one, and how much of what it wrote the client knows.
Sans-IO.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple

from msgspec import Struct

from planwire.acp.conversation import value_of
from planwire.acp.messages import Removal, Update
from planwire.acp.permissions import tool_call_of
from planwire.acp.splice import Unspliceable, append_element, set_members
from planwire.acp.translate import Translator
from planwire.acp.words import ATTACHING
from planwire.chat.plan_tools import SERVER
from planwire.model.plan import Fields, PlanId
from planwire.model.records import PLANWIRE, SessionState
from planwire.relay.actions import Action, Bind, SessionMemory, ToClient, Warn
from planwire.relay.agents import AgentRow
from planwire.relay.capabilities import Capabilities
from planwire.relay.envelope import text_of
from planwire.relay.own_permissions import clashes, granted, is_bare, names_server
from planwire.relay.wire_session import WireSession
from planwire.session.client_sync import KnownPlan, changed_plans

_NO_STDIO: Final = "the plan tools are left out: this agent starts no MCP servers"
_ABSENT: Final = (
    "the agent has not started planwire's MCP server, so its model has no plan tools: "
    "it may need a setting or an extra to start the servers of a client"
)

#: How many tool calls of a session to remember, which ids can be searched for in a line, and the statuses of past
#: calls.
_MOST_CALLS: Final = 8
_PLAIN_ID: Final = re.compile(r"[A-Za-z0-9_.:-]{1,200}")
_OVER: Final = ("completed", "failed")


class ToolServer(Struct, frozen=True):
    """How an agent starts the server; `folder` holds the handoffs. `is_connected` says whether the server with a key
    runs. `finds_servers` says whether an agent's files name any server, and whether one like planwire's."""

    command: str
    arguments: tuple[str, ...]
    folder: str
    is_connected: Callable[[str], bool] = lambda _key: True
    finds_servers: Callable[[tuple[str, ...], str | None], tuple[bool, bool]] = lambda _files, _folder: (False, False)

    def entry(self, key: str, *, typed: bool) -> Fields:
        """The server as an element of `mcpServers`. Version 1 knows this sort by its lack of a type, version 2 by its
        type, and each drops the other's form."""
        entry = {"name": SERVER, "command": self.command, "args": [*self.arguments, f"{self.folder}/{key}"], "env": []}
        return {"type": "stdio", **entry} if typed else entry


class Offered(NamedTuple):
    """A session request, the key of the handoff in it (None if the server is not in it), and warnings."""

    line: bytes
    key: str | None = None
    warnings: tuple[Warn, ...] = ()


class _ToolSession:
    """The tools of one session: the handoff of their server, and what the client knows of their plans."""

    def __init__(self) -> None:
        self.key: str | None = None
        self.folder: str | None = None
        self.others: tuple[object, ...] = ()  # the other servers that the client gives it
        self.lent_to: str | None = None  # the session that its server works for
        self.calls: dict[str, Fields] = {}  # the newest tool calls, by their ids
        self.is_open = True  # the client does not wait for a load or a resume
        self.was_open = False
        self.told: dict[PlanId, KnownPlan] = {}
        self.revision = 0  # up to which the client knows them
        self.seen: SessionMemory | None = None
        self.bound: Bind | None = None


class Tools:
    """The tools on one connection. Without a server there are none, and no plans of theirs are sent."""

    def __init__(self, server: ToolServer | None, new_word: Callable[[], str]) -> None:
        self._server = server
        self._new_word = new_word
        self._problem: str | None = None
        self._has_warned = self._has_missed = False
        self._sessions: dict[str, _ToolSession] = {}
        self._others: dict[str, tuple[object, ...]] = {}  # by the keys of their sessions
        #: Lines with one of these words may be about calls of the tools.
        self.words: tuple[bytes, ...] = (SERVER.encode(),) if server else ()

    def fail(self, problem: str) -> None:
        """Give up on a journal that can't be used: no more sessions get the tools, and those with them learn why."""
        self._problem = problem

    def offer(self, line: bytes, method: str, params: Fields, agreed: Capabilities | None) -> Offered:
        """Add planwire's MCP server to a session request. If the person has a server of that name, it stays the only
        one."""
        servers = params.get("mcpServers")
        if self._server is None or self._problem or agreed is None:
            return Offered(line)
        if not isinstance(servers, list | None) or any(text_of(each, "name") == SERVER for each in servers or ()):
            return Offered(line)
        if not agreed.starts_servers:
            warnings, self._has_warned = () if self._has_warned else (Warn(_NO_STDIO),), True
            return Offered(line, None, warnings)
        key = self._key_of(params.get("sessionId")) if method in ATTACHING else None
        key = key or self._new_word()
        self._others[key] = tuple(servers or ())
        entry = self._server.entry(key, typed=agreed.dialect.types_servers)
        try:
            if servers is None:
                return Offered(set_members(line, ("params",), {"mcpServers": [entry]}), key)
            return Offered(append_element(line, ("params", "mcpServers"), entry), key)
        except Unspliceable:
            return Offered(line)

    def has(self, session_id: str) -> bool:
        """Whether a session has the tools."""
        return self._of(session_id).key is not None

    def attach(self, session_id: str, *, is_new: bool, retelling: bool) -> None:
        """The client loads or resumes a session: hold its plans back. A replay makes the client start over."""
        session = self._of(session_id)
        session.was_open = (session.is_open and not is_new) or session.was_open
        session.is_open = False
        if retelling:
            session.told.clear()
            session.revision = 0
        session.seen = None

    def bind(self, session_id: str, key: str | None, folder: str | None) -> None:
        """The server with this key works for this session; without a key, none does."""
        session = self._of(session_id)
        session.key, session.folder = key, folder
        session.others = self._others.pop(key or "", ())
        session.seen = session.bound = None

    def forget(self, session_id: str) -> None:
        """Let go of a session without the tools."""
        self._sessions.pop(session_id, None)

    def open(self, session_id: str, *, failed: bool = False) -> None:
        """The agent answered: the client may hear of the session again. One that failed to load is as it was."""
        session = self._of(session_id)
        session.is_open = session.was_open = session.was_open or not failed

    def hear_call(self, session_id: str, call: Fields) -> None:
        """Remember a tool call: the question for permission may hold no more of it than its id."""
        call_id = text_of(call, "toolCallId")
        if self._server is None or not _PLAIN_ID.fullmatch(call_id):
            return
        calls = self._of(session_id).calls
        before = calls.pop(call_id, {}) if call.get("sessionUpdate") == "tool_call_update" else {}
        call = {**before, **call}
        calls.pop(call_id, None)
        if names_server(call) and call.get("status") not in _OVER:
            calls[call_id] = call
            while len(calls) > _MOST_CALLS:
                del calls[next(iter(calls))]
        self.words = (SERVER.encode(), *(each.encode() for one in self._sessions.values() for each in one.calls))

    def grant(self, session_id: str, line: bytes, ways: AgentRow) -> str | None:
        """The option to choose for the agent whose line asks whether it may call a plan tool; None leaves that to the
        client. The server must be the one that it got here, and be running; no other server may have its name."""
        mine = self._of(session_id)
        if self._server is None or mine.key is None or clashes(mine.others, ways):
            return None
        params = (value_of(line) or {}).get("params")
        call = tool_call_of(params) or {}
        if is_bare(call):
            call = mine.calls.get(text_of(call, "toolCallId"), {})
        option = granted(call, params, ways, is_only_server=True)
        if option is None or not self._has_server(session_id, mine.key):
            return None
        has_others, has_same = self._server.finds_servers(ways.server_files, mine.folder)
        if has_same:
            return None
        return granted(call, params, ways, is_only_server=not (has_others or mine.others))

    def absence(self) -> Iterator[Warn]:
        """Warn once if no server was ever started."""
        keys = [each.key for each in self._sessions.values() if each.key is not None]
        if self._server is None or not keys or self._has_missed or any(map(self._server.is_connected, keys)):
            return
        self._has_missed = True
        yield Warn(_ABSENT)

    def lend(self, session: WireSession, sessions: Iterable[WireSession]) -> Iterator[Bind]:
        """A turn begins. An agent that starts one server for all of its sessions calls that of another session: if that
        session's turn is over, let its server work for this one, until a turn begins in its own."""
        mine = self._of(session.id)
        if self._server is None or mine.key is None:
            return
        if self._server.is_connected(mine.key):
            mine.lent_to = None
            yield from self._binding(mine, mine, session.memory)
            return
        for other in sessions:
            theirs = self._of(other.id)
            is_free = other is not session and not other.is_working and theirs.key is not None
            if is_free and theirs.key and self._server.is_connected(theirs.key):
                theirs.lent_to = session.id
                yield from self._binding(theirs, mine, session.memory)

    def _has_server(self, session_id: str, key: str) -> bool:
        """Whether a server runs for a session: its own, or another one's."""
        lent = (each.key for each in self._sessions.values() if each.lent_to == session_id)
        return self._server is not None and any(self._server.is_connected(each) for each in (key, *lent) if each)

    def news(self, sessions: Iterable[WireSession], translator: Translator | None) -> list[Action]:
        """Updates of the tools' plans for the client, and then the handoffs: a tool's answer waits until the client
        knows."""
        actions: list[Action] = []
        if self._server is None:
            return actions
        known = {session.id: session for session in sessions}
        for session in known.values():
            mine, memory = self._of(session.id), session.memory
            if memory is not None and memory is not mine.seen:
                if mine.is_open and not session.plans.is_retold and translator is not None:
                    mine.seen = memory
                    actions += _told(session, memory.state, mine.told, translator)
                    mine.revision = _revision(memory.state)
            worker = known.get(mine.lent_to or "", session)
            actions += self._binding(mine, self._of(worker.id), worker.memory)
        return actions

    def _binding(self, mine: _ToolSession, worker: _ToolSession, memory: SessionMemory | None) -> Iterator[Bind]:
        """The handoff of a session's server to the session that it works for."""
        if mine.key is None or (memory is None and self._problem is None):
            return
        if memory is None:
            bound = Bind(mine.key, None, problem=self._problem)
        else:
            bound = Bind(mine.key, memory.id, worker.folder, worker.revision)
        if bound != mine.bound:
            mine.bound = bound
            yield bound

    def _of(self, session_id: str) -> _ToolSession:
        return self._sessions.setdefault(session_id, _ToolSession())

    def _key_of(self, session_id: object) -> str | None:
        """The key that a session has already: some agents begin anew when their servers change."""
        return self._sessions[session_id].key if isinstance(session_id, str) and session_id in self._sessions else None


def _told(
    session: WireSession, state: SessionState, told: dict[PlanId, KnownPlan], translator: Translator
) -> Iterator[ToClient]:
    """Lines that bring a client from `told`, which they change, to the plans of the tools.

    A plan without an id stays out: the client would take it for the agent's own.
    """
    changed = [*changed_plans(state, told, in_list=not translator.dialect.operations)]
    updates = [(plan_id, shown) for plan_id, shown in changed if plan_id is not None]
    if not updates:
        return
    session.plans.is_plain = False
    session.show_missed_list(translator)
    for plan_id, shown in updates:
        tag, body = ("plan_update", shown.plan) if shown else ("plan_removed", Removal(plan_id))
        lines = translator.tell(Update(session.id, tag, body), shown.place if shown else None)
        yield from (ToClient(line + b"\n") for line in lines)


def _revision(state: SessionState) -> int:
    """The newest revision that a tool may have made. An agent can change a plan of its own with them, too."""
    plans = state.plans.values()
    return max((each.revision for each in plans if each.owner == PLANWIRE or each.numbered), default=0)
