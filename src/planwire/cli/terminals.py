"""The agents in terminals that `planwire setup` knows: how each installs a plugin, lists and removes it.

Each is changed by its own commands, since only the agent knows what belongs to an installation. opencode has no such
commands: its row has the files instead.
"""

import json
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from planwire.hooks.plugin import NAME, gemini_policy

#: Stands for planwire's plugin folder in a command.
FOLDER: Final = "{folder}"
_ID: Final = f"{NAME}@{NAME}"


class Terminal(NamedTuple):
    """An agent that runs in a terminal, by the name of its `program`. The row was `tested` with that version.

    `home` is the folder of its settings, and `settings` are the files in it that its commands change. `install` and
    `uninstall` are those commands, `typed` is their input. `listing` is the command that lists plugins, and `is_listed`
    reads from its output whether ours is there and enabled. `copy` is where in `home` the agent keeps its own copy of
    the plugin, if it has one. `remains` are folders that its commands leave behind, and `ours` the members of its
    settings that are ours; `writes` are files in `home` that are entirely ours, with their texts. `notes` are shown
    before the installation, `left_of_review` after it with `--review`.
    """

    title: str
    program: str
    tested: str
    home: Callable[[], Path]
    settings: tuple[str, ...]
    install: tuple[tuple[str, ...], ...] = ()
    uninstall: tuple[tuple[str, ...], ...] = ()
    listing: tuple[str, ...] = ()
    is_listed: Callable[[str], bool] = lambda _: True
    typed: str = ""
    copy: str = ""
    remains: tuple[str, ...] = ()
    ours: tuple[tuple[str, ...], ...] = ()
    writes: Mapping[str, str] = {}
    notes: str = ""
    left_of_review: str = ""

    def commands(self, commands: tuple[tuple[str, ...], ...], folder: Path) -> list[list[str]]:
        """The command lines for a plugin folder."""
        return [[self.program, *(word.replace(FOLDER, str(folder)) for word in words)] for words in commands]

    def own_files(self) -> set[Path]:
        """The files among its settings that are entirely ours."""
        return {path for path in self.settings_paths() if path.stem == NAME}

    def settings_paths(self) -> list[Path]:
        """The paths of the settings. Of several names for a file, the first that exists counts, or else the last."""
        home = self.home()
        named = ([home / name for name in names.split("|")] for names in self.settings)
        return [next((each for each in paths if each.exists()), paths[-1]) for paths in named]


def _home(variable: str, name: str, inside: str = "") -> Callable[[], Path]:
    """The folder that a variable names, with the folder `inside` it; without the variable, a folder in the home."""

    def found() -> Path:
        named = os.environ.get(variable)
        return Path(named) / inside if named else Path.home() / name

    return found


def _listed_in_json(key: str) -> Callable[[str], bool]:
    """A function that tells whether a JSON list of plugins, anywhere in the text, has ours under `key`, enabled."""

    def is_listed(text: str) -> bool:
        start = re.search(r"^[\[{]", text, re.MULTILINE)
        try:
            found, _ = json.JSONDecoder().raw_decode(text, start.start() if start else 0)
        except ValueError:
            return False
        rows = found.get("installed", []) if isinstance(found, dict) else found
        ours = (each for each in rows if isinstance(each, dict) and each.get(key) in (_ID, NAME))
        return any(each.get("enabled", each.get("isActive")) is True for each in ours)

    return is_listed


def _listed_as(pattern: str) -> Callable[[str], bool]:
    return lambda text: re.search(pattern, text, re.MULTILINE | re.DOTALL) is not None


#: Where Gemini has rules about tools.
_POLICY: Final = f"policies/{NAME}.toml"
_KEYS: Final = (("enabledPlugins", _ID), ("extraKnownMarketplaces", NAME))
_MARKETPLACE: Final = ("plugin", "marketplace", "add", FOLDER)
_NO_MARKETPLACE: Final = ("plugin", "marketplace", "remove", NAME)
_EXTENSION: Final = ("extensions", "install")

TERMINALS: Final[Mapping[str, Terminal]] = {
    "claude-code": Terminal(
        "Claude Code",
        "claude",
        "2.1.325",
        _home("CLAUDE_CONFIG_DIR", ".claude"),
        ("settings.json",),
        (_MARKETPLACE, ("plugin", "install", _ID)),
        (("plugin", "uninstall", _ID), _NO_MARKETPLACE),
        ("plugin", "list", "--json"),
        _listed_in_json("id"),
        remains=(f"plugins/cache/{NAME}",),
        ours=_KEYS,
    ),
    "codex": Terminal(
        "Codex",
        "codex",
        "0.166.0",
        _home("CODEX_HOME", ".codex"),
        ("config.toml",),
        (_MARKETPLACE, ("plugin", "add", _ID)),
        (("plugin", "remove", _ID), _NO_MARKETPLACE),
        ("plugin", "list", "--json"),
        _listed_in_json("pluginId"),
        copy=f"plugins/cache/{NAME}/{NAME}/*",
        remains=(f"plugins/cache/{NAME}",),
        left_of_review="Codex stays in Plan mode after a plan was approved elsewhere: leave it to go on",
    ),
    "gemini": Terminal(
        "Gemini CLI",
        "gemini",
        "0.61.0",
        _home("GEMINI_CLI_HOME", ".gemini", ".gemini"),
        ("settings.json", "trustedFolders.json", _POLICY),
        ((*_EXTENSION, FOLDER, "--consent"),),
        (("extensions", "uninstall", NAME),),
        ("extensions", "list", "-o", "json"),
        _listed_in_json("name"),
        typed="y\n",
        copy=f"extensions/{NAME}",
        ours=((FOLDER,),),
        writes={_POLICY: gemini_policy()},
        notes="Gemini asks whether to trust the folder that the extension comes from: planwire says yes for its own.",
        left_of_review=(
            "Gemini still asks in the terminal about a plan that was approved elsewhere. A rule in "
            "~/.gemini/policies can allow exit_plan_mode, but then Gemini approves every plan by itself whenever no "
            "hook of planwire answers, so planwire writes none"
        ),
    ),
    "qwen": Terminal(
        "Qwen Code",
        "qwen",
        "0.24.4",
        _home("QWEN_HOME", ".qwen"),
        ("settings.json",),
        ((*_EXTENSION, f"{FOLDER}/{NAME}", "--consent"),),
        (("extensions", "uninstall", NAME),),
        ("extensions", "list"),
        _listed_as(rf"^\S* ?{NAME} \(.*?Enabled \(User\): true"),
        copy=f"extensions/{NAME}",
        left_of_review=(
            "Qwen waits no longer than a minute for an answer from elsewhere, and still asks in the terminal about a "
            "plan that was approved"
        ),
    ),
    "opencode": Terminal(
        "opencode",
        "opencode",
        "1.18.33",
        _home("XDG_CONFIG_HOME", ".config/opencode", "opencode"),
        ("opencode.jsonc|opencode.json", f"plugin/{NAME}.js"),
        ours=(("mcp", NAME),),
        left_of_review="opencode still asks in the terminal about a plan that was approved elsewhere",
    ),
    "copilot": Terminal(
        "Copilot CLI",
        "copilot",
        "1.0.102",
        _home("COPILOT_HOME", ".copilot"),
        ("settings.json",),
        (_MARKETPLACE, ("plugin", "install", _ID)),
        (("plugin", "uninstall", _ID), _NO_MARKETPLACE),
        ("plugin", "list"),
        _listed_as(rf"{_ID} \([^\n]*\(enabled\)"),
        ours=_KEYS,
        left_of_review="Copilot still asks in the terminal about a plan that was approved elsewhere",
    ),
}
