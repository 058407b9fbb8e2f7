"""Each editor's way to start an agent: where its settings are, and what to put there."""

import re
from collections.abc import Callable
from typing import Final, NamedTuple

from planwire.cli.input_output import indented_json

__all__ = ["EDITORS"]


class Editor(NamedTuple):
    """`where` says where the settings go; `settings` makes them from a name and a command."""

    where: str
    settings: Callable[[str, list[str]], str]


def _neovim(name: str, command: list[str]) -> str:
    key = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_") or "planwire"
    words = ", ".join(_quoted(word) for word in command)
    program, *arguments = map(_quoted, command)
    agent = " ".join(word.rsplit("/", 1)[-1] for word in command[command.index("--") :])
    base = next((preset for word, preset in _PRESETS.items() if word in agent), "opencode")
    return f"""\
-- CodeCompanion
require("codecompanion").setup({{
  adapters = {{
    acp = {{
      {key} = function()
        return require("codecompanion.adapters").extend({_quoted(base)}, {{
          name = {_quoted(key)},
          formatted_name = {_quoted(name)},
          commands = {{ default = {{ {words} }} }},
        }})
      end,
    }},
  }},
  interactions = {{ chat = {{ adapter = {_quoted(key)} }} }},
}})

-- or avante.nvim
require("avante").setup({{
  provider = {_quoted(key)},
  acp_providers = {{
    [{_quoted(key)}] = {{ command = {program}, args = {{ {", ".join(arguments)} }} }},
  }},
}})"""


def _emacs(name: str, command: list[str]) -> str:
    symbol = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "planwire"
    program, *arguments = map(_quoted, command)
    return f"""\
(with-eval-after-load 'agent-shell
  (add-to-list
   'agent-shell-agent-configs
   (agent-shell-make-agent-config
    :identifier '{symbol}
    :mode-line-name {_quoted(name)}
    :buffer-name {_quoted(name)}
    :shell-prompt {_quoted(f"{name}> ")}
    :shell-prompt-regexp (regexp-quote {_quoted(f"{name}> ")})
    :client-maker (lambda (buffer)
                    (acp-make-client
                     :command {program}
                     :command-params '({" ".join(arguments)})
                     :context-buffer buffer)))))"""


#: CodeCompanion's adapters know how to log in to these agents. For others `opencode` serves, which asks for nothing.
_PRESETS: Final = {
    "claude": "claude_code",
    "codex": "codex",
    "gemini": "gemini_cli",
    "goose": "goose",
    "kimi": "kimi_cli",
    "auggie": "auggie_cli",
}


def _json(key: str, **more: str) -> Callable[[str, list[str]], str]:
    """Settings in JSON: agents by their names under `key`, with `more` to say about each."""

    def settings(name: str, command: list[str]) -> str:
        program, *arguments = command
        return indented_json({key: {name: {**more, "command": program, "args": arguments, "env": {}}}})

    return settings


def _quoted(text: str) -> str:
    """A string as Lua and Emacs Lisp both read it."""
    named = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    return '"' + "".join(named.get(character, character) for character in text) + '"'


EDITORS: Final = {
    "zed": Editor(
        "For Zed's settings.json (command palette: zed: open settings):", _json("agent_servers", type="custom")
    ),
    "jetbrains": Editor("For ~/.jetbrains/acp.json (AI Chat: Configure ACP Agents):", _json("agent_servers")),
    "neovim": Editor("For Neovim's init.lua, with CodeCompanion or avante.nvim:", _neovim),
    "emacs": Editor("For Emacs' init file, with agent-shell (start it with M-x agent-shell):", _emacs),
    "vscode": Editor(
        "For VS Code's settings.json, with the extension ACP Client (formulahendry.acp-client):", _json("acp.agents")
    ),
}
