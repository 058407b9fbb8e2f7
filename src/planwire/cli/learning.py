"""`planwire check --learn`: keeps an agent's observed ways as a row for the relay."""

import re
from collections.abc import Collection, Iterable, Iterator
from glob import escape
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace

from planwire.acp.dialects import COMPACTION, V1
from planwire.check.observing import SERVER, TOOL, Observed
from planwire.own_process import own_command
from planwire.relay.agents import AGENTS, AgentRow, matches, ways_of
from planwire.relay.capabilities import names_in
from planwire.relay.learned_agents import keep_row

_DEFAULT: Final = AgentRow(agent="", names=())
#: Programs that run agents of any name.
_RUNNER: Final = re.compile(r"(python|pypy|ruby)[0-9.]*|node|bun|bunx|deno|npx|uv|uvx|pipx|sh|bash|env|docker|java")


def compaction_announced(hello: dict[str, Any]) -> dict[str, Any]:
    """An `initialize` that also asks for reports of compactions, as the relay's does."""
    outer, inner = COMPACTION
    if V1.client_capabilities not in hello:
        return hello
    return {**hello, V1.client_capabilities: {**hello[V1.client_capabilities], outer: {inner: {}}}}


def server_entry(log: str) -> dict[str, Any]:
    """The entry of `mcpServers` for the tiny server."""
    program, *arguments = own_command(log, module="planwire.cli.trial_server")
    return {"name": SERVER, "command": program, "args": arguments, "env": []}


def learned_row(seen: Observed, command: str, calls: Collection[str]) -> AgentRow | None:
    """The row of an agent, from what was observed and what was known before. None if it has no usable name.

    `calls` are the methods that the agent called on the server: empty if it never connected.
    """
    names = list(names_in(seen.initialized)) or [Path(command).stem]
    folded = tuple(dict.fromkeys(name.casefold() for name in names))
    if _RUNNER.fullmatch(folded[0]):
        return None
    known = (row for row in AGENTS if any(matches(name, row.names) for name in folded))
    changes: dict[str, Any] = {} if seen.joiner is None else {"joiner": seen.joiner}
    if seen.command and seen.command not in _DEFAULT.compact_commands:
        changes["compact_commands"] = (seen.command, *_DEFAULT.compact_commands)
    if titles := _unknown(seen.titles, _DEFAULT.compact_titles):
        changes["compact_titles"] = (*titles, *_DEFAULT.compact_titles)
    if meta := _unknown(seen.meta, _DEFAULT.compact_meta):
        changes["compact_meta"] = (*meta, *_DEFAULT.compact_meta)
    if calls and seen.is_hidden is not None:
        changes["hides_tools"] = seen.is_hidden
    if spellings := [each for each in _spellings(seen) if each not in _DEFAULT.tool_names]:
        changes["tool_names"] = (*dict.fromkeys(spellings), *_DEFAULT.tool_names)
    return replace(next(known, _DEFAULT), agent=names[-1], names=tuple(map(escape, folded)), **changes)


def _unknown(words: Iterable[str], patterns: Iterable[str]) -> list[str]:
    """The words that no pattern fits, as patterns of their own."""
    patterns = tuple(patterns)
    folded = (word.casefold() for word in words)
    return list(dict.fromkeys(escape(word) for word in folded if not matches(word, patterns)))


def _spellings(seen: Observed) -> Iterator[str]:
    for name in (*seen.gates, *seen.offered):
        if SERVER in name and TOOL in name:
            yield name.replace(SERVER, "SERVER").replace(TOOL, "TOOL")


def keep(seen: Observed, command: str, calls: Collection[str]) -> list[str]:
    """Write the row. Returns what was learned, one line each."""
    row = learned_row(seen, command, calls)
    if row is None:
        where = f"nothing is kept: the agent does not name itself, and {command} runs others too"
    else:
        where = f"kept in {keep_row(row)}, where the relay reads it"
    return [*_told(seen, command, calls), where]


def _told(seen: Observed, command: str, calls: Collection[str]) -> Iterator[str]:
    if seen.command is None:
        yield "compaction: no command is advertised"
    else:
        yield f"compaction: /{seen.command}, seen as {', '.join(seen.signs) or 'nothing in particular'}"
    if calls:
        known = f"known as {', '.join(seen.offered)}" if seen.offered else "hidden" if seen.is_hidden else "only named"
        free = "asks for no permission" if "tools/call" in calls else "was not brought to call one"
        asks = f"asks for permission of {', '.join(seen.gates)}" if seen.gates else free
        yield f"MCP servers: tools are {known}; the agent {asks}"
    else:
        yield "MCP servers: the agent never connected"
    if seen.joiner is not None:
        yield f"prompts: two texts come back as one, joined by {seen.joiner!r}"
    ways = ways_of(command, seen.initialized)
    steer = f"announces {ways.steer.method}" if ways.steer else "announces no way into a running turn"
    yield f"steering: {steer}{', and queues prompts' if ways.queues else ''}"
