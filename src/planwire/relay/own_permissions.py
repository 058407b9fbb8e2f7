"""Permission for planwire's own tools: whether a request is for one of them, beyond doubt.

Some agents ask the person for every call of a tool, even for one that ticks a step. The relay answers these questions
itself, and only these: for the server that it gave the agent, by exact names, and only if no other server's tool can
have the same name. Everything else is the client's to answer.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from planwire.acp.permissions import options_of
from planwire.chat.plan_tools import SERVER, TOOL_NAMES
from planwire.model.plan import Fields
from planwire.relay.agents import AgentRow
from planwire.relay.envelope import text_of

#: The kinds that a call of an MCP server's tool may have. A command, for example, can have any title.
_KINDS: Final = (None, "", "other")
#: Kinds that agents derive from a tool's hints: it only reads, or may destroy. A call about a file can have any title,
#: so with one of these kinds the call needs a machine-readable name.
_HINTED: Final = ("delete", "edit", "read")
#: How agents name the source of a server that the client configured.
_GIVEN: Final = ("", "dynamic")
#: Arguments of other sorts of tools. None of planwire's own has them.
_FOREIGN: Final = frozenset(("cmd", "code", "command", "file_path", "script", "url"))
#: The only fields of a call if its request leaves the rest to the updates before it.
_BARE: Final = frozenset(("toolCallId", "status"))
_ALLOW: Final = "allow_once"


def granted(call: Fields, params: Any, ways: AgentRow, *, is_only_server: bool) -> str | None:
    """The option that allows a call of one of planwire's own tools, once; None if the request is for anything else, or
    if anything in it speaks against that. Names without a server count only if there is no other server."""
    if not _is_of_a_server(call) or not all(map(_is_ours, _origins(call))):
        return None
    if not (_is_spelled(call, ways, is_only_server=is_only_server) or (is_only_server and _is_asked(call, ways))):
        return None
    return next((key for key, option in options_of(params).items() if option.kind == _ALLOW), None)


def is_bare(call: Fields) -> bool:
    """Whether a request only identifies its call."""
    return _BARE.issuperset(call)


def names_server(call: Fields) -> bool:
    """Whether a tool call may be for planwire's server."""
    return any(SERVER in each for each in (*_names_of(call), text_of(call, "title")))


def clashes(servers: Iterable[object], ways: AgentRow) -> bool:
    """Whether a tool of one of these servers can have a name of planwire's own tools, however the agent spells them."""
    own = {_squashed(name) for pattern in ways.tool_names for name in _names(pattern)}
    others = [_squashed(text_of(each, "name")) for each in servers]
    return any(name.startswith(other) for name in own for other in others)


def _is_of_a_server(call: Fields) -> bool:
    """Whether the kind of a tool call is one that a tool of an MCP server may have."""
    kind = call.get("kind")
    return kind in _KINDS or (kind in _HINTED and bool(_names_of(call)))


def _is_spelled(call: Fields, ways: AgentRow, *, is_only_server: bool) -> bool:
    """Whether a tool call has the name of one of planwire's tools: in all its machine-readable names, or in its title
    if it has none."""
    spelled = {name for pattern in ways.tool_names if is_only_server or "SERVER" in pattern for name in _names(pattern)}
    return spelled.issuperset(_names_of(call) or [text_of(call, "title")])


def _is_asked(call: Fields, ways: AgentRow) -> bool:
    """Whether the question's text is about a tool by its bare name, in the words of an agent that says no more."""
    match call.get("content"):
        case [{"content": {"text": str(text)}}] if not _names_of(call):
            title = text_of(call, "title").partition(": ")[0]
            return any(text == each.replace("TOOL", title) for each in ways.tool_questions if title in TOOL_NAMES)
    return False


def _names_of(call: Fields) -> list[str]:
    """The machine-readable names of a tool call. One that is not a text fits no tool."""
    names = [str(call["name"])] if call.get("name") is not None else []
    return [*names, *filter(None, _tool_names(call.get("_meta")))]


def _origins(call: Fields) -> Iterator[tuple[Any, Any]]:
    """The servers that a tool call says it is for, and where they come from."""
    meta, arguments = call.get("_meta"), call.get("rawInput")
    for each in (meta, *meta.values()) if isinstance(meta, dict) else ():
        if isinstance(each, dict):
            yield from ((each[key], "") for key in ("serverId", "serverName") if key in each)
            server = each.get("mcpServer")
            if server is not None:
                yield (server.get("name"), server.get("source", "")) if isinstance(server, dict) else (server, "")
    if isinstance(arguments, dict) and ("server" in arguments or not _FOREIGN.isdisjoint(arguments)):
        yield arguments.get("server"), ""


def _is_ours(origin: tuple[Any, Any]) -> bool:
    name, source = origin
    return name == SERVER and source in _GIVEN


def _tool_names(meta: Any) -> Iterator[str]:
    """The names of the tool in the `_meta` of a tool call, at its top or under any agent's name."""
    if isinstance(meta, dict):
        yield from (text_of(each, key) for each in (meta, *meta.values()) for key in ("toolName", "tool_name"))


def _names(pattern: str) -> Iterator[str]:
    return (pattern.replace("SERVER", SERVER).replace("TOOL", tool) for tool in TOOL_NAMES)


def _squashed(name: str) -> str:
    """A name as agents may spell it: they replace what they don't allow in names of tools."""
    return re.sub(r"[^a-z0-9]", "", name.lower())
