"""Settings of editors that are programs: Lua for Neovim, Lisp for Emacs."""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

#: CodeCompanion's adapters that can log in to these agents. Other agents get `opencode`, which needs no login.
_ADAPTERS: Final = {
    "claude": "claude_code",
    "codex": "codex",
    "gemini": "gemini_cli",
    "goose": "goose",
    "kimi": "kimi_cli",
    "auggie": "auggie_cli",
    "copilot": "copilot_acp",
    "cursor": "cursor_cli",
    "cline": "cline_cli",
    "kilo": "kilocode",
    "kiro": "kiro",
    "vibe": "mistral_vibe",
}


class _Shell(NamedTuple):
    """What agent-shell has for an agent: the functions that make its configuration and its client, and the variables
    with its command (newest name first) and its authentication."""

    config: str
    client: str
    commands: tuple[str, str]
    login: str


_SHELLS: Final = {
    "claude": _Shell(
        "agent-shell-anthropic-make-claude-code-config",
        "agent-shell-anthropic-make-claude-client",
        ("agent-shell-anthropic-claude-acp-command", "agent-shell-anthropic-claude-command"),
        "agent-shell-anthropic-authentication",
    ),
    "codex": _Shell(
        "agent-shell-openai-make-codex-config",
        "agent-shell-openai-make-codex-client",
        ("agent-shell-openai-codex-acp-command", "agent-shell-openai-codex-command"),
        "agent-shell-openai-authentication",
    ),
    "gemini": _Shell(
        "agent-shell-google-make-gemini-config",
        "agent-shell-google-make-gemini-client",
        ("agent-shell-google-gemini-acp-command", "agent-shell-google-gemini-command"),
        "agent-shell-google-authentication",
    ),
}


def neovim_settings(name: str, command: Sequence[str]) -> str:
    key = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_") or "planwire"
    words = ", ".join(_quoted(word) for word in command)
    program, *arguments = map(_quoted, command)
    agent = _agent(command)
    base = next((adapter for word, adapter in _ADAPTERS.items() if word in agent), "opencode")
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


def emacs_settings(name: str, command: Sequence[str]) -> str:
    agent = _agent(command)
    symbol = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "planwire"
    shell = next((shell for word, shell in _SHELLS.items() if word in agent), None)
    return _known_agent(shell, symbol, name, command) if shell else _new_agent(symbol, name, command)


def _known_agent(shell: _Shell, symbol: str, name: str, command: Sequence[str]) -> str:
    """A copy of an agent that agent-shell knows, with the same login and look."""
    words = " ".join(map(_quoted, command))
    return f"""\
(with-eval-after-load 'agent-shell
  (require 'cl-lib)
  (let ((config (copy-alist ({shell.config}))))
    (setf (alist-get :identifier config) '{symbol}
          (alist-get :mode-line-name config) {_quoted(name)}
          (alist-get :buffer-name config) {_quoted(name)}
          (alist-get :shell-prompt config) {_quoted(f"{name}> ")}
          (alist-get :shell-prompt-regexp config) (regexp-quote {_quoted(f"{name}> ")})
          ;; It logs in as `{shell.login}' says, with an API key or without.
          (alist-get :client-maker config)
          (lambda (buffer)
            (cl-progv (list (cl-find-if #'boundp '({" ".join(shell.commands)})))
                '(({words}))
              ({shell.client} :buffer buffer))))
    (add-to-list 'agent-shell-agent-configs config)))"""


def _new_agent(symbol: str, name: str, command: Sequence[str]) -> str:
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
    ;; If it wants a request to log in: :needs-authentication t, and
    ;; :authenticate-request-maker (lambda () (acp-make-authenticate-request :method-id …))
    :client-maker (lambda (buffer)
                    (acp-make-client
                     :command {program}
                     :command-params '({" ".join(arguments)})
                     ;; Its API key goes here; all that Emacs has in its environment it gets anyway.
                     :environment-variables (agent-shell-make-environment-variables)
                     :context-buffer buffer)))))"""


def _agent(command: Sequence[str]) -> str:
    """The agent's command without paths."""
    return " ".join(word.rsplit("/", 1)[-1] for word in list(command)[list(command).index("--") :])


def _quoted(text: str) -> str:
    """A string as Lua and Emacs Lisp both read it."""
    named = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    return '"' + "".join(named.get(character, character) for character in text) + '"'
