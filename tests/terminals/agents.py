"""How each agent is started in a terminal: offline, on a scripted model, with a home of its own.

Each has two ways: `agent.headless("prompt")` is one prompt on a command line, and `Tmux(agent)` a whole conversation.
"""

import json
import os
import shlex
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from planwire.cli.scripted_home import CODEX_SETTINGS
from tests.availability import or_skip
from tests.peers.agents import NOWHERE, Agent, furnished
from tests.peers.programs import PROGRAMS

__all__ = ["AGENTS", "TerminalAgent", "claude", "codex", "copilot", "gemini", "opencode", "qwen"]

KEY: Final = "scripted-model-needs-no-key"
HEADLESS_SECONDS = 110
UNTRUSTED: Final = "--dangerously-bypass-hook-trust"  # nobody is there to trust hooks


@dataclass(frozen=True)
class TerminalAgent(Agent):
    """An agent in a terminal.

    `asking` is what its command line needs to answer one prompt, which comes at its end; `options` is what it needs to
    begin a conversation. Once its terminal shows `ready`, it takes words. `tool` is how it names a tool of planwire's.
    """

    asking: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    ready: str = ""
    tool: str = "mcp__planwire__{}"

    def called(self, name: str) -> str:
        """The name of a tool of planwire's, as the model calls it."""
        return self.tool.format(name)

    def headless(
        self, prompt: str, *options: str, seconds: float = HEADLESS_SECONDS
    ) -> subprocess.CompletedProcess[str]:
        """The agent, run on one prompt until it has answered."""
        return self.run(*options, *self.asking, prompt, seconds=seconds)

    def run(self, *arguments: str, seconds: float = HEADLESS_SECONDS) -> subprocess.CompletedProcess[str]:
        """The agent, run with arguments of its own until it ends."""
        return subprocess.run(
            [*self.command, *arguments],
            check=False,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            env=dict(self.environment),
            cwd=self.cwd,
            timeout=seconds,
        )


def claude(model: str, home: Path, **environment: str) -> TerminalAgent:
    """Claude Code, past its first questions: the theme, the key, and whether the folder is trusted."""
    agent = _terminal_agent(
        "claude",
        home,
        {
            "ANTHROPIC_BASE_URL": model,
            "ANTHROPIC_API_KEY": KEY,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION": "false",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "DISABLE_TELEMETRY": "1",
            **environment,
        },
        asking=("-p",),
        ready="❯",
        tool="mcp__plugin_planwire_planwire__{}",
    )
    known = {
        "hasCompletedOnboarding": True,
        "customApiKeyResponses": {"approved": [KEY[-20:]], "rejected": []},
        "projects": {str(agent.cwd): {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}},
    }
    _settings(home / ".claude.json", known)
    return agent


#: Codex has been offered a newer model, and its terminal leaves no daemon behind.
CODEX_MORE: Final = """
[notice.model_migrations]
"gpt-5.5" = "gpt-6-sol"

[features]
daemon_auto_start = false
"""


def codex(model: str, home: Path, more: str = "", **environment: str) -> TerminalAgent:
    """Codex. `more` are lines that its settings begin with."""
    agent = _terminal_agent(
        "codex",
        home,
        {"OPENAI_API_KEY": KEY, **environment},
        asking=("exec", "--skip-git-repo-check", UNTRUSTED),
        options=(UNTRUSTED,),
        ready="Ask Codex to do anything",
        tool="mcp__planwire.{}",
    )
    file = home / ".codex" / "config.toml"
    if not file.exists():
        file.parent.mkdir(exist_ok=True)
        file.write_text(more + CODEX_SETTINGS.format(model=model, project=agent.cwd) + CODEX_MORE)
    return agent


def gemini(model: str, home: Path, **environment: str) -> TerminalAgent:
    """Gemini CLI."""
    variables = {
        "GOOGLE_GEMINI_BASE_URL": model,
        "GEMINI_API_KEY": KEY,
        "GEMINI_CLI_NO_RELAUNCH": "1",
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
        **environment,
    }
    agent = _terminal_agent(
        "gemini", home, variables, asking=("-p",), ready="Type your message", tool="mcp_planwire_{}"
    )
    known = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"disableAutoUpdate": True, "enableAutoUpdate": False},
    }
    _settings(home / ".gemini" / "settings.json", known)
    return agent


def qwen(model: str, home: Path, **environment: str) -> TerminalAgent:
    """Qwen Code."""
    variables = {
        "OPENAI_BASE_URL": f"{model}/v1",
        "OPENAI_API_KEY": KEY,
        "OPENAI_MODEL": "scripted",
        **environment,
    }
    agent = _terminal_agent("qwen", home, variables, asking=("-p",), ready="Type your message")
    known = {
        "security": {"auth": {"selectedType": "openai"}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"enableAutoUpdate": False},
    }
    _settings(home / ".qwen" / "settings.json", known)
    return agent


def opencode(model: str, home: Path, **environment: str) -> TerminalAgent:
    """OpenCode, which looks for its own package at each start with a plugin: it looks once, and then goes on."""
    without = ("AUTOUPDATE", "LSP_DOWNLOAD", "MODELS_FETCH", "SHARE")
    variables = {**{f"OPENCODE_DISABLE_{each}": "1" for each in without}, **environment}
    agent = _terminal_agent("opencode", home, variables, asking=("run",), ready="Ask anything", tool="planwire_{}")
    (home / ".npmrc").write_text("fetch-retries=0\n")
    scripted = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{model}/v1", "apiKey": KEY},
        "models": {"scripted": {"limit": {"context": 128_000, "output": 8_000}, "tool_call": True}},
    }
    names = {"model": "scripted/scripted", "small_model": "scripted/scripted", "autoupdate": False}
    _settings(home / ".config" / "opencode" / "opencode.json", {**names, "provider": {"scripted": scripted}})
    return agent


def copilot(model: str, home: Path, **environment: str) -> TerminalAgent:
    """Copilot CLI."""
    variables = {
        "COPILOT_PROVIDER_BASE_URL": f"{model}/v1",
        "COPILOT_PROVIDER_API_KEY": KEY,
        "COPILOT_MODEL": "gpt-5.5",
        "COPILOT_OFFLINE": "true",
        "COPILOT_AUTO_UPDATE": "false",
        **environment,
    }
    without = "--no-auto-update"
    agent = _terminal_agent(
        "copilot", home, variables, asking=(without, "-p"), options=(without,), ready="? help", tool="planwire-{}"
    )
    _settings(home / ".copilot" / "config.json", {"trusted_folders": [str(agent.cwd)]})
    return agent


AGENTS: Final[Mapping[str, Callable[..., TerminalAgent]]] = {
    "claude": claude,
    "codex": codex,
    "gemini": gemini,
    "qwen": qwen,
    "opencode": opencode,
    "copilot": copilot,
}


def _terminal_agent(name: str, home: Path, environment: Mapping[str, str], **ways: Any) -> TerminalAgent:
    command = or_skip(PROGRAMS[name])
    programs = home / "bin"  # where planwire finds it by its name, as it would on a person's machine
    programs.mkdir(parents=True, exist_ok=True)
    (programs / name).write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n')
    (programs / name).chmod(0o755)
    proxies = {name.lower(): NOWHERE for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")}
    agent = furnished(name, command, home, {**proxies, "no_proxy": "127.0.0.1,localhost", **environment})
    paths = f"{programs}{os.pathsep}{agent.environment['PATH']}"
    return TerminalAgent(agent.name, agent.command, {**agent.environment, "PATH": paths}, agent.cwd, **ways)


def _settings(file: Path, settings: Mapping[str, Any]) -> None:
    if not file.exists():  # an agent keeps more in it, which is still there when it starts again
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(settings))
