"""The relay as a component of a proxy chain: one connection to a conductor carries both sides of the traffic.

The conductor sends the client's messages as they are, and wraps those of the next component, the successor. Messages to
the successor are wrapped likewise (R45, R49). A forwarded request gets an id of this connection, and its answer gets
the original id back, so that the two sides' ids can't clash. Sans-IO: lines in, lines out, and which side each belongs
to.
"""

from typing import Any, Final

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from planwire.acp.batches import UNREADABLE, is_batch, split_batch
from planwire.acp.conversation import AGENT, CLIENT, value_of
from planwire.acp.dialects import has_object
from planwire.acp.splice import Unspliceable, set_members
from planwire.relay.envelope import JsonId

_INITIALIZE: Final = "initialize"
_CANCEL: Final = "$/cancel_request"
#: How conductors spell the names of their methods.
_PREFIXES: Final = ("proxy/", "_proxy/")
_REFUSED: Final = -32600
_NO_SUCCESSOR: Final = (
    "planwire relay --proxy has no agent of its own: put one after it in the chain, or run planwire relay -- AGENT"
)
_NO_METHOD: Final = "a successor message needs params with the method that it wraps"
#: Where a component says that it takes MCP servers over ACP (R47), by version.
_OVER_ACP: Final[dict[int, tuple[list[str], Any]]] = {
    1: (["agentCapabilities", "mcpCapabilities", "acp"], True),
    2: (["capabilities", "session", "mcp", "acp"], {}),
}


class _ChainMessage(Struct, omit_defaults=True):
    jsonrpc: str = "2.0"
    id: JsonId | UnsetType = UNSET
    method: str | UnsetType = UNSET
    params: Raw | UnsetType = UNSET
    result: Raw | UnsetType = UNSET
    error: Raw | UnsetType = UNSET


class _SuccessorParams(Struct):
    method: str
    params: Raw | UnsetType = UNSET


class _CancelParams(Struct):
    requestId: JsonId  # noqa: N815  (as it is on the wire)


_decode = msgspec.json.Decoder(_ChainMessage).decode
_decode_wrapped = msgspec.json.Decoder(_SuccessorParams).decode
_decode_cancelled = msgspec.json.Decoder(_CancelParams).decode
_encode = msgspec.json.Encoder().encode


class Chain:
    """One component's connection to its conductor."""

    def __init__(self) -> None:
        self._prefix = _PREFIXES[0]
        self._asked = 0
        self._names: dict[tuple[str, JsonId], str] = {}  # our ids of forwarded requests, by original side and id
        self._origins: dict[str, tuple[str, JsonId]] = {}  # the reverse
        self._greeting: JsonId | UnsetType = UNSET

    def hear(self, line: bytes) -> list[tuple[str, bytes]]:
        """The lines in a line of the conductor's, each with the side that it comes from; none if it can't be read. A
        request meant for a terminal agent is answered here: its side is then "", this component."""
        messages = split_batch(line) if is_batch(line) else [line]
        return [heard for message in messages for heard in self._hear(message)]

    def _hear(self, line: bytes) -> list[tuple[str, bytes]]:
        try:
            message = _decode(line)
            if message.method is UNSET:
                return self._hear_answer(message)
            if message.method == _INITIALIZE:
                return [("", _refusal(message.id, _NO_SUCCESSOR))]
            if message.method == _CANCEL:
                return [(self._asker(message), line)]
            for prefix in _PREFIXES:
                if message.method == f"{prefix}initialize":
                    self._prefix, self._greeting = prefix, message.id
                    return [(CLIENT, _line(message, method=_INITIALIZE))]
                if message.method == f"{prefix}successor":
                    return [self._unwrapped(message)]
        except UNREADABLE:
            return []
        return [(CLIENT, line)]

    def _unwrapped(self, message: _ChainMessage) -> tuple[str, bytes]:
        try:
            inner = _decode_wrapped(message.params if message.params is not UNSET else b"")
        except UNREADABLE:
            if message.id is UNSET:
                raise
            return "", _refusal(message.id, _NO_METHOD)
        return AGENT, _line(message, method=inner.method, params=inner.params)

    def _asker(self, cancel: _ChainMessage) -> str:
        """The side whose request is cancelled: the conductor gives both sides' requests ids of one connection."""
        return AGENT if (AGENT, _cancelled_request(cancel)) in self._names else CLIENT

    def _hear_answer(self, message: _ChainMessage) -> list[tuple[str, bytes]]:
        """The answer to a forwarded request, under its original id."""
        origin = self._origins.pop(message.id, None) if isinstance(message.id, str) else None
        if origin is None:
            return []
        asker, request = origin
        self._names.pop(origin, None)
        return [(AGENT if asker == CLIENT else CLIENT, _line(message, id=request))]

    def for_agent(self, line: bytes) -> list[bytes]:
        """What the conductor gets for a line to the successor."""
        return self._pass(line, CLIENT)

    def for_client(self, line: bytes) -> list[bytes]:
        """What the conductor gets for a line to the client."""
        return self._pass(line, AGENT)

    def _pass(self, line: bytes, sender: str) -> list[bytes]:
        messages = split_batch(line) if is_batch(line) else [line]
        return [passed for message in messages if (passed := self._passed(message, sender)) is not None]

    def _passed(self, line: bytes, sender: str) -> bytes | None:
        try:
            message = _decode(line)
        except UNREADABLE:
            return None
        if message.method is UNSET:  # an answer: it has the id under which the conductor asked
            is_greeting = sender == AGENT and message.id == self._greeting
            return _with_servers_over_acp(line) if is_greeting else line
        if message.method == _CANCEL:
            return self._cancelled(message, sender)
        named: JsonId | UnsetType = UNSET
        if message.id is not UNSET:
            self._asked += 1
            named = f"planwire-{self._asked}"
            self._names[sender, message.id] = named
            self._origins[named] = (sender, message.id)
        if sender == AGENT:
            return _line(message, id=named) if named is not UNSET else line
        wrapped = Raw(_encode(_SuccessorParams(message.method, message.params)))
        return _line(message, id=named, method=f"{self._prefix}successor", params=wrapped)

    def _cancelled(self, message: _ChainMessage, sender: str) -> bytes | None:
        """A request is cancelled hop by hop, under its id of this connection (R50)."""
        named = self._names.get((sender, _cancelled_request(message)))
        return _line(message, params=Raw(_encode({"requestId": named}))) if named is not None else None


def _line(message: _ChainMessage, **changed: Any) -> bytes:
    return _encode(msgspec.structs.replace(message, **changed))


def _cancelled_request(cancel: _ChainMessage) -> JsonId:
    try:
        return _decode_cancelled(cancel.params).requestId if cancel.params is not UNSET else None
    except UNREADABLE:
        return None


def _refusal(request: JsonId | UnsetType, said: str) -> bytes:
    error = {"code": _REFUSED, "message": said}
    return _encode({"jsonrpc": "2.0", "id": None if request is UNSET else request, "error": error})


def _with_servers_over_acp(line: bytes) -> bytes:
    """The answer to `proxy/initialize`, with servers over ACP announced (R47) and the version unchanged (R48)."""
    result = (value_of(line) or {}).get("result")
    if not isinstance(result, dict):
        return line
    path, wanted = _OVER_ACP[2 if result.get("protocolVersion") == 2 else 1]
    while len(path) > 1 and not has_object(result, *path[:-1]):
        *path, last = path
        wanted = {last: wanted}
    *path, last = path
    try:
        return set_members(line, ("result", *path), {last: wanted})
    except Unspliceable:
        return line
