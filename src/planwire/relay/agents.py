"""The agents' ways: what is particular to each agent, in one row, and a default for unknown agents.

A row is data. `planwire check --learn` writes one for an agent that it met; the relay reads such rows from the user's
folder, and they win over those here (`learned_agents`). Whatever an agent announces about itself needs no row.
"""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from itertools import product
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from planwire.model.plan import Fields
from planwire.relay.capabilities import names_in
from planwire.relay.steer_ways import SteerWay, announced_steering, announces_queueing

#: The address of the relay's block where it is a resource.
CONTEXT_URI: Final = "planwire://context"
#: Titles of tool calls that compact: a verb and its object. The agent's task may be to summarize such an object, so a
#: title with that verb must say nothing else.
_COMPACTING: Final = ("compact*{}*", "compress*{}*", "summari*{}", "summari*{}...", "summari*{}…")
_COMPACTED: Final = ("{} compact*", "{} compress*", "{} summari*")
_HISTORY: Final = ("chat", "context", "conversation", "history", "chat history", "conversation history")


class AgentRow(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """One agent's ways. Every field but the first two has a default that does no harm to an agent without a row.

    - `agent`: its name, for people. `names`: patterns of what it calls itself in `initialize`, and of the name of its
      command, in lower case; `*` stands for anything.
    - `compact_commands`: names of commands that compact the context. One counts if the agent advertised it, and its
      turn ended well. `compact_titles`: patterns of titles of tool calls that do it. `compact_meta`: patterns of
      members of `_meta` that say so in any update, as a path and a value: `contextCompression.phase=done`.
    - `hides_tools`: the model does not see the tools of MCP servers until it searches for them, or this is not known.
      The relay then names its tools in the first prompt.
    - `tool_names`: how the agent spells a TOOL of a SERVER when it asks for permission. `tool_questions`: what it asks
      then, if its title begins with the name of the TOOL and nothing names the SERVER. `server_files`: files (in the
      session's folder, above it or in the user's home) in which people give this agent servers of their own.
    - `joiner`: what it puts between two texts of a prompt when it echoes them; None means any whitespace.
    - `takes_resources`: the relay's block goes into a prompt as an embedded resource, and stays out of the title that
      the agent makes of its first prompt. `wrapping`: what stands before and after such a block in an echo.
    - `steer`, `queues`: for agents that don't announce it, the way into a running turn, and whether a prompt waits for
      its end.
    """

    agent: str
    names: tuple[str, ...]
    compact_commands: tuple[str, ...] = ("compact", "compress", "summarize", "summarise")
    compact_titles: tuple[str, ...] = tuple(
        pattern.format(what) for pattern, what in product((*_COMPACTING, *_COMPACTED), _HISTORY)
    )
    compact_meta: tuple[str, ...] = tuple(
        f"*{word}*.{sign}" for word in ("compact", "compress") for sign in ("phase=done", "status=completed")
    )
    hides_tools: bool = True
    tool_names: tuple[str, ...] = (
        *("mcp__SERVER__TOOL", "mcp_SERVER_TOOL", "SERVER__TOOL", "SERVER_TOOL", "TOOL (SERVER MCP Server)"),
        *("mcp.SERVER.TOOL", "mcp_SERVER.TOOL", "SERVER.TOOL", "SERVER/TOOL", "SERVER:TOOL"),
    )
    tool_questions: tuple[str, ...] = ()
    server_files: tuple[str, ...] = (
        *(".mcp.json", ".claude.json", ".codex/config.toml", ".gemini/settings.json", ".qwen/settings.json"),
        *("opencode.json", "opencode.jsonc", ".config/opencode/opencode.json", ".kimi/mcp.json", ".vibe/config.toml"),
        *(".cursor/mcp.json", ".hermes/config.yaml"),
    )
    joiner: str | None = None
    takes_resources: bool = False
    wrapping: tuple[str, str] = ("", "")
    steer: SteerWay | None = None
    queues: bool = False

    def prompt_part(self, text: str) -> Fields:
        """A block of text as a part of a prompt."""
        if not self.takes_resources:
            return {"type": "text", "text": text}
        resource = {"uri": CONTEXT_URI, "mimeType": "text/markdown", "text": text}
        return {"type": "resource", "resource": resource}


#: The known agents, each with what differs from the default.
AGENTS: Final = (
    AgentRow(agent="Claude Agent", names=("*claude-agent-acp*", "*claude-code-acp*"), hides_tools=False),
    AgentRow(
        agent="Codex",
        names=("codex*", "*/codex-acp*"),
        hides_tools=False,
        takes_resources=True,
        wrapping=(f'{CONTEXT_URI}\n<context ref="{CONTEXT_URI}">\n', "\n</context>"),
    ),
    AgentRow(agent="OpenCode", names=("opencode*",), hides_tools=False),
    AgentRow(agent="Gemini CLI", names=("gemini*",), hides_tools=False),
    AgentRow(
        agent="Kimi CLI",
        names=("kimi*",),
        hides_tools=False,
        tool_names=(),
        tool_questions=("Requesting approval to perform: Call MCP tool `TOOL`.",),
        server_files=(".kimi/mcp.json",),
    ),
    AgentRow(agent="Hermes Agent", names=("hermes*",), hides_tools=False, joiner="\n"),
    AgentRow(agent="Qwen Code", names=("qwen*",), joiner=" "),
    AgentRow(agent="Mistral Vibe", names=("*mistral-vibe*", "vibe*"), joiner="\n\n"),
)


def ways_of(command: str, initialized: Any, learned: Iterable[AgentRow] = ()) -> AgentRow:
    """The ways of an agent: its row, if it has one, and what its result of `initialize` announces, which may be
    anything. `command` names an agent that does not name itself."""
    names = [name.casefold() for name in (*names_in(initialized), command)]
    known = (row for row in (*learned, *AGENTS) if any(matches(name, row.names) for name in names))
    row = next(known, None) or AgentRow(agent=names[0], names=())
    return replace(
        row,
        steer=announced_steering(initialized) or row.steer,
        queues=announces_queueing(initialized) or row.queues,
    )


def matches(word: str, patterns: Iterable[str]) -> bool:
    """Whether a lower-case word matches one of the patterns."""
    return any(fnmatchcase(word, pattern) for pattern in patterns)
