"""`planwire check --learn`: drives an agent to show its ways, and keeps them as a row for the relay."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from planwire.acp.dialects import COMPACTION, V1
from planwire.check.observing import SERVER, TOOL, Observed
from planwire.relay.agents import AgentRow, matches
from planwire.relay.capabilities import names_in
from planwire.relay.learned_agents import keep_row

__all__ = ["compaction_announced", "keep", "learned_row", "server_entry"]

_DEFAULT: Final = AgentRow(agent="", names=())


def compaction_announced(hello: dict[str, Any]) -> dict[str, Any]:
    """An `initialize` that also asks for reports of compactions, as the relay's does."""
    outer, inner = COMPACTION
    if V1.client_capabilities not in hello:
        return hello
    return {**hello, V1.client_capabilities: {**hello[V1.client_capabilities], outer: {inner: {}}}}


def server_entry(log: str) -> dict[str, Any]:
    """The entry of `mcpServers` for the tiny server."""
    command = ["-m", "planwire.cli.trial_server", log]
    return {"name": SERVER, "command": sys.executable, "args": command, "env": []}


def learned_row(seen: Observed, command: str, connected: bool) -> AgentRow:
    """The row of an agent: what was observed, and the default where nothing was."""
    names = tuple(dict.fromkeys(name.casefold() for name in names_in(seen.initialized))) or (Path(command).name,)
    commands, titles, meta = _DEFAULT.compact_commands, _DEFAULT.compact_titles, _DEFAULT.compact_meta
    if seen.command and seen.command not in commands:
        commands = (seen.command, *commands)
    new_titles = dict.fromkeys(title.lower() for title in seen.titles if not matches(title.lower(), titles))
    new_meta = dict.fromkeys(member for member in seen.meta if not matches(member.lower(), meta))
    return AgentRow(
        agent=next(iter(reversed(list(names_in(seen.initialized)))), names[0]),
        names=names,
        compact_commands=commands,
        compact_titles=(*new_titles, *titles),
        compact_meta=(*new_meta, *meta),
        hides_tools=_DEFAULT.hides_tools if seen.is_hidden is None or not connected else seen.is_hidden,
        tool_names=tuple(dict.fromkeys((*_spellings(seen), *_DEFAULT.tool_names))),
        joiner=seen.joiner,
    )


def _spellings(seen: Observed) -> Iterator[str]:
    for name in (*seen.gates, *seen.offered):
        if SERVER in name and TOOL in name:
            yield name.replace(SERVER, "{server}").replace(TOOL, "{tool}")


def keep(seen: Observed, command: str, connected: bool) -> list[str]:
    """Write the row. Returns what was learned, a line each."""
    file = keep_row(learned_row(seen, command, connected))
    return [*_told(seen, connected), f"kept in {file}, where the relay reads it"]


def _told(seen: Observed, connected: bool) -> Iterator[str]:
    if seen.command is None:
        yield "compaction: no command is advertised"
    else:
        yield f"compaction: /{seen.command}, seen as {', '.join(seen.signs) or 'nothing in particular'}"
    if not connected:
        yield "MCP servers: the agent never connected"
    else:
        known = (
            f"offered as {', '.join(seen.offered)}"
            if seen.offered
            else "only named"
            if not seen.is_hidden
            else "hidden"
        )
        asks = f"asks for permission of {', '.join(seen.gates)}" if seen.gates else "asks for no permission"
        yield f"MCP servers: tools are {known}; the agent {asks}"
    if seen.joiner is not None:
        yield f"prompts: two texts come back as one, joined by {seen.joiner!r}"
