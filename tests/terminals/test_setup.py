"""`planwire setup` with the real agents: each installs the plugin by its own commands, lists it, and is as before."""

import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from planwire.cli.exit_codes import DONE, NOT_DONE
from planwire.cli.terminals import TERMINALS
from planwire.own_process import own_command
from tests.peers.agents import NOWHERE
from tests.terminals.agents import AGENTS, TerminalAgent

pytestmark = pytest.mark.agents

SECONDS = 110


def planwire(environment: Mapping[str, str], cwd: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    command = own_command(*words)
    return subprocess.run(
        command,
        check=False,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env=environment,
        cwd=cwd,
        timeout=SECONDS,
    )


@pytest.fixture(params=list(TERMINALS))
def agent(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def on_path(name: str, home: Path) -> tuple[TerminalAgent, Mapping[str, str]]:
    """An agent, and an environment in which it is found by its name, as on a person's machine."""
    found = AGENTS[TERMINALS[name].program](NOWHERE, home)
    return found, found.environment


def settings(name: str, home: Path) -> dict[str, bytes | None]:
    """The files that an installation changes."""
    paths = (home / path.relative_to(Path.home()) for path in TERMINALS[name].settings_paths())
    return {each.name: each.read_bytes() if each.exists() else None for each in paths}


def test_the_agent_installs_lists_and_removes_it(agent: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found, environment = on_path(agent, tmp_path)
    for variable in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "QWEN_HOME", "COPILOT_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    before = settings(agent, tmp_path)
    installed = planwire(environment, found.cwd, "setup", agent, "--yes")
    assert installed.returncode == DONE, installed
    assert settings(agent, tmp_path) != before or agent == "qwen"  # which keeps extensions elsewhere
    checked = planwire(environment, found.cwd, "doctor")
    if agent == "codex":  # only a person can trust its hooks
        assert checked.returncode == NOT_DONE
        assert 'hooks, and runs none of those: start codex and choose "Trust all"' in checked.stdout
    else:
        assert checked.returncode == DONE, checked
        title, version = TERMINALS[agent].title, TERMINALS[agent].tested
        assert f"ok     {title}: planwire " in checked.stdout
        assert f"({TERMINALS[agent].program} {version})" in checked.stdout
    was = settings(agent, tmp_path)
    assert "Nothing to change." in planwire(environment, found.cwd, "setup", agent, "--yes").stdout
    assert settings(agent, tmp_path) == was
    removed = planwire(environment, found.cwd, "setup", agent, "--undo", "--yes")
    assert removed.returncode == DONE, removed
    assert settings(agent, tmp_path) == before
    assert not list(tmp_path.rglob("plugins/cache/planwire"))


def test_claude_code_finds_nothing_wrong_with_the_plugin(tmp_path: Path) -> None:
    found, environment = on_path("claude-code", tmp_path)
    planwire(environment, found.cwd, "setup", "claude-code", "--review", "--yes")
    [folder] = tmp_path.rglob("planwire/plugins/claude-code")
    for each in (folder, folder / "planwire"):
        said = found.run("plugin", "validate", str(each))
        assert said.returncode == 0, said
        assert "Validation passed" in said.stdout
