"""A plan that is held back by the very command that hook files name, where nobody else drains what hooks say."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from planwire.hooks.command_line import Role, hook_command
from planwire.hooks.drained import open_drained
from planwire.journal import Journal, load_state, open_journal
from planwire.journal.hook_folders import make_hooks_path
from planwire.model.events import APPROVED, CHANGES_REQUESTED, ReviewAsked
from planwire.model.kinds import text_of
from planwire.model.records import PlanRecord
from planwire.session.steering import steer
from planwire.steering.wanted import Wanted
from tests.hooks.test_claude_code import EDITED, SESSION, TEXT, hook
from tests.servers.ports import free_port
from tests.waiting import until

PLAN = "plan-mode"
CALL = {"tool_name": "ExitPlanMode", "tool_input": {"plan": TEXT, "planFilePath": "/p.md"}}
ROLLOUT = "rollout-2026-11-15T10-00-00-0199.jsonl"


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with open_journal(tmp_path / "journal.db") as journal:
        yield journal


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "journal.db-hooks"


def prompt(session: str) -> dict[str, Any]:
    common = {"session_id": session, "turn_id": "t1", "transcript_path": ROLLOUT, "cwd": "/home/user/project"}
    return {**common, "hook_event_name": "UserPromptSubmit", "model": "gpt-5", "prompt": "Go on."}


@contextmanager
def running(
    role: Role, folder: Path, payload: dict[str, Any], agent: str | None = None
) -> Iterator["subprocess.Popen[str]"]:
    """A hook as an agent runs it."""
    command, pipe = hook_command(role, folder, agent).replace(" 2>/dev/null", ""), subprocess.PIPE
    with subprocess.Popen(["sh", "-c", command], stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdin is not None
        process.stdin.write(json.dumps(payload))
        process.stdin.close()
        process.stdin = None
        try:
            yield process
        finally:
            process.kill()


def ended(process: "subprocess.Popen[str]") -> dict[str, Any]:
    out, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (0, "")
    return json.loads(out) if out else {}


def record(journal: Journal, session: str = SESSION) -> PlanRecord:
    return load_state(journal, session).plans[PLAN]


def is_held(journal: Journal, session: str = SESSION) -> bool:
    found = load_state(journal, session).plans.get(PLAN)
    return found is not None and found.asked is not None and found.asked.options[1].name == "Request changes"


def decide(journal: Journal, session: str = SESSION, **arguments: Any) -> None:
    steer(journal, session, PLAN, Wanted("review", seen=record(journal, session).revision, **arguments), "ana")


def test_a_plan_is_approved_with_an_edit_through_the_hook(journal: Journal, folder: Path) -> None:
    with running("ask", folder, hook("PermissionRequest", **CALL)) as process:
        until(lambda: is_held(journal))
        decide(journal, verdict=APPROVED, edited=EDITED)
        answer = ended(process)["hookSpecificOutput"]["decision"]
        assert (answer["behavior"], answer["updatedInput"]["plan"]) == ("allow", EDITED.strip())
    result = {"plan": EDITED.strip(), "isAgent": False, "filePath": "/p.md"}
    with running("tell", folder, hook("PostToolUse", **CALL, tool_response=result, tool_use_id="t1")) as process:
        ended(process)
    now = record(journal)
    assert (now.asked, now.version, now.by, text_of(now.state.plan)) == (None, 2, "ana", EDITED.strip())
    assert [each.verdict for each in now.reviews] == [APPROVED]


def test_a_hook_that_holds_a_plan_back_asks_once(journal: Journal, folder: Path) -> None:
    with running("ask", folder, hook("PermissionRequest", **CALL)) as process:
        until(lambda: is_held(journal))
        decide(journal, verdict=APPROVED)
        ended(process)
    asked = [each.event for each in journal.read(SESSION) if isinstance(each.event, ReviewAsked)]
    assert len(asked) == 1


def test_the_waiting_hook_learns_from_other_hooks_that_the_agent_went_on(journal: Journal, folder: Path) -> None:
    with running("ask", folder, hook("PermissionRequest", **CALL)) as process:
        until(lambda: is_held(journal))
        result = {"plan": TEXT, "isAgent": False, "filePath": "/p.md"}
        with running("record", folder, hook("PostToolUse", **CALL, tool_response=result, tool_use_id="t1")) as other:
            ended(other)
        assert ended(process) == {}
        now = record(journal)
        assert (now.asked, now.version) == (None, 1)
        assert now.review is not None
        assert (now.review.verdict, now.review.by) == (APPROVED, "client (as Claude Code reports)")


def test_a_hook_that_has_no_plan_holds_nothing(journal: Journal, folder: Path) -> None:
    with running("ask", folder, hook("PermissionRequest", tool_name="Bash", tool_input={"command": "ls"})) as process:
        assert ended(process) == {}
    with running("ask", folder, {"no": "payload"}) as process:
        assert ended(process) == {}


@pytest.mark.parametrize("trouble", ["its server is away", "it can't be read"])
def test_a_plan_that_no_one_can_be_asked_about_is_not_approved_by_silence(
    trouble: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    if trouble == "its server is away":
        url = f"nats://127.0.0.1:{free_port()}/PLANS"
    else:
        url = str(tmp_path / "journal.db")
        Path(url).write_text("This is no journal.")
    folder = make_hooks_path(url)
    assert folder is not None
    (tmp_path / "g1" / "plans").mkdir(parents=True)
    (tmp_path / "g1" / "plans" / "parser.md").write_text(TEXT)
    gemini = {
        "session_id": "g1",
        "transcript_path": str(tmp_path / "chats" / "session-1.jsonl"),
        "cwd": "/home/user/project",
        "hook_event_name": "BeforeTool",
        "timestamp": "2026-11-15T16:16:31.567Z",
        "tool_name": "exit_plan_mode",
        "tool_input": {"plan_filename": "parser.md"},
    }
    with running("ask", folder, gemini, "gemini") as process:
        said = ended(process)
        assert said["decision"] == "deny"
        assert "not approved" in said["reason"]
    with running("ask", folder, hook("PermissionRequest", **CALL)) as process:
        assert ended(process) == {}, "its own dialog follows"


def codex_stop(tmp_path: Path) -> dict[str, Any]:
    """The end of a turn of Codex's in plan mode, with a plan in its transcript."""
    plan = {"type": "item_completed", "turn_id": "t1", "item": {"type": "Plan", "id": "p", "text": TEXT}}
    (tmp_path / ROLLOUT).write_text(json.dumps({"type": "event_msg", "payload": plan}) + "\n")
    return {
        "session_id": "c1",
        "turn_id": "t1",
        "transcript_path": str(tmp_path / ROLLOUT),
        "cwd": "/home/user/project",
        "hook_event_name": "Stop",
        "model": "gpt-5",
        "permission_mode": "default",
        "stop_hook_active": False,
        "last_assistant_message": "",
    }


def test_a_turn_that_ends_with_an_approved_plan_is_over_for_its_process_too(
    journal: Journal, folder: Path, tmp_path: Path
) -> None:
    def is_working() -> list[bool]:
        return [each.terms.is_working for each in journal.leases() if each.session == "c1" and each.terms.process]

    with running("tell", folder, prompt("c1")) as process:
        ended(process)
    with running("ask", folder, codex_stop(tmp_path)) as process:
        until(lambda: is_held(journal, "c1"))
        assert is_working() == [True]
        decide(journal, "c1", verdict=APPROVED)
        assert ended(process) == {}
    assert is_working() == [False]


def test_a_plan_of_codex_goes_back_and_its_turn_goes_on(journal: Journal, folder: Path, tmp_path: Path) -> None:
    stop = codex_stop(tmp_path)
    with running("ask", folder, stop) as process:
        until(lambda: is_held(journal, "c1"))
        decide(journal, "c1", verdict=CHANGES_REQUESTED, text="smaller steps")
        said = ended(process)
        assert said["decision"] == "block"
        assert "smaller steps" in said["reason"]
        assert load_state(journal, "c1").stopped is None
    with running("ask", folder, {**stop, "turn_id": "t1"}) as process:
        until(lambda: is_held(journal, "c1"))
        assert record(journal, "c1").asked is not None
        decide(journal, "c1", verdict=APPROVED)
        assert ended(process) == {}
        until(lambda: load_state(journal, "c1").stopped == "end_turn")
    (tmp_path / ROLLOUT).write_text("")
    with (
        running("ask", folder, {**stop, "session_id": "c2"}) as process,
        running("tell", folder, prompt("c2")) as other,
    ):
        assert (ended(process), ended(other)) == ({}, {})
    with running("ask", folder, {**stop, "session_id": "c2"}) as process:
        assert ended(process) == {}
    with open_drained(str(tmp_path / "journal.db")):
        assert load_state(journal, "c2").stopped == "end_turn", "a turn without a plan ends as ever"
