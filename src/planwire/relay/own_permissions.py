"""Permission for planwire's own tools: whether a request is for one of them, beyond doubt.

Some agents ask the person for every call of a tool, also for one that ticks a step. The relay answers these questions
itself, and only these: for the server that it gave the agent, by exact names, and only if no other server's tool can
have the same name. Everything else is the client's to answer.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from planwire.acp.permissions import options_of
from planwire.chat.plan_tools import TOOL_NAMES
from planwire.model.plan import Fields
from planwire.relay.agents import AgentRow
from planwire.relay.envelope import text_of

__all__ = ["SERVER", "clashes", "granted"]

#: The name of planwire's server. An agent puts it before the names of the tools.
SERVER: Final = "planwire"
#: The kinds of tool calls that a tool of an MCP server may have. A command, say, can have any title.
_KINDS: Final = ("", "other")
_ALLOW: Final = "allow_once"


def granted(call: Fields, params: Any, ways: AgentRow, *, is_only_server: bool) -> str | None:
    """The option that allows a call of one of planwire's own tools, once; None if the request is for anything else.
    Names without a server count only if there is no other."""
    spelled = {name for pattern in ways.tool_names if is_only_server or "SERVER" in pattern for name in _names(pattern)}
    if not spelled.intersection(_said(call)):
        return None
    return next((key for key, option in options_of(params).items() if option.kind == _ALLOW), None)


def clashes(servers: Iterable[object], ways: AgentRow) -> bool:
    """Whether a tool of one of these servers can have a name of planwire's own tools, however the agent spells them."""
    own = {_squashed(name) for pattern in ways.tool_names for name in _names(pattern)}
    others = [_squashed(text_of(each, "name")) for each in servers]
    return any(name.startswith(other) for name in own for other in others)


def _said(call: Fields) -> Iterator[str]:
    """The names of a tool call: those for programs, if it has any, and else what a person reads of it."""
    names = [text_of(call, "name"), *_tool_names(call.get("_meta"))]
    if any(names):
        yield from filter(None, names)
    elif text_of(call, "kind") in _KINDS:
        yield text_of(call, "title")
        content = call.get("content")
        for block in content if isinstance(content, list) else ():
            yield text_of(block.get("content"), "text") if isinstance(block, dict) else ""


def _tool_names(meta: Any) -> Iterator[str]:
    """The name of the tool in the `_meta` of a tool call, under the name of whichever agent or under none."""
    if isinstance(meta, dict):
        yield from (text_of(each, key) for each in (meta, *meta.values()) for key in ("toolName", "tool_name"))


def _names(pattern: str) -> Iterator[str]:
    return (pattern.replace("SERVER", SERVER).replace("TOOL", tool) for tool in TOOL_NAMES)


def _squashed(name: str) -> str:
    """A name as agents may spell it: they replace what they don't allow in names of tools."""
    return re.sub(r"[^a-z0-9]", "", name.lower())
