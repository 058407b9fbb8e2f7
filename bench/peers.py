"""The Python peers: what a program does to one line without planwire, with the ACP SDK or with a bare JSON library."""

import json
from collections.abc import Callable
from typing import Any

import orjson
from acp.schema import SessionNotification
from acp.utils import serialize_params

__all__ = ["DECODERS", "ENCODERS", "sdk_decode", "sdk_encode"]


def sdk_decode(line: bytes) -> SessionNotification:
    """What the SDK's connection does to a line, without its event loop."""
    return SessionNotification.model_validate(json.loads(line)["params"])


def sdk_encode(notification: SessionNotification) -> bytes:
    """What the SDK does to send a notification."""
    message = {"jsonrpc": "2.0", "method": "session/update", "params": serialize_params(notification)}
    return json.dumps(message, separators=(",", ":")).encode()


def _json_encode(message: Any) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode()


#: How each peer decodes a line.
DECODERS: dict[str, Callable[[bytes], Any]] = {"sdk": sdk_decode, "orjson": orjson.loads, "json": json.loads}

#: How each peer encodes what its decoder returned.
ENCODERS: dict[str, Callable[[Any], bytes]] = {"sdk": sdk_encode, "orjson": orjson.dumps, "json": _json_encode}
