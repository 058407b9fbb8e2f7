"""What the client can do, and what the relay tells the agent about it.

The relay reads plans with an id and reports of compaction, so it offers them to every agent of version 1, and gives
each client only what that client asked for. Version 2 has no such capabilities: there is nothing to add (R26).
"""

from collections.abc import Iterator
from typing import Any, Final

from msgspec import Struct

from planwire.acp.dialects import COMPACTION, V1, Dialect, capabilities_of, has_object, negotiate
from planwire.acp.splice import Unspliceable, set_members
from planwire.model.plan import Fields

_PATH: Final = ("params", V1.client_capabilities)


def agent_info(initialized: Any) -> Any:
    """What an agent says of itself in its result of `initialize`, in either version."""
    return (initialized.get("agentInfo") or initialized.get("info")) if isinstance(initialized, dict) else None


def names_in(initialized: Any) -> Iterator[str]:
    """Every name that an agent gives itself there."""
    info = agent_info(initialized)
    for key in ("name", "title"):
        if isinstance(info, dict) and isinstance(name := info.get(key), str) and name:
            yield name


class Capabilities(Struct, frozen=True):
    """What both sides agreed on: the dialect of the client, whether it hears of compactions, and whether the agent
    starts MCP servers."""

    dialect: Dialect = V1
    compaction: bool = False
    starts_servers: bool = True

    @classmethod
    def agreed(cls, request: Any, result: Any) -> "Capabilities":
        """What follows from the client's original request and the agent's answer (R30)."""
        dialect = negotiate(request, result)
        starts = not dialect.mcp_capability or has_object(result, dialect.agent_capabilities, *dialect.mcp_capability)
        return cls(dialect, dialect.may_report_compactions(request), starts)


def offer(line: bytes, params: Fields) -> bytes:
    """The client's `initialize` with the plan and compaction capabilities added (R8, R51).

    It changes nothing else, and never `_meta`: extensions such as JetBrains AIR's are between client and agent.
    """
    announced = params.get(V1.client_capabilities)
    asked = params.get("protocolVersion")
    if announced is None and isinstance(asked, int) and not capabilities_of(asked):
        return line
    if not isinstance(announced, dict | None):
        return line
    offered = capabilities_of(V1.version)
    plans: Fields = {key: {} for key in offered if not has_object(announced, key)}
    outer, inner = COMPACTION
    session = announced.get(outer) if announced else None
    try:
        line = set_members(line, _PATH, plans)
        if session is None or (isinstance(session, dict) and not has_object(session, inner)):
            line = set_members(line, (*_PATH, outer), {inner: {}})
    except Unspliceable:
        pass
    return line
