"""How each real peer is started: offline, on a scripted model, with a home of its own.

The environment is built from nothing, so that neither the user's settings nor the user's keys are read, and everything
that a peer writes stays under the home that the test gives it.
"""

import json
import os
import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from planwire.cli.scripted_home import CODEX_SETTINGS
from tests.availability import or_skip
from tests.peers.client import Client, Hello, Policy, allow_once
from tests.peers.install import (
    codex_peer,
    deepagents_python,
    hermes_python,
    npm_peers,
    opencode_peer,
)

__all__ = ["Agent", "acpx", "claude", "codex", "deepagents", "furnished", "hermes", "opencode"]

NOWHERE = "http://127.0.0.1:9"  # the discard port: whoever looks for a way out is refused at once


@dataclass(frozen=True)
class Agent:
    """A program and what it is run with: an agent, or a client that runs one."""

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str]
    cwd: Path

    def behind(self, *prefix: str, **environment: str) -> "Agent":
        """The same agent behind another program, such as `behind("planwire", "relay", "--")`."""
        return replace(self, command=(*prefix, *self.command), environment={**self.environment, **environment})

    def start(self, hello: Hello = Hello(), policy: Policy = allow_once) -> Client:
        """The agent, started, and a client that talks to it once it is entered."""
        return Client(self.command, self.environment, self.cwd, hello=hello, policy=policy)


def claude(model: str, home: Path, tool: Literal["todo", "task"] = "todo") -> Agent:
    """npm's claude-agent-acp, with the tool that takes whole lists (`TodoWrite`) or those for single tasks."""
    script = or_skip(npm_peers) / "node_modules" / ".bin" / "claude-agent-acp"
    environment = {
        "ANTHROPIC_BASE_URL": model,
        "ANTHROPIC_API_KEY": "not-a-key",
        "CLAUDE_CONFIG_DIR": str(home / ".claude"),
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION": "false",
        "CLAUDE_CODE_ENABLE_TODO_TOOLS": "1",
        "CLAUDE_CODE_ENABLE_TASKS": "1" if tool == "task" else "0",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_ERROR_REPORTING": "1",
        "DISABLE_TELEMETRY": "1",
    }
    return furnished("claude-agent-acp", [str(script)], home, environment)


def codex(model: str, home: Path) -> Agent:
    """npm's codex-acp, and Codex with it. It plans in its own mode: `session/set_config_option`."""
    script = or_skip(codex_peer) / "node_modules" / ".bin" / "codex-acp"
    settings = home / ".codex"
    agent = furnished("codex-acp", [str(script)], home, {"CODEX_HOME": str(settings), "OPENAI_API_KEY": "not-a-key"})
    settings.mkdir(exist_ok=True)
    (settings / "config.toml").write_text(CODEX_SETTINGS.format(model=model, project=agent.cwd))
    return agent


def opencode(model: str, home: Path) -> Agent:
    """npm's OpenCode, on a model that speaks as OpenAI's do."""
    settings = home / "opencode.json"
    without = ("AUTOUPDATE", "LSP_DOWNLOAD", "MODELS_FETCH", "SHARE")
    environment = {"OPENCODE_CONFIG": str(settings), **{f"OPENCODE_DISABLE_{each}": "1" for each in without}}
    agent = furnished("opencode", [str(or_skip(opencode_peer)), "acp"], home, environment)
    scripted = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{model}/v1", "apiKey": "not-a-key"},
        "models": {"scripted": {"limit": {"context": 128_000, "output": 8_000}, "tool_call": True}},
    }
    names = {"model": "scripted/scripted", "small_model": "scripted/scripted"}
    settings.write_text(json.dumps({**names, "provider": {"scripted": scripted}}))
    return agent


HERMES_SETTINGS = """\
model:
  provider: custom
  default: scripted
  base_url: http://model.invalid/v1
  api_key: not-a-key
  context_length: 128000
"""


def hermes(model: str, home: Path) -> Agent:
    """PyPI's hermes-agent. A session of its own remembers where its model was, so that is the same place in each run,
    to which the proxy leads."""
    settings = home / ".hermes"
    proxies = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"), model)
    environment = {"HERMES_HOME": str(settings), "PYTHONDONTWRITEBYTECODE": "1", **proxies}
    agent = furnished("hermes", [str(or_skip(hermes_python).with_name("hermes-acp"))], home, environment)
    settings.mkdir(exist_ok=True)
    (settings / "config.yaml").write_text(HERMES_SETTINGS)
    return agent


def deepagents(model: str, home: Path) -> Agent:
    """PyPI's deepagents-acp, on an OpenAI model."""
    environment = {
        "OPENAI_BASE_URL": f"{model}/v1",
        "OPENAI_API_KEY": "not-a-key",
        "LANGSMITH_TRACING": "false",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    return furnished("deepagents-acp", [str(or_skip(deepagents_python)), "-m", "deepagents_acp"], home, environment)


def acpx(agent: Agent, prompt: str, *options: str) -> Agent:
    """npm's acpx, a client: it runs the agent, sends it one prompt, prints what comes and ends."""
    script = or_skip(npm_peers) / "node_modules" / ".bin" / "acpx"
    asked = ["--approve-reads", *options, "--agent", shlex.join(agent.command), "exec", prompt]
    return replace(agent, name="acpx", command=(str(script), *asked))


def furnished(name: str, command: Sequence[str], home: Path, environment: Mapping[str, str]) -> Agent:
    """An agent with a home, a project and a folder for temporary files, all its own, and no way out."""
    project, temporary = home / "project", home / "tmp"
    for folder in (project, temporary):
        folder.mkdir(parents=True, exist_ok=True)
    node = shutil.which("node")  # npm's programs look for it in the path
    bare = {
        "PATH": os.pathsep.join([*([str(Path(node).parent)] if node else []), os.defpath]),
        "HOME": str(home),
        "TMPDIR": str(temporary),
        "LANG": "C.UTF-8",
        "HTTP_PROXY": NOWHERE,
        "HTTPS_PROXY": NOWHERE,
        "ALL_PROXY": NOWHERE,
        "NO_PROXY": "127.0.0.1,localhost",
    }
    return Agent(name, tuple(command), {**bare, **environment}, project)
