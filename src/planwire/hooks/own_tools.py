"""Planwire's own tools, by the names that agents give them.

An agent puts the server before the name of a tool. The name of the plugin's server is certainly planwire's. The plain
name is whatever a person has configured under it, so a call with it is bound to its session but never allowed unasked.
"""

from typing import Any, Final

from planwire.chat.plan_tools import SERVER, TOOL_NAMES
from planwire.hooks.loose_fields import fields_in, text_in

#: The name of planwire's plugin.
PLUGIN: Final = "planwire"
_SERVERS: Final = (f"plugin_{PLUGIN}_{SERVER}", SERVER)
#: What agents make of the names of a server and a tool: Claude Code, Codex and Qwen; Gemini; Copilot, which asks a
#: person under another name than it calls; opencode.
_FORMS: Final = ("mcp__{}__{}", "mcp_{}_{}", "{}-{}", "{}/{}", "{}_{}")
_NAMES: Final = {form.format(server, tool): tool for form in _FORMS for server in _SERVERS for tool in TOOL_NAMES}
_OF_PLUGIN: Final = frozenset(f"mcp__{_SERVERS[0]}__{tool}" for tool in TOOL_NAMES)


def own_tool(name: str) -> str | None:
    """The bare name of one of planwire's own tools; None for any other tool."""
    return _NAMES.get(name)


def is_of_plugin(fields: Any) -> bool:
    """Whether a call is certainly for the plugin's own server: by the exact name of the tool, and by what the agent
    says about the server's origin."""
    server = fields_in(fields, "mcp_server")
    is_ours = text_in(server, "source") == "plugin" and text_in(server, "name") == f"plugin:{PLUGIN}:{SERVER}"
    return is_ours and text_in(fields, "tool_name") in _OF_PLUGIN
