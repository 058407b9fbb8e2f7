"""What the client can do, and what the agent is told that it can do.

The relay understands plans with an id and reports of compaction, so it offers them to every agent of version 1; what a
client did not ask for it does not get. Version 2 has no such capabilities: there is nothing to add (R26).
"""

from typing import Any

from msgspec import Struct

from planwire.acp.dialects import V1, V2, Dialect, negotiate
from planwire.model.plan import Fields
from planwire.relay.splice import Unspliceable, set_members

__all__ = ["Capabilities", "Peer", "offer"]

_PATH = ("params", "clientCapabilities")


class Peer(Struct, frozen=True):
    """One side, as it names itself."""

    name: str | None = None

    @classmethod
    def of(cls, info: Any, otherwise: str | None = None) -> "Peer":
        if not isinstance(info, dict):
            return cls(otherwise)
        name = next((word for key in ("title", "name") if isinstance(word := info.get(key), str) and word), otherwise)
        version = info.get("version")
        return cls(f"{name} {version}" if name and isinstance(version, str) and version else name)


class Capabilities(Struct, frozen=True):
    """What was agreed: the dialect of the client, whether it wants to hear of compactions, and whether the agent starts
    MCP servers, as every one of version 1 does."""

    dialect: Dialect = V1
    compaction: bool = False
    starts_servers: bool = True

    @classmethod
    def agreed(cls, request: Any, result: Any) -> "Capabilities":
        """From what the client really said, and what the agent answered (R30)."""
        dialect = negotiate(request, result)
        if dialect.version >= V2.version:
            return cls(dialect, True, _is_object(result, "capabilities", "session", "mcp", "stdio"))
        return cls(dialect, _is_object(request, "clientCapabilities", "session", "compaction"))


def offer(line: bytes, params: Fields) -> bytes:
    """The `initialize` of the client, with both plan capabilities and that of compaction added (R8, R51).

    Nothing else is touched, and `_meta` never: extensions such as JetBrains AIR's are between client and agent.
    """
    capabilities = params.get("clientCapabilities")
    session = capabilities.get("session") if isinstance(capabilities, dict) else None
    try:
        if isinstance(capabilities, dict):
            plans: Fields = {
                key: {} for key in ("plan", "planCapabilities") if not isinstance(capabilities.get(key), dict)
            }
            line = set_members(line, _PATH, plans)
        elif capabilities is None and not _asks_for_version_2(params):
            line = set_members(line, _PATH, {"plan": {}, "planCapabilities": {}})
        else:
            return line
        if session is None or (isinstance(session, dict) and not isinstance(session.get("compaction"), dict)):
            line = set_members(line, (*_PATH, "session"), {"compaction": {}})
    except Unspliceable:
        pass
    return line


def _asks_for_version_2(params: Fields) -> bool:
    version = params.get("protocolVersion")
    return isinstance(version, int) and version >= V2.version


def _is_object(value: Any, *path: str) -> bool:
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    return isinstance(value, dict)
