"""The editors that `planwire setup` knows: where their settings are, what goes there, and how to undo that."""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from planwire.cli.agent_settings import AgentSettings, Edit
from planwire.cli.editor_programs import emacs_settings, neovim_settings
from planwire.cli.input_output import indented_json


class SettingsFile(NamedTuple):
    """A file that planwire can edit, and the edits, each from its text to the text after it.

    `place` has its path by `sys.platform`; a leading name in angle brackets stands for one of the user's folders.
    """

    place: Mapping[str, str]
    add: Callable[[str, str, Sequence[str]], Edit]
    wrap: Callable[[str, Callable[[list[str]], list[str]]], Edit]
    take_back: Callable[[str, str | None, str], Edit]


class Editor(NamedTuple):
    """`where` says where the settings go; `settings` makes them from a name and a command.

    `file` is what `--write` edits. An editor whose settings are a program has none, since only its author knows what
    calls what there, and whether a second call would undo the first. `why_not` says so.
    """

    title: str
    where: str
    settings: Callable[[str, Sequence[str]], str]
    file: SettingsFile | None = None
    why_not: str = ""


def settings_path(file: SettingsFile) -> Path:
    """Where the file is on this system."""
    place = file.place.get(sys.platform, file.place["linux"])
    folder, _, rest = place.partition("/")
    return _FOLDERS[folder]() / rest


def _folder(variable: str, otherwise: str) -> Callable[[], Path]:
    def found() -> Path:
        named = os.environ.get(variable)
        return Path(named) if named and Path(named).is_absolute() else Path.home() / otherwise

    return found


_FOLDERS: Final[Mapping[str, Callable[[], Path]]] = {
    "<home>": Path.home,
    "<config>": _folder("XDG_CONFIG_HOME", ".config"),
    "<appdata>": _folder("APPDATA", "AppData/Roaming"),
}


def _json_editor(title: str, where: str, agents: AgentSettings, place: Mapping[str, str]) -> Editor:
    def settings(name: str, command: Sequence[str]) -> str:
        return indented_json({agents.key: {name: agents.entry(command)}})

    return Editor(title, where, settings, SettingsFile(place, agents.add, agents.wrap, agents.take_back))


_CALLS: Final = "is a program of your own, in which a second call of the plugin's setup would undo yours"

EDITORS: Final[Mapping[str, Editor]] = {
    "zed": _json_editor(
        "Zed",
        "For Zed's settings.json (command palette: zed: open settings file):",
        AgentSettings("agent_servers", {"type": "custom"}),
        {
            "linux": "<config>/zed/settings.json",
            "darwin": "<home>/.config/zed/settings.json",
            "win32": "<appdata>/Zed/settings.json",
        },
    ),
    "jetbrains": _json_editor(
        "your JetBrains IDE",
        "For ~/.jetbrains/acp.json (AI Chat, its menu: Configure ACP Agents):",
        AgentSettings("agent_servers", {}),
        {"linux": "<home>/.jetbrains/acp.json"},
    ),
    "vscode": _json_editor(
        "VS Code",
        "For VS Code's settings.json (command palette: Preferences: Open User Settings (JSON)), with the extension "
        "ACP Client (formulahendry.acp-client):",
        AgentSettings("acp.agents", {}),
        {
            "linux": "<config>/Code/User/settings.json",
            "darwin": "<home>/Library/Application Support/Code/User/settings.json",
            "win32": "<appdata>/Code/User/settings.json",
        },
    ),
    "neovim": Editor(
        "Neovim",
        "For Neovim's init.lua, with CodeCompanion or avante.nvim:",
        neovim_settings,
        why_not=f"Neovim's init.lua {_CALLS}",
    ),
    "emacs": Editor(
        "Emacs",
        "For Emacs' init file, with agent-shell (start it with M-x agent-shell):",
        emacs_settings,
        why_not="Emacs' init file is a program of your own",
    ),
}
