"""The plan tools end to end: a released agent behind `planwire relay --tools`, a scripted model, a released client."""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from planwire.journal import open_journal
from planwire.journal.view import load_state
from planwire.model.events import Event, PlanChanged, PlanSet
from planwire.model.plan import ItemsPlan
from planwire.model.step_changes import SetStatus
from planwire.own_process import own_command
from tests.peers.agents import Agent, acpx, claude
from tests.peers.client import Hello
from tests.peers.model_server import ScriptedModel
from tests.peers.plans import STEPS, todo_write
from tests.peers.script import Request, Turn, call, say

pytestmark = pytest.mark.timeout(600)  # the first test may have to install its peer

TOOLS = ("mcp__planwire__set_plan", "mcp__planwire__update_plan", "mcp__planwire__get_plan")
SET, UPDATE, GET = TOOLS
ENTRIES = ["Read the notes", {"content": "Write the page", "priority": "high"}]
MADE = call(SET, entries=ENTRIES, summary="The page is asked for")
BEGUN = call(UPDATE, steps={"s1": "completed", "s2": "in_progress"})


def tooled(agent: Agent, journal: Path) -> Agent:
    return agent.behind(*own_command(), "relay", "--tools", "--journal", str(journal), "--")


def steps_of(update: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(each["content"], each["status"]) for each in update.get("plan", update)["entries"]]


def journalled(path: Path) -> tuple[str, list[Event]]:
    """The only session that there is, and its events about plans made with the tools."""
    with open_journal(path) as journal:
        (session,) = journal.sessions()
        events = [recorded.event for recorded in journal.read(session.id)]
    return session.id, [each for each in events if isinstance(each, PlanSet | PlanChanged)]


@pytest.mark.agents
@pytest.mark.parametrize("hello", [Hello(), Hello(version=2)], ids=["version 1", "version 2"])
def test_claude_plans_with_the_tools_and_has_its_plan_again_in_another_process(hello: Hello, tmp_path: Path) -> None:
    """R37, R39: and so has the client."""
    journal = tmp_path / "plans.db"
    answers: list[Any] = []

    def read(request: Request) -> Turn:
        answers.append(result_in(request))
        return say("Done.")

    with ScriptedModel([MADE, BEGUN, call(GET), read]) as model:
        agent = tooled(claude(model.url, tmp_path), journal)
        with agent.start(hello) as client:
            session = client.new_session()
            assert client.prompt(session, "Plan it.") == "end_turn"
            assert set(TOOLS) <= set(model.main[0].text.splitlines()), "this agent only names what it has much of"
            told = client.plans(session)
            assert [steps_of(update) for update in told] == [
                [("Read the notes", "pending"), ("Write the page", "pending")],
                [("Read the notes", "completed"), ("Write the page", "in_progress")],
            ]
        assert "planwire: " not in client.stderr

        name, (made, begun) = journalled(journal)
        assert name == session
        assert isinstance(made, PlanSet)
        assert (made.summary, made.via) == ("The page is asked for", "tools")
        assert begun == PlanChanged("main", changes=(SetStatus("s1", "completed"), SetStatus("s2", "in_progress")))

        model.add(call(GET), read)
        with agent.start(hello) as client:
            client.load_session(session)
            assert client.plans(session)[-1] == told[-1]
            client.prompt(session, "Go on.")
        assert model.left == 0
        assert len(answers) == 2
        assert answers[0] == answers[1]
        assert answers[0]["plan"]["progress"] == "1 of 2 done"
        assert journalled(journal) == (name, [made, begun])


@pytest.mark.agents
def test_a_person_with_acpx_sees_both_plans_each_under_its_name(tmp_path: Path) -> None:
    journal = tmp_path / "plans.db"
    script = [todo_write("pending"), MADE, todo_write("completed"), BEGUN, say("Done.")]
    with ScriptedModel(script) as model:
        client = acpx(tooled(claude(model.url, tmp_path), journal), "Plan it.", "--format", "text", "--approve-all")
        command = [word for word in client.command if word != "--approve-reads"]  # a tool may write
        done = subprocess.run(
            command, env=client.environment, cwd=client.cwd, capture_output=True, text=True, timeout=60, check=True
        )
        assert model.left == 0
    seen = [
        [f"[pending] {STEPS[0]}"],
        [f"[pending] Plan: {STEPS[0]}", "[pending] Plan 2: Read the notes", "[pending] Plan 2: Write the page"],
        [f"[completed] Plan: {STEPS[0]}", "[pending] Plan 2: Read the notes", "[pending] Plan 2: Write the page"],
        [f"[completed] Plan: {STEPS[0]}", "[completed] Plan 2: Read the notes", "[in_progress] Plan 2: Write the page"],
    ]
    at = 0
    for entries in seen:
        at = done.stdout.index("[plan]\n" + "".join(f"  - {each}\n" for each in entries), at)
    assert done.stdout.index("Done.") > at
    with open_journal(journal) as opened:
        (session,) = opened.sessions()
        plans = load_state(opened, session.id).live()
    assert isinstance(plans["main"].state.plan, ItemsPlan)
    assert {plan_id: plan.owner for plan_id, plan in plans.items()} == {None: "agent", "main": "planwire"}


def result_in(request: Request) -> Any:
    """The answer of the last call, as the model reads it."""
    blocks = [block for message in request.body["messages"] for block in message["content"] if isinstance(block, dict)]
    *_, last = [block for block in blocks if block.get("type") == "tool_result"]
    content = last["content"]
    text = content if isinstance(content, str) else content[0]["text"]
    return json.loads(text)
