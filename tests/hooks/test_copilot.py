"""Copilot's hooks: what each of its events means, in both of its forms, and the answers that it takes."""

from typing import Any

import pytest

from planwire.hooks import copilot
from planwire.hooks.answers import AllowCall, Approve, SendBack, Tell
from planwire.hooks.happenings import (
    Chance,
    Child,
    ChildBegan,
    ChildEnded,
    Compacted,
    Decided,
    Ended,
    Happening,
    HookCall,
    OwnCall,
    Proposed,
    Started,
    TodosInDatabase,
    TurnBegan,
    TurnOver,
)
from tests.hooks.payloads import Payload, payloads

SESSION = "d8d08e75-5e83-4043-92d9-1e2e69149e46"
STATE = f"~/.copilot/session-state/{SESSION}/"
DRAFT = "# Plan A\n\n1. Read the config\n2. Write the parser\n"


def hook(event: str, **fields: Any) -> Payload:
    """A payload for a hook of a plugin, with the fields that all have."""
    common = {"session_id": SESSION, "timestamp": "2026-11-16T18:02:30.000Z", "cwd": "/home/user/project"}
    return {"hook_event_name": event, **common, **fields}


def heard(payload: Payload) -> HookCall:
    read = copilot.read(payload)
    assert read is not None
    return read


def real(event: str, tool: str = "") -> list[tuple[Chance, tuple[Happening, ...], bool]]:
    """What is read of the real payloads with this meaning, in both forms, and whether it comes from a sub-agent."""
    said = []
    for payload, _ in payloads("copilot"):
        read = copilot.read(payload)
        if read is not None and read.event == event and tool in ("", payload.get("tool_name"), payload.get("toolName")):
            said.append((read.moment, read.what, read.child is not None))
    return said


def databases(event: str) -> list[str]:
    return [each.path for _, what, _ in real(event) for each in what if isinstance(each, TodosInDatabase)]


OWN = (OwnCall("set_plan", {"entries": ["Read", "Write"]}),)
STARTED = Started("clear")  # a first start or a cleared context: the process tells
BACK, APPROVED = Decided("plan-mode", approved=False, words="please add tests"), Decided("plan-mode", approved=True)
#: What the real payloads say, by event and tool: those of a plugin, then those of Copilot's own hooks.
READINGS: dict[tuple[str, str], list[tuple[Chance, tuple[Happening, ...], bool]]] = {
    ("SessionStart", ""): [(Chance.START, (STARTED,), False), (Chance.START, (Started("resume"),), False)] * 2,
    ("PreToolUse", "exit_plan_mode"): [(Chance.REVIEW, (Proposed("plan-mode", path=f"{STATE}plan.md"),), False)] * 4,
    ("PostToolUse", "exit_plan_mode"): [(Chance.TOOL, (BACK,), False), (Chance.TOOL, (APPROVED,), False)] * 2,
    ("PreToolUse", "planwire-set_plan"): [(Chance.CALL, OWN, False)] * 2,
    ("PostToolUse", "planwire-set_plan"): [(Chance.TOOL, OWN, False)] * 2,
    ("PermissionRequest", "planwire/set_plan"): [(Chance.CALL, (), False)] * 2,
    ("PostToolUse", "Write"): [(Chance.TOOL, (Proposed("plan-mode", DRAFT, draft=True),), False)],
    ("PostToolUse", "create"): [(Chance.TOOL, (Proposed("plan-mode", DRAFT, draft=True),), False)],
    ("PreCompact", ""): [(Chance.PASSIVE, (Compacted(),), False)] * 2,
    ("SubagentStart", ""): [(Chance.PASSIVE, (ChildBegan(),), True)] * 2,
    ("SubagentStop", ""): [(Chance.PASSIVE, (ChildEnded(),), True)] * 2,
    ("SessionEnd", ""): [
        (Chance.PASSIVE, (Ended("complete"),), False),
        (Chance.PASSIVE, (Ended("clear"),), False),
    ]
    * 2,
}


@pytest.mark.parametrize(("event", "tool"), READINGS)
def test_real_payloads_are_read(event: str, tool: str) -> None:
    assert real(event, tool) == READINGS[event, tool]


def test_steps_are_in_a_database_of_the_session() -> None:
    paths = databases("PostToolUse")
    assert len(paths) >= 6
    assert all(each.startswith("~/.copilot/session-state/") and each.endswith("/session.db") for each in paths)


def test_a_sub_agent_shares_the_steps_of_its_session() -> None:
    arguments = {"description": "todos", "query": "UPDATE todos SET status = 'done'"}
    child = {"agent_id": "child", "agent_type": "explore", "parent_agent_id": SESSION}
    changed = heard({**hook("PostToolUse", tool_name="sql", tool_input=arguments), "session_id": "child", **child})
    assert (changed.session, changed.child, changed.moment) == (SESSION, None, Chance.PASSIVE)
    assert changed.what == (TodosInDatabase("todos", f"{STATE}session.db"),)


def test_sql_about_anything_else_says_nothing() -> None:
    asked = heard(hook("PostToolUse", tool_name="sql", tool_input={"query": "SELECT * FROM notes"}))
    assert (asked.moment, asked.what) == (Chance.TOOL, ())


def test_a_sub_agent_begins_no_turn_of_the_session() -> None:
    child = {"agentId": "child", "agentType": "explore", "parentAgentId": SESSION}
    prompted = heard({"sessionId": "child", "timestamp": 1, "cwd": "/home/user", "prompt": "Look at it", **child})
    assert (prompted.session, prompted.child, prompted.what) == (SESSION, Child("child", "explore"), ())
    stopped = heard({"sessionId": "child", "timestamp": 1, "cwd": "/home/user", "stopReason": "end_turn", **child})
    assert stopped.what == ()


def test_a_child_of_a_child_belongs_to_the_session_of_the_transcript() -> None:
    transcript = f"/home/user/.copilot/session-state/{SESSION}/events.jsonl"
    child = {"agent_id": "grandchild", "agent_type": "explore", "parent_agent_id": "child"}
    ended = heard({**hook("SubagentStop", transcript_path=transcript), "session_id": "child", **child})
    assert (ended.session, ended.child) == (SESSION, Child("grandchild", "explore"))


def test_a_prompt_in_plan_mode_is_what_the_person_wrote() -> None:
    wrapped = heard(hook("UserPromptSubmit", prompt="[[PLAN]] Please:\n1. Analyze\n\nMy request: make a plan"))
    assert wrapped.what == (TurnBegan("make a plan"),)
    prompts = {each.prompt for _, what, _ in real("UserPromptSubmit") for each in what if isinstance(each, TurnBegan)}
    assert prompts == {"make a plan"}


def test_arguments_may_be_the_text_of_an_object() -> None:
    arguments = '{"query": "INSERT INTO todos (id, title) VALUES (1, 2)"}'
    payload = {"sessionId": SESSION, "timestamp": 1, "cwd": "/", "toolName": "sql", "toolResult": {}}
    assert heard({**payload, "toolArgs": arguments}).what == (TodosInDatabase("todos", f"{STATE}session.db"),)
    assert heard({**payload, "toolArgs": "{"}).what == ()


def test_a_session_id_that_leads_elsewhere_has_no_files() -> None:
    assert heard(hook("PreToolUse", session_id="../../x", tool_name="exit_plan_mode", tool_input={})).what == ()


def test_a_text_stands_at_the_top_of_an_answer() -> None:
    for event in ("SessionStart", "UserPromptSubmit", "PostToolUse"):
        assert copilot.speak(heard(hook(event)), {}, Tell("Hello")) == {"additionalContext": "Hello"}
    assert copilot.speak(heard(hook("Stop")), {}, Tell("Hello")) is None


def test_a_plan_can_be_sent_back_but_not_approved() -> None:
    asked = heard(hook("PreToolUse", tool_name="exit_plan_mode", tool_input={"summary": "- Read"}))
    denied = {"permissionDecision": "deny", "permissionDecisionReason": "Smaller steps"}
    assert copilot.speak(asked, {}, SendBack("Smaller steps")) == denied
    assert copilot.speak(asked, {}, Approve()) is None


def test_only_the_answer_to_a_permission_request_spares_the_dialog() -> None:
    asked = heard({"hookName": "permissionRequest", "sessionId": SESSION, "toolName": "planwire/set_plan"})
    assert copilot.speak(asked, {}, AllowCall()) == {"behavior": "allow"}
    called = heard(hook("PreToolUse", tool_name="planwire-set_plan", tool_input={}))
    assert copilot.speak(called, {}, AllowCall()) is None


def test_the_end_of_a_turn_says_why() -> None:
    assert heard(hook("Stop", stop_reason="end_turn")).what == (TurnOver("end_turn"),)
