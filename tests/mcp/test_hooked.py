"""The tool server of an agent in its own terminal: each call is for the session that the hook before it names."""

import json
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from planwire import open_journal
from planwire.hooks.command_line import Role, hook_command
from planwire.hooks.own_calls import OwnCalls
from planwire.journal import load_state
from planwire.journal.spool_append import encode_note
from tests.mcp.test_server import SECONDS, call, run

PREFIX = "mcp__plugin_planwire_planwire__"


@pytest.fixture(autouse=True)
def _own_runtime_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))


@asynccontextmanager
async def a_host(folder: Path) -> AsyncIterator[Client]:
    hooks = str(folder / "journal.db-hooks")
    server = StdioServerParameters(
        command=sys.executable, args=["-P", "-m", "planwire", "mcp", "--hooks", hooks], cwd=str(folder)
    )
    async with Client(server, read_timeout_seconds=SECONDS, cache=None) as client:
        yield client


def payload(session: str, event: str, **fields: Any) -> bytes:
    transcript = f"/home/user/.claude/projects/-work/{session}.jsonl"
    common = {"session_id": session, "transcript_path": transcript, "cwd": "/work", "hook_event_name": event}
    return json.dumps({**common, **fields}).encode()


def hook(folder: Path, role: Role, body: bytes) -> str:
    command = hook_command(role, folder / "journal.db-hooks")
    done = subprocess.run(["sh", "-c", command], input=body, capture_output=True, check=True, timeout=SECONDS)
    return done.stdout.decode()


def announced(folder: Path, session: str, tool: str, arguments: dict[str, Any], call_id: str = "toolu_1") -> str:
    """The hook before a call of one of planwire's tools. Returns its answer."""
    server = {"name": "plugin:planwire:planwire", "source": "plugin"}
    fields = {"tool_name": f"{PREFIX}{tool}", "tool_input": arguments, "tool_use_id": call_id, "mcp_server": server}
    return hook(folder, "call", payload(session, "PreToolUse", **fields))


def test_each_call_is_made_in_the_session_that_its_hook_names(tmp_path: Path) -> None:
    async def work() -> None:
        async with a_host(tmp_path) as host:
            for session, content in (("one", "Read"), ("two", "Look"), ("one", "Write")):
                arguments = {"entries": [content]}
                assert json.loads(announced(tmp_path, session, "set_plan", arguments, content))[
                    "hookSpecificOutput"
                ] == {
                    "hookEventName": "PreToolUse",
                    "permissionDecision": "allow",
                }
                if content == "Write":
                    announced(tmp_path, session, "get_plan", {}, "toolu_2")
                    await call(host, "get_plan")
                await call(host, "set_plan", **arguments)

    run(work)
    with open_journal(tmp_path / "journal.db") as journal:
        found = {each.id: load_state(journal, each.id) for each in journal.sessions()}
    assert {key: [step.content for step in each.plans["main"].state.steps] for key, each in found.items()} == {
        "one": ["Write"],
        "two": ["Look"],
    }
    assert {(each.opened.agent, each.opened.cwd) for each in found.values() if each.opened} == {
        ("Claude Code", "/work")
    }


def test_a_server_answers_hooks_as_long_as_it_runs_and_tells_with_the_next_tool(tmp_path: Path) -> None:
    async def work() -> None:
        async with a_host(tmp_path) as host:
            announced(tmp_path, "one", "set_plan", {"entries": ["Read"]})
            await call(host, "set_plan", entries=["Read"])
            told = hook(tmp_path, "tell", payload("one", "SessionStart", source="compact"))
            assert "Your context was compacted" in told
            assert "Read" in told

    run(work)


def test_without_a_hook_a_call_is_made_in_a_session_of_the_servers_own(tmp_path: Path) -> None:
    async def work() -> None:
        async with a_host(tmp_path) as host:
            await call(host, "set_plan", entries=["Read"])

    run(work)
    with open_journal(tmp_path / "journal.db") as journal:
        [session] = journal.sessions()
        assert session.id.startswith(f"{tmp_path.name}-")


def left(
    folder: Path, name: str, session: str, tool: str, arguments: object, call_id: str | None, ancestors: str = ""
) -> None:
    calls = folder / "journal.db-hooks" / "calls"
    calls.mkdir(parents=True, exist_ok=True)
    fields: dict[str, Any] = {"tool_name": f"{PREFIX}{tool}", "tool_input": arguments}
    body = payload(session, "PreToolUse", **fields, **({"tool_use_id": call_id} if call_id else {}))
    (calls / name).write_bytes(encode_note({"ancestors": ancestors}) + b"\n" + body)


@pytest.mark.parametrize(
    ("tool", "arguments", "meta", "session"),
    [
        ("set_plan", {"entries": ["a"]}, {"claudecode/toolUseId": "t1"}, "one"),
        ("set_plan", {"entries": ["a"]}, {"claudecode/toolUseId": "t2"}, "two"),
        ("set_plan", {"entries": ["a"]}, {}, "two"),  # of two that fit, the newest
        ("get_plan", {}, {}, "three"),
        ("set_plan", {"entries": ["b"]}, {"sessionId": "four"}, "four"),
        ("set_plan", {"entries": ["b"]}, {}, None),
    ],
)
def test_a_call_is_found_by_its_id_or_by_what_is_called(
    tmp_path: Path, tool: str, arguments: dict[str, Any], meta: dict[str, Any], session: str | None
) -> None:
    left(tmp_path, "1", "one", "set_plan", {"entries": ["a"]}, "t1")
    left(tmp_path, "2", "two", "set_plan", {"entries": ["a"]}, "t2")
    left(tmp_path, "3", "three", "get_plan", {}, None)
    with open_journal(tmp_path / "journal.db") as journal:
        bound = OwnCalls(journal, tmp_path / "journal.db-hooks").bind(tool, arguments, meta)
    assert (bound.session if bound else None) == session


@pytest.mark.parametrize(("call_id", "session"), [(None, None), ("toolu_1", "other")])
def test_the_same_call_of_another_agent_is_told_apart(call_id: str | None, session: str | None, tmp_path: Path) -> None:
    left(tmp_path, "1", "other", "get_plan", {}, call_id, ancestors="1:1:sh,99999999:1:qwen")
    meta = {"claudecode/toolUseId": call_id} if call_id else {}
    with open_journal(tmp_path / "journal.db") as journal:
        bound = OwnCalls(journal, tmp_path / "journal.db-hooks").bind("get_plan", {}, meta)
    assert (bound.session if bound else None) == session


@pytest.mark.parametrize("named", ["", "x" * 1_000, 7])
def test_what_can_be_no_id_of_a_session_names_none(named: object, tmp_path: Path) -> None:
    with open_journal(tmp_path / "journal.db") as journal:
        assert OwnCalls(journal, tmp_path / "journal.db-hooks").bind("get_plan", {}, {"sessionId": named}) is None
