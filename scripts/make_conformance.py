"""docs/conformance.md: real agents and clients, checked by `planwire check`: `make conformance`.

It installs what the tests use, and runs each offline on the built-in scripted model. Peers that can't be installed are
left out.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.availability import Unavailable
from tests.peers.install import codex_peer, deepagents_python, node, npm_packages, npm_peers, npm_sdk

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "conformance.md"
OPENCODE = "opencode-linux-x64-baseline"
HEAD = """\
# Conformance

Real agents and clients, checked by [`planwire check`](check.md), offline on its built-in scripted model.
`make conformance` wrote this page with the commands above its tables: run one to see each finding with its line and its
mend.

## Agents

    planwire check --script default --capability draft -- AGENT

"""
WAYS = """
*Load*, *fork* and *plan mode* say whether a plan was told then; `–` means that the agent does not offer it.

## Ways of agents

    planwire check --learn -- AGENT

"""
CLIENT_HEAD = """
The tool is `trialtool`, of a server `trialserver`.

## Clients

    planwire check --client -- CLIENT

"""
AFTER = """
A cell counts the texts of plans that the client printed, of those that it was sent; `–` means that it does not announce
the dialect. *Unknown words* is the trial with updates and requests that no client knows.
"""

AGENT_COLUMNS = ["agent", "capability", "plan updates", "findings", "load", "fork", "plan mode"]
WAYS_COLUMNS = ["agent", "compaction", "MCP tools", "echoes of prompts", "steering"]
CLIENT_COLUMNS = ["client", "v1", "v1-rfd", "v1-draft", "v2", "unknown words", "findings"]

Command = Callable[[], Sequence[str]]


def _npm(folder: Callable[[], Path], program: str) -> Command:
    return lambda: [str(folder() / "node_modules" / ".bin" / program)]


def _opencode() -> Sequence[str]:
    folder = npm_packages({OPENCODE: "1.2.27"}, 20)
    return [str(folder / "node_modules" / OPENCODE / "bin" / "opencode"), "acp"]


AGENTS: dict[str, Command] = {
    "claude-agent-acp 0.99.0": _npm(npm_peers, "claude-agent-acp"),
    "codex-acp 2.6.0": _npm(codex_peer, "codex-acp"),
    "opencode 1.2.27": _opencode,
    "deepagents-acp 0.0.13": lambda: [str(deepagents_python()), "-m", "deepagents_acp"],
}
CLIENTS: dict[str, Command] = {
    "acpx": lambda: [*_npm(npm_peers, "acpx")(), "--approve-all", "--agent", "{agent}", "exec", "Plan."],
    "Python SDK": lambda: [sys.executable, str(ROOT / "tests" / "peers" / "sdk_client.py")],
    "npm SDK": lambda: [
        str(node(20)),
        str(ROOT / "tests" / "peers" / "sdk_client.mjs"),
        str(npm_sdk()),
    ],
}


def check(settings: str, *arguments: str) -> Any:
    """The verdict of one check, as JSON."""
    command = [sys.executable, "-m", "planwire", "check", "--json", *arguments]
    environment = {**os.environ, "XDG_CONFIG_HOME": settings}
    result = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=600)  # noqa: S603
    return json.loads(result.stdout)


def installed(peers: dict[str, Command]) -> dict[str, Sequence[str]]:
    """The commands of the peers that can be installed."""
    commands = {}
    for name, command in peers.items():
        try:
            commands[name] = command()
        except Unavailable as reason:
            print(f"left out: {name}: {reason}", file=sys.stderr)
    return commands


def agent_row(name: str, capability: str, seen: Any) -> list[str]:
    driven = [said(seen["driven"].get(what)) for what in ("load", "fork", "plan mode")]
    return [name, f"{capability} → {seen['dialect']}", str(seen["updates"]), found(seen), *driven]


def ways_row(name: str, learned: Sequence[str]) -> list[str]:
    told = dict(line.split(": ", 1) for line in learned if ": " in line)
    return [name, *(told.get(what, "–") for what in ("compaction", "MCP servers", "prompts", "steering"))]


def client_row(name: str, seen: Any) -> list[str]:
    trials = {trial["trial"]: trial for trial in seen["trials"]}
    cells = (printed(trials.get(each)) for each in ("v1", "v1-rfd", "v1-draft", "v2", "unknown words"))
    return [seen["client"] or name, *cells, found(seen)]


def found(verdict: Any) -> str:
    findings = [f"{each['level']} {each['rule']} `{each['code']}`" for each in verdict["findings"]]
    return ", ".join(findings) or "none"


def said(told: bool | None) -> str:
    return "–" if told is None else "told" if told else "not told"


def printed(trial: Any) -> str:
    if trial is None:
        return "–"
    shown, texts = (sum(each[key] for each in trial["updates"]) for key in ("shown", "texts"))
    return f"{shown} of {texts}" if trial["over"] else "ended early"


def table(*lines: Sequence[str]) -> str:
    ruled = [lines[0], ["---"] * len(lines[0]), *lines[1:]]
    return "".join(f"| {' | '.join(cell.replace('|', '/') for cell in line)} |\n" for line in ruled)


def main() -> None:
    agents, ways, clients = [AGENT_COLUMNS], [WAYS_COLUMNS], [CLIENT_COLUMNS]
    with TemporaryDirectory() as settings:
        for name, command in installed(AGENTS).items():
            for capability in ("none", "draft", "v2"):
                learn = ["--learn"] if capability == "none" else []
                seen = check(settings, "--script", "default", "--capability", capability, *learn, "--", *command)
                agents.append(agent_row(name, capability, seen))
                if learn:
                    ways.append(ways_row(name, seen["learned"]))
        for name, command in installed(CLIENTS).items():
            clients.append(client_row(name, check(settings, "--client", "--", *command)))
    PAGE.write_text(HEAD + table(*agents) + WAYS + table(*ways) + CLIENT_HEAD + table(*clients) + AFTER)


if __name__ == "__main__":
    main()
