"""opencode's settings with planwire in them: one file of JavaScript, and the MCP server in its list of servers."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from planwire.cli.file_swap import read_bytes
from planwire.cli.jsonc import read_settings
from planwire.cli.settings_edit import insert_member
from planwire.errors import InputError
from planwire.hooks.plugin import NAME

_SERVERS = "mcp"


def edited_files(settings: Path, program: Path, text: str, server: Sequence[str]) -> dict[Path, bytes]:
    """The new content of the two files."""
    entry = {"type": "local", "command": list(server), "enabled": True}
    now = (read_bytes(settings) or b"").decode()
    return {settings: _with_server(settings, now, entry).encode(), program: text.encode()}


def _with_server(path: Path, text: str, entry: dict[str, Any]) -> str:
    root = read_settings(text)
    present = root.member(_SERVERS, NAME) if root else None
    if present is None:
        return insert_member(text, (_SERVERS,), NAME, entry)
    if present.value == entry:
        return text
    raise InputError(f'{path} has another MCP server named "{NAME}": take it out first. Nothing was changed')
