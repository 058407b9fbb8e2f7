"""Agents that people run in a terminal: their command lines, from npm, without the packages that only start others.

Most come as one native program for each system, which is started directly: 350 MB for Claude Code, 190 for Copilot, 180
for OpenCode. Gemini CLI and Qwen Code are scripts, of 100 and 120 MB, and Qwen's wants a Node 22, which npm has too.
"""

import platform
from collections.abc import Callable
from typing import Final, TypeAlias

from tests.availability import Unavailable
from tests.peers.install import NPM_PEERS_NODE, codex_peer, node, npm_packages

__all__ = ["PROGRAMS", "Command"]

Command: TypeAlias = tuple[str, ...]

CLAUDE: Final = "2.1.325"
GEMINI: Final = "0.61.0"
QWEN: Final = "0.24.4"
OPENCODE: Final = "1.18.33"
COPILOT: Final = "1.0.102"
NODE: Final = "22.22.0"
PROCESSORS: Final = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}


def claude() -> Command:
    """Claude Code."""
    return _native("@anthropic-ai/claude-code", CLAUDE, "claude")


def codex() -> Command:
    """Codex, which its agent for editors brings along."""
    folder = codex_peer() / "node_modules" / "@openai"
    found = next(folder.glob("codex-*/vendor/*/bin/codex"), None)
    if found is None:
        raise Unavailable(f"Codex has no program for {platform.machine()}")
    return (str(found),)


def gemini() -> Command:
    """Gemini CLI."""
    folder = npm_packages({"@google/gemini-cli": GEMINI}, NPM_PEERS_NODE, optional=False)
    return node(NPM_PEERS_NODE), str(folder / "node_modules/@google/gemini-cli/bundle/gemini.js")


def qwen() -> Command:
    """Qwen Code."""
    folder = npm_packages({"@qwen-code/qwen-code": QWEN}, NPM_PEERS_NODE, optional=False)
    return _node_22(), str(folder / "node_modules/@qwen-code/qwen-code/cli-entry.js")


def opencode() -> Command:
    """OpenCode, in a version that people use today."""
    baseline = "-baseline" if _processor() == "x64" else ""  # for old processors too
    return _native("opencode", OPENCODE, "bin/opencode", baseline)


def copilot() -> Command:
    """Copilot CLI."""
    return _native("@github/copilot", COPILOT, "copilot")


PROGRAMS: Final[dict[str, Callable[[], Command]]] = {
    "claude": claude,
    "codex": codex,
    "gemini": gemini,
    "qwen": qwen,
    "opencode": opencode,
    "copilot": copilot,
}


def _native(package: str, version: str, program: str, ending: str = "") -> Command:
    name = f"{package}-{platform.system().lower()}-{_processor()}{ending}"
    return (str(npm_packages({name: version}, NPM_PEERS_NODE, optional=False) / "node_modules" / name / program),)


def _node_22() -> str:
    try:
        return node(22)
    except Unavailable:
        return _native("node", NODE, "bin/node")[0]


def _processor() -> str:
    machine = platform.machine().lower()
    return PROCESSORS.get(machine, machine)
