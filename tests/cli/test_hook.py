"""`planwire hook`: what a hooks file of one's own calls, and what it never does to its agent."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from planwire import open_journal
from planwire.journal import load_state
from planwire.own_process import own_command

SESSION = "0b1c"


@pytest.fixture(autouse=True)
def _own_runtime_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))


def payload(event: str, **fields: Any) -> bytes:
    common = {"session_id": SESSION, "turn_id": "t", "cwd": "/work", "model": "m", "hook_event_name": event}
    return json.dumps({**common, **fields}).encode()


def hook(folder: Path, body: bytes, *options: str) -> bytes:
    """What an agent gets of the hook, which ends with 0 whatever is wrong."""
    command = [*own_command(), "hook", "--journal", str(folder / "plans.db"), *options]
    done = subprocess.run(command, input=body, capture_output=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout


def test_a_payload_is_recorded_and_answered_in_its_agents_dialect(tmp_path: Path) -> None:
    plan = {"tool_name": "update_plan", "tool_input": {"plan": [{"step": "Read", "status": "pending"}]}}
    assert hook(tmp_path, payload("PostToolUse", **plan, tool_response="Plan updated", tool_use_id="c")) == b""
    told = json.loads(hook(tmp_path, payload("SessionStart", source="compact"), "--agent", "codex"))
    assert set(told) == {"hookSpecificOutput"}
    assert "Read" in told["hookSpecificOutput"]["additionalContext"]
    with open_journal(tmp_path / "plans.db") as journal:
        state = load_state(journal, SESSION)
    assert state.opened is not None
    assert state.opened.agent == "Codex"


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"\xff", b'{"session_id": 1}', b'{"hook_event_name": "Future"}'])
def test_what_nobody_understands_is_answered_with_nothing(tmp_path: Path, body: bytes) -> None:
    assert hook(tmp_path, body) == b""


@pytest.mark.parametrize("options", [["--nonsense"], ["--agent", "nobody"], ["--journal", "nowhere:x"]])
def test_wrong_options_are_no_veto(tmp_path: Path, options: list[str]) -> None:
    assert hook(tmp_path, payload("Stop"), *options) == b""


def test_the_hooks_of_an_agent_behind_the_relay_leave_it_to_the_relay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLANWIRE_AGENT", "1")
    assert hook(tmp_path, payload("SessionStart", source="startup")) == b""
    assert not (tmp_path / "plans.db-hooks").exists()
