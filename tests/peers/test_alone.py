"""Real agents and a real client, offline and without planwire between them: what planwire has to cope with.

The peers are released packages, the model behind them is a script. What is checked here is the peers' own behaviour, so
that a test of the relay that fails can be told from a peer that changed.
"""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.peers.agents import acpx, claude, deepagents
from tests.peers.client import Hello, Policy, allow_once, reject_once
from tests.peers.model_server import ScriptedModel
from tests.peers.plans import (
    PROPOSAL,
    STEPS,
    enter_plan_mode,
    exit_plan_mode,
    task_create,
    task_update,
    todo_write,
    write_todos,
)
from tests.peers.script import Usage, say

pytestmark = [pytest.mark.agents, pytest.mark.timeout(600)]  # the first test may have to install its peer

BARE = Hello()
PLANS = Hello(capabilities={"plan": {}})
VERSION_2 = Hello(version=2)
COMPACTION = Hello(capabilities={"session": {"compaction": {}}})

PLANNED = [("pending", STEPS[0]), ("pending", STEPS[1]), ("pending", STEPS[2])]
STARTED = [("in_progress", "Reading the config file"), *PLANNED[1:]]
FINISHED = [("completed", STEPS[0]), ("completed", STEPS[1]), ("completed", STEPS[2])]


def listed(plan: dict[str, Any]) -> list[tuple[str, str]]:
    """The entries of a plan update in any dialect."""
    entries = plan.get("plan", plan)["entries"]
    assert {entry["priority"] for entry in entries} <= {"medium"}
    return [(entry["status"], entry["content"]) for entry in entries]


@pytest.mark.parametrize("hello", [BARE, PLANS], ids=["without the plan capability", "with the plan capability"])
def test_claude_reports_its_list_and_tells_it_again_on_load(hello: Hello, tmp_path: Path) -> None:
    """R14: the `plan` update needs no capability. R37: `session/load` retells everything, then answers."""
    script = [
        todo_write("pending", "pending", "pending"),
        todo_write("in_progress", "pending", "pending"),
        todo_write("completed", "completed", "completed"),
        todo_write(),
        say("All done."),
    ]
    with ScriptedModel(script) as model, claude(model.url, tmp_path).start(hello) as client:
        session = client.new_session()
        assert client.prompt(session, "Make a plan and carry it out.") == "end_turn"
        live = client.plans(session)
        assert {update["sessionUpdate"] for update in live} == {"plan"}
        assert [listed(update) for update in live] == [PLANNED, STARTED, FINISHED, []]
        assert client.said(session) == "All done."
        assert model.left == 0

        before = len(client.lines)
        client.load_session(session)
        assert client.plans(session, before) == live
    assert client.process.returncode == 0


def test_claude_speaks_version_2(tmp_path: Path) -> None:
    """R16: identified items. R17: complete lists. R39: `session/resume` retells everything when it is asked to."""
    script = [
        todo_write("pending", "pending", "pending"),
        todo_write("in_progress", "pending", "pending"),
        enter_plan_mode(),
        exit_plan_mode(),
        say("All done."),
    ]
    with ScriptedModel(script) as model, claude(model.url, tmp_path).start(VERSION_2) as client:
        assert client.version == 2
        session = client.new_session()
        assert client.prompt(session, "Make a plan.") == "end_turn"
        *lists, text = live = client.plans(session)
        assert {update["sessionUpdate"] for update in live} == {"plan_update"}
        assert {(update["plan"]["type"], update["plan"]["planId"]) for update in lists} == {("items", "plan")}
        assert [listed(update) for update in lists] == [PLANNED, STARTED]
        assert text["plan"] == {"type": "markdown", "planId": "plan-mode", "content": PROPOSAL}

        before = len(client.lines)
        client.load_session(session)
        assert client.plans(session, before) == live


def test_claude_sends_an_approved_plan_to_a_client_with_the_plan_capability(tmp_path: Path) -> None:
    with (
        ScriptedModel([enter_plan_mode(), exit_plan_mode(), say("Approved.")]) as model,
        claude(model.url, tmp_path).start(PLANS) as client,
    ):
        session = client.new_session()
        client.prompt(session, "Plan it.")
        (plan,) = client.plans(session)
        assert plan == {
            "sessionUpdate": "plan_update",
            "plan": {"type": "markdown", "planId": "plan-mode", "content": PROPOSAL},
        }


@pytest.mark.parametrize(
    ("hello", "policy"), [(BARE, allow_once), (PLANS, reject_once)], ids=["no capability", "no approval"]
)
def test_claude_shows_any_other_plan_in_its_tool_call_alone(hello: Hello, policy: Policy, tmp_path: Path) -> None:
    """R8: no `plan_update` for a client that did not advertise it."""
    script = [enter_plan_mode(), exit_plan_mode(), say("As you like.")]
    with ScriptedModel(script) as model, claude(model.url, tmp_path).start(hello, policy) as client:
        session = client.new_session()
        client.prompt(session, "Plan it.")
        assert client.plans(session) == []
        asked = [line.message for line in client.lines if "session/request_permission" in line.text]
        assert [question["params"]["toolCall"]["title"] for question in asked] == ["Approve Plan"]
        contents = [update.get("content") for update in client.updates("tool_call", "tool_call_update")]
        assert [{"type": "content", "content": {"type": "text", "text": PROPOSAL}}] in contents


def test_claude_with_single_tasks_grows_its_list(tmp_path: Path) -> None:
    """R5: entries come and go between updates, and equal lists come more than once."""
    script = [task_create(1), task_create(2, 3), task_update(1, "in_progress"), task_update(2, "deleted"), say("Done.")]
    with ScriptedModel(script) as model, claude(model.url, tmp_path, tool="task").start(PLANS) as client:
        session = client.new_session()
        client.prompt(session, "Make a plan.")
        lists = [listed(update) for update in client.plans(session)]
    assert lists[0] == PLANNED[:1]
    assert PLANNED in lists
    assert lists[-1] == [STARTED[0], PLANNED[2]]


def test_after_claude_was_told_to_compact_its_model_no_longer_sees_the_plan(tmp_path: Path) -> None:
    """R51: a client that asked for it is told of the compaction."""
    script = [todo_write("in_progress", "pending", "pending"), say("Begun.")]
    with ScriptedModel(script) as model, claude(model.url, tmp_path).start(COMPACTION) as client:
        session = client.new_session()
        client.prompt(session, "Make a plan.")
        assert STEPS[2] in model.main[-1].text
        client.prompt(session, "/compact")
        told = client.updates("compaction_update")
        assert [each["status"] for each in told] == ["in_progress", "completed", "completed"]

        asked = len(model.main)
        client.prompt(session, "Go on.")
        (request,) = model.main[asked:]
        assert "Go on." in request.text
        assert STEPS[2] not in request.text


def test_claude_compacts_by_itself_when_the_model_reports_a_full_context(tmp_path: Path) -> None:
    """R51: a client that did not ask for compactions sees a tool call instead."""
    script = [todo_write("in_progress", "pending", "pending"), say("Begun.", Usage(input=990_000))]
    with ScriptedModel(script) as model, claude(model.url, tmp_path).start(BARE) as client:
        session = client.new_session()
        client.prompt(session, "Make a plan.")
        asked, before = len(model.main), len(client.lines)
        client.prompt(session, "Go on.")
        (request,) = model.main[asked:]
        assert "Go on." in request.text
        assert STEPS[2] not in request.text
        assert client.updates("compaction_update") == []
        assert [call["title"] for call in client.updates("tool_call", since=before)] == ["Compact conversation"]


@pytest.mark.parametrize("version", [1, 2])
def test_deepagents_speaks_version_1_whatever_it_agreed_to(version: int, tmp_path: Path) -> None:
    """R30 is broken here: it says yes to any version, and goes on in version 1."""
    script = [
        write_todos("pending", "pending", "pending"),
        write_todos("in_progress", "pending", "pending"),
        say("Ok."),
    ]
    with ScriptedModel(script) as model, deepagents(model.url, tmp_path).start(Hello(version)) as client:
        assert client.version == version
        assert "agentCapabilities" in client.agent
        session = client.new_session()
        assert client.prompt(session, "Make a plan.") == "end_turn"
        plans = client.plans(session)
        assert [update["sessionUpdate"] for update in plans] == ["plan", "plan"]
        assert [listed(update) for update in plans] == [PLANNED, [("in_progress", STEPS[0]), *PLANNED[1:]]]
        assert client.said(session) == "Ok."
        assert model.left == 0


def test_acpx_prints_the_plan_of_the_agent_that_it_runs(tmp_path: Path) -> None:
    script = [todo_write("pending", "pending", "pending"), todo_write("in_progress", "pending", "pending"), say("Ok.")]
    with ScriptedModel(script) as model:
        client = acpx(claude(model.url, tmp_path), "Make a plan.", "--format", "text")
        shown = subprocess.run(
            client.command,
            env=client.environment,
            cwd=client.cwd,
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        ).stdout
    for entries in (PLANNED, STARTED):
        assert "[plan]\n" + "".join(f"  - [{status}] {content}\n" for status, content in entries) in shown
    assert "Ok." in shown
