"""Qwen's hooks: what each of its events means, and the answers that it takes."""

from typing import Any

import pytest

from planwire.hooks import qwen
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
    ListHeard,
    OwnCall,
    Proposed,
    Started,
    TurnBegan,
    TurnOver,
)
from planwire.model.plan import Entry
from tests.hooks.payloads import Payload, payloads

SESSION = "a2070147-6f0c-49da-a934-d729dd27fbf7"
PLAN = "# Plan {}\n\n1. Read the config\n2. Write the parser\n"


def hook(event: str, **fields: Any) -> Payload:
    """A payload with the fields that most have."""
    transcript = f"/home/user/.qwen/projects/-home-user-project/chats/{SESSION}.jsonl"
    common = {"session_id": SESSION, "transcript_path": transcript, "cwd": "/home/user/project"}
    more = {"timestamp": "2026-11-16T18:01:47.522Z", "permission_mode": "default"}
    return {**common, "hook_event_name": event, **more, "prompt_id": f"{SESSION}########0", **fields}


def heard(event: str, **fields: Any) -> HookCall:
    read = qwen.read(hook(event, **fields))
    assert read is not None
    return read


def real(event: str, tool: str = "") -> list[tuple[Chance, tuple[Happening, ...]] | None]:
    """What is read of all real payloads of an event, or of those about one tool."""
    of_event = [each for each, _ in payloads("qwen") if each["hook_event_name"] == event]
    of_tool = [each for each in of_event if each.get("tool_name", "") == tool]
    return [(read.moment, read.what) if (read := qwen.read(each)) else None for each in of_tool]


def todos(first: str, second: str) -> ListHeard:
    return ListHeard("todos", (Entry("Read the config file", None, first), Entry("Write the parser", None, second)))


OWN = OwnCall("set_plan", {"entries": ["Read", "Write"]})
#: What the real payloads say, by event and tool.
READINGS: dict[tuple[str, str], list[tuple[Chance, tuple[Happening, ...]] | None]] = {
    ("SessionStart", ""): [(Chance.START, (Started("startup"),)), (Chance.START, (Started("clear"),))],
    # Before each request, and with a person's words only before the first.
    ("UserPromptSubmit", ""): [(Chance.PROMPT, (TurnBegan("make a plan"),)), (Chance.PROMPT, ())],
    ("PreToolUse", "todo_write"): [None, None],
    ("PostToolUse", "todo_write"): [
        (Chance.TOOL, (todos("in_progress", "pending"),)),
        (Chance.TOOL, (todos("completed", "in_progress"),)),
    ],
    ("TodoCreated", ""): [None],
    ("TodoCompleted", ""): [None],
    ("PostToolUse", "get_goal"): [(Chance.TOOL, ())],  # there is none
    ("PostToolUse", "run_shell_command"): [(Chance.TOOL, ())],
    ("PreToolUse", "mcp__planwire__set_plan"): [(Chance.CALL, (OWN,))],
    ("PostToolUse", "mcp__planwire__set_plan"): [(Chance.TOOL, (OWN,))],
    ("PermissionRequest", "mcp__planwire__set_plan"): [(Chance.CALL, ())],
    ("PermissionRequest", "exit_plan_mode"): [
        (Chance.REVIEW, (Proposed("plan-mode", PLAN.format("A")),)),
        (Chance.REVIEW, (Proposed("plan-mode", PLAN.format("B")),)),
    ],
    ("PreToolUse", "exit_plan_mode"): [(Chance.PASSIVE, (Proposed("plan-mode", PLAN.format("B")),))],
    ("PostToolUse", "exit_plan_mode"): [(Chance.TOOL, (Decided("plan-mode", True, PLAN.format("B")),))],
    ("SubagentStart", ""): [(Chance.PASSIVE, (ChildBegan(),))],
    ("SubagentStop", ""): [(Chance.PASSIVE, (ChildEnded(),))],
    ("Stop", ""): [(Chance.PASSIVE, (TurnOver("end_turn"),))],
    ("PreCompact", ""): [None],  # it may be refused
    ("SessionEnd", ""): [(Chance.PASSIVE, (Ended("clear"),)), (Chance.PASSIVE, (Ended("prompt_input_exit"),))],
    ("Notification", ""): [None, None, None],
}


@pytest.mark.parametrize(("event", "tool"), READINGS)
def test_real_payloads_are_read(event: str, tool: str) -> None:
    assert real(event, tool) == READINGS[event, tool]


def test_a_compaction_is_heard_from_the_start_after_it() -> None:
    assert heard("SessionStart", source="compact").what == (Compacted(),)


def test_a_call_is_known_by_the_id_that_the_model_gave_it() -> None:
    called = heard("PostToolUse", tool_name="todo_write", tool_use_id="toolu_1", tool_call_id="call_1")
    assert (called.call, called.turn) == ("call_1", f"{SESSION}########0")


def test_a_payload_of_a_sub_agent_says_whose_it_is() -> None:
    began = heard("SubagentStart", agent_id="general-purpose-call_1", agent_type="general-purpose")
    assert began.child == Child("general-purpose-call_1", "general-purpose")


def test_a_goal_is_a_list_of_one_step() -> None:
    result = {"llmContent": '{"active":true,"objective":"Make it fast","status":"active"}'}
    known = heard("PostToolUse", tool_name="get_goal", tool_input={}, tool_response=result)
    assert known.what == (ListHeard("goal", (Entry("Make it fast", None, "in_progress"),)),)


@pytest.mark.parametrize("text", ["Plan execution was not approved. Remaining in plan mode.", "Not in plan mode", ""])
def test_a_plan_without_an_answer_is_not_decided(text: str) -> None:
    result = {"llmContent": text, "returnDisplay": {"plan": "# Plan"}}
    assert heard("PostToolUse", tool_name="exit_plan_mode", tool_input={}, tool_response=result).what == ()


def test_a_text_goes_in_the_envelope_of_its_event() -> None:
    for event, fields in {"SessionStart": {}, "UserPromptSubmit": {"prompt": ""}, "PostToolUse": {}}.items():
        said = qwen.speak(heard(event, **fields), {}, Tell("Hello"))
        assert said == {"hookSpecificOutput": {"hookEventName": event, "additionalContext": "Hello"}}


def test_a_review_is_answered_in_behaviors() -> None:
    asked = heard("PermissionRequest", tool_name="exit_plan_mode", tool_input={"plan": "# Plan"})
    allowed = {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}
    denied = {"hookEventName": "PermissionRequest", "decision": {"behavior": "deny", "message": "Smaller steps"}}
    assert qwen.speak(asked, {}, Approve()) == {"hookSpecificOutput": allowed}
    assert qwen.speak(asked, {}, SendBack("Smaller steps")) == {"hookSpecificOutput": denied}


def test_only_the_answer_to_a_permission_request_spares_the_dialog() -> None:
    own = {"tool_name": "mcp__planwire__set_plan", "tool_input": {}}
    allowed = {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}
    assert qwen.speak(heard("PermissionRequest", **own), {}, AllowCall()) == {"hookSpecificOutput": allowed}
    assert qwen.speak(heard("PreToolUse", **own), {}, AllowCall()) is None
    assert qwen.read(hook("PermissionRequest", tool_name="run_shell_command")) is None
