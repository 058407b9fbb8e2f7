"""One connection's context: who sent a message, which dialect is in force, and when an agent retells history.

Plan messages mean nothing without it: the same `plan` is news during a turn and history during `session/load`.
Sans-IO: messages in, their meanings out.
"""

from typing import Any, Final, TypeAlias

import msgspec
from msgspec import UNSET, Raw, Struct

from planwire.acp import words
from planwire.acp.batches import UNREADABLE
from planwire.acp.dialects import Dialect, negotiate
from planwire.acp.messages import Message
from planwire.acp.requests import Requests
from planwire.model.plan import Fields

CLIENT: Final = "client"
AGENT: Final = "agent"

#: The side that hears what one side says.
_OTHER_SIDE = {CLIENT: AGENT, AGENT: CLIENT}
#: Prefixes of the methods that only an agent calls. Clients call all others.
_AGENT_METHODS = ("session/update", "session/request_permission", "fs/", "terminal/", "elicitation/")


class Retelling(Struct, frozen=True):
    """The client asked for a replay: until its answer, the session's updates are history (R37, R39)."""

    session: str


class Retold(Struct, frozen=True):
    """The replay is over. If it `failed`, nothing of it counts."""

    session: str
    failed: bool


class Prompted(Struct, frozen=True):
    """The client sent a prompt: a new turn begins."""

    session: str


Meaning: TypeAlias = Retelling | Retold | Prompted | None


def name_in(info: Any) -> str | None:
    """The name of one side in its `clientInfo` or `agentInfo`, with its version."""
    if not isinstance(info, dict):
        return None
    name = next((word for key in ("title", "name") if isinstance(word := info.get(key), str) and word), None)
    version = info.get("version")
    return f"{name} {version}" if name and isinstance(version, str) and version else name


class Request(Struct, frozen=True):
    """The parts of an unanswered request that its answer will need."""

    method: str
    params: Any = None


class Conversation:
    """One connection between a client and an agent.

    `dialect` is the one the agent may use for this client; None until it answers `initialize`.
    """

    def __init__(self) -> None:
        self.dialect: Dialect | None = None
        self._unanswered = Requests[Request]()

    def hear(self, message: Message, sender: str | None = None) -> Meaning:
        """The meaning of a message. Without `sender`, its method or the request it answers tells who sent it."""
        if message.method is None:
            return self._hear_answer(message, sender)
        if sender is None:
            sender = _caller(message.method)
        params = value_of(message.params) if message.method in _MEANINGS and sender == CLIENT else None
        if message.id is not UNSET:
            self._unanswered.ask(sender, message.id, Request(message.method, params))
        session = params.get("sessionId") if isinstance(params, dict) else None
        if not isinstance(params, dict) or not isinstance(session, str):
            return None
        if asks_for_replay(message.method, params):
            return Retelling(session)
        return Prompted(session) if message.method == "session/prompt" else None

    def sender_of(self, message: Message) -> str | None:
        """The side that sent a message; None if neither method nor id tells."""
        return sender_of(message, self._unanswered)

    def _hear_answer(self, message: Message, sender: str | None) -> Meaning:
        sender = sender or self.sender_of(message)
        if sender is None:
            return None
        asked = self._unanswered.answer(_OTHER_SIDE[sender], message.id)
        if asked is None or not isinstance(asked.params, dict):
            return None
        failed = message.error is not UNSET
        match asked.method:
            case "initialize" if not failed:
                self.dialect = negotiate(asked.params, value_of(message.result))
            case "session/load" | "session/resume":
                session = asked.params.get("sessionId")
                return Retold(session, failed) if isinstance(session, str) else None
        return None


#: The client's methods with a meaning here; the `params` of all others stay undecoded.
_MEANINGS = frozenset(("initialize", "session/load", "session/resume", "session/prompt"))


def _caller(method: str) -> str:
    return AGENT if method.startswith(_AGENT_METHODS) else CLIENT


def sender_of(message: Message, unanswered: Requests[Any]) -> str | None:
    """The side that sent a message, given both sides' unanswered requests; None if neither method nor id tells."""
    if message.method is not None:
        return _caller(message.method)
    askers = [side for side in (CLIENT, AGENT) if unanswered.is_asked(side, message.id)]
    if len(askers) == 2:  # both sides count their requests from 0: the answer's shape decides
        outcome = value_of(message.result)
        return CLIENT if isinstance(outcome, dict) and "outcome" in outcome else AGENT
    return _OTHER_SIDE[askers[0]] if askers else None


def spoken_in(message: Message) -> str | None:
    """The session of an agent's message to the person; None for any other message."""
    match value_of(message.params) if message.method == "session/update" else None:
        case {"sessionId": str(session), "update": {"sessionUpdate": words.SPOKEN}}:
            return session
    return None


def asked_in(message: Message) -> str | None:
    """The session of a permission request; None for any other message."""
    match value_of(message.params) if message.method == "session/request_permission" else None:
        case {"sessionId": str(session)}:
            return session
    return None


def asks_for_replay(method: str, params: Fields) -> bool:
    """Whether a client's request asks the agent to replay a session's history (R37, R39)."""
    return method == "session/load" or (method == "session/resume" and params.get("replayFrom") is not None)


_decode = msgspec.json.Decoder().decode


def value_of(text: object) -> Any:
    """The JSON value of a line, or of a `Raw` part of a message; None if it is missing or unreadable."""
    try:
        return _decode(text) if isinstance(text, (Raw, bytes)) else None
    except UNREADABLE:
        return None
