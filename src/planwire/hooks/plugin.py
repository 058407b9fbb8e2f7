"""The files by which an agent loads planwire: hooks, the MCP server with the plan tools, and a text on when to plan.

Each function returns the texts of the files by their paths in a folder. Claude Code, Codex, Copilot and Qwen install
the same folder, except for a few hooks; with `--review`, each has its own hook that holds a plan back. All hooks come
from `hook_table`; nothing here knows where the folder will be.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from planwire.chat.plan_tools import TOOL_NAMES
from planwire.hooks.hook_table import GEMINI, OPENCODE, SHARED, Hook, hooks_of

#: The name of the plugin, of the marketplace that has it, of the extension and of the server.
NAME: Final = "planwire"
#: The folder of the plugin in its marketplace.
PLUGIN: Final = NAME
#: The text in the extension for Gemini, which is in every session's context.
_CONTEXT: Final = "PLANWIRE.md"
_LICENSE: Final = "Apache-2.0"
_SUMMARY: Final = "Keeps the plans of this agent, shows them to people, and tells it what they say."


class Parts(NamedTuple):
    """What files are made from: planwire's version, the hook's command line by its role, the MCP server's command, and
    the words on when to plan: a short text, and a longer one on request."""

    version: str
    hook: Callable[[str], str]
    server: Sequence[str]
    instructions: str
    guide: str
    opencode_file: str = ""


def plugin_files(agent: str, parts: Parts, *, review: bool = False) -> dict[str, str]:
    """The files for an agent, by their paths."""
    return _FORMS[agent](agent, parts, review)


def hook_commands(text: str) -> list[str]:
    """The command lines in a generated file of hooks."""
    events = json.loads(text)["hooks"]
    return [hook["command"] for groups in events.values() for group in groups for hook in group["hooks"]]


def _shared(agent: str, parts: Parts, review: bool) -> dict[str, str]:
    owner = {"name": NAME}
    plugin = {"name": NAME, "version": parts.version, "description": _SUMMARY, "author": owner, "license": _LICENSE}
    listed = {"name": NAME, "source": f"./{PLUGIN}", "description": _SUMMARY, "version": parts.version}
    marketplace = {"name": NAME, "owner": owner, "metadata": {"description": _SUMMARY}, "plugins": [listed]}
    hooks = _hooks(hooks_of(agent, review=review), parts, lambda hook: (hook.event, hook.tools, hook.seconds))
    return {
        ".claude-plugin/marketplace.json": _json(marketplace),
        f"{PLUGIN}/.claude-plugin/plugin.json": _json(plugin),
        f"{PLUGIN}/.mcp.json": _json({"mcpServers": {NAME: _server(parts)}}),
        f"{PLUGIN}/hooks/hooks.json": _json({"description": _SUMMARY, "hooks": hooks}),
        f"{PLUGIN}/skills/plan/SKILL.md": _skill(parts),
    }


def _gemini(agent: str, parts: Parts, review: bool) -> dict[str, str]:
    extension = {
        "name": NAME,
        "version": parts.version,
        "description": _SUMMARY,
        "mcpServers": {NAME: _server(parts)},
        "contextFileName": _CONTEXT,
    }
    known = [each for each in hooks_of(agent, review=review) if each.gemini]
    hooks = _hooks(known, parts, lambda hook: (hook.gemini or "", hook.gemini_tools, hook.seconds * 1000))
    return {
        "gemini-extension.json": _json(extension),
        "hooks/hooks.json": _json({"hooks": hooks}),
        _CONTEXT: f"# Plans\n\n{parts.instructions}\n",
    }


def _opencode(_agent: str, parts: Parts, review: bool) -> dict[str, str]:
    """One file; the server goes into opencode's settings."""
    roles = ("tell", "record", "news", "call", *(("ask",) if review else ()))
    commands = {role: parts.hook(role) for role in roles}
    return {f"{NAME}.js": parts.opencode_file.replace(OPENCODE_COMMANDS, json.dumps(commands, indent=2), 1)}


#: The placeholder in opencode's file for an object with a command line for each role.
OPENCODE_COMMANDS: Final = "__COMMANDS__"

#: Who installs which form.
_FORMS: Final[Mapping[str, Callable[[str, Parts, bool], dict[str, str]]]] = {
    **dict.fromkeys(SHARED, _shared),
    GEMINI: _gemini,
    OPENCODE: _opencode,
}


def _hooks(
    hooks: Sequence[Hook], parts: Parts, said: Callable[[Hook], tuple[str, tuple[str, ...], int]]
) -> dict[str, list[dict[str, Any]]]:
    """Hooks by event. `said` gives the event, the tools and the timeout of one as its agent says them."""
    events: dict[str, list[dict[str, Any]]] = {}
    for hook in hooks:
        event, tools, timeout = said(hook)
        command = {"type": "command", "command": parts.hook(hook.role), "timeout": timeout}
        commands = [{**command, "if": f"{tool}({hook.paths})"} for tool in tools] if hook.paths else [command]
        matched = {"matcher": "|".join(tools)} if tools else {}
        events.setdefault(event, []).append({**matched, "hooks": commands})
    return events


def _server(parts: Parts) -> dict[str, Any]:
    """The server with the plan tools. Qwen asks no hook about tools: it calls those of a server that it trusts, and
    refuses others where no one can be asked. No other agent reads `trust`."""
    return {"command": parts.server[0], "args": list(parts.server[1:]), "trust": True}


def gemini_policy() -> str:
    """The rules by which Gemini lets the model call the plan tools without asking: no hook can do that, and an
    extension may not bring such rules."""
    rule = '[[rule]]\nmcpName = "{server}"\ntoolName = "{tool}"\ndecision = "allow"\npriority = 100\n'
    return "\n".join(rule.format(server=NAME, tool=tool) for tool in TOOL_NAMES)


def _skill(parts: Parts) -> str:
    about = "When work is worth a plan, and how to keep it with planwire's plan tools, where people see and change it."
    return f"---\nname: plan\ndescription: {about}\n---\n\n{parts.guide}\n"


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
