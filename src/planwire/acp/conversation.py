"""Who said what on one connection: senders, answers, the dialect in force, and when history is being retold.

The parts of ACP around the plan messages that decide what these mean. Sans-IO: messages in, what they mean out.
"""

from typing import Any, Final, TypeAlias

import msgspec
from msgspec import UNSET, Raw, Struct

from planwire.acp.dialects import Dialect, negotiate
from planwire.acp.messages import Message
from planwire.acp.requests import Requests

__all__ = ["AGENT", "CLIENT", "Conversation", "Initialized", "Meaning", "Prompted", "Request", "Retelling", "Retold"]

CLIENT: Final = "client"
AGENT: Final = "agent"

_OTHER_SIDE = {CLIENT: AGENT, AGENT: CLIENT}
_AGENT_METHODS = ("session/update", "session/request_permission", "fs/", "terminal/", "elicitation/")


class Initialized(Struct, frozen=True):
    """The versions and capabilities are settled."""

    dialect: Dialect


class Retelling(Struct, frozen=True):
    """From here on the session's updates are history retold (R37, R39)."""

    session: str


class Retold(Struct, frozen=True):
    """The history is told; or it could not be told, and what was said of it does not count."""

    session: str
    failed: bool


class Prompted(Struct, frozen=True):
    """The client asked for something new."""

    session: str


Meaning: TypeAlias = Initialized | Retelling | Retold | Prompted | None


class Request(Struct, frozen=True):
    """What is remembered of a request until its answer comes."""

    method: str
    params: Any = None


class Conversation:
    """One connection between a client and an agent.

    `dialect` is what the agent may send this client, and None until `initialize` is answered.
    """

    def __init__(self) -> None:
        self.dialect: Dialect | None = None
        self._unanswered = Requests[Request]()

    def hear(self, message: Message, sender: str | None = None) -> Meaning:
        """What a message means. Without a sender it is told from the method, or from the request that it answers."""
        if message.method is None:
            return self._hear_answer(message, sender)
        if sender is None:
            sender = AGENT if message.method.startswith(_AGENT_METHODS) else CLIENT
        params = _value(message.params) if message.method in _MEANINGS and sender == CLIENT else None
        if message.id is not UNSET:
            self._unanswered.ask(sender, message.id, Request(message.method, params))
        session = params.get("sessionId") if isinstance(params, dict) else None
        if not isinstance(params, dict) or not isinstance(session, str):
            return None
        match message.method:
            case "session/load":
                return Retelling(session)
            case "session/resume" if params.get("replayFrom") is not None:
                return Retelling(session)
            case "session/prompt":
                return Prompted(session)
        return None

    def sender_of(self, message: Message) -> str | None:
        """Who sent a message, as far as it can be told."""
        if message.method is not None:
            return AGENT if message.method.startswith(_AGENT_METHODS) else CLIENT
        askers = [side for side in (CLIENT, AGENT) if self._unanswered.is_asked(side, message.id)]
        if len(askers) == 2:  # both sides count their requests from 0: the answer's shape decides
            outcome = _value(message.result) if isinstance(message.result, Raw) else None
            return CLIENT if isinstance(outcome, dict) and "outcome" in outcome else AGENT
        return _OTHER_SIDE[askers[0]] if askers else None

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
                self.dialect = negotiate(asked.params, _value(message.result))
                return Initialized(self.dialect)
            case "session/load" | "session/resume":
                session = asked.params.get("sessionId")
                return Retold(session, failed) if isinstance(session, str) else None
        return None


_MEANINGS = frozenset(("initialize", "session/load", "session/resume", "session/prompt"))


def _value(raw: object) -> Any:
    try:
        return msgspec.json.decode(raw) if isinstance(raw, Raw) else None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
