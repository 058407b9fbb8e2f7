"""Gemini's hooks: what each of its events means, and the answers that it takes."""

from typing import Any

import pytest

from planwire.hooks import gemini
from planwire.hooks.answers import AllowCall, Approve, SendBack, Tell
from planwire.hooks.happenings import (
    Chance,
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

SESSION = "1f2f2106-5ea1-4446-b338-04dce6d71cd9"
HOME = "/home/user/.gemini/tmp/project"
PLAN = f"{HOME}/{SESSION}/plans/parser.md"
TEXT = "# Plan A\n\n1. Read the config\n2. Write the parser\n"


def hook(event: str, **fields: Any) -> Payload:
    """A payload with the fields that all have."""
    transcript = f"{HOME}/chats/session-2026-11-15T16-16-1f2f2106.jsonl"
    common = {"session_id": SESSION, "transcript_path": transcript, "cwd": "/home/user/project"}
    return {**common, "hook_event_name": event, "timestamp": "2026-11-15T16:16:31.493Z", **fields}


def heard(event: str, **fields: Any) -> HookCall:
    read = gemini.read(hook(event, **fields))
    assert read is not None
    return read


def real(event: str, tool: str = "") -> list[tuple[Chance, tuple[Happening, ...]] | None]:
    """What is read of all real payloads of an event, or of those about one tool."""
    of_event = [each for each, _ in payloads("gemini") if each["hook_event_name"] == event]
    of_tool = [each for each in of_event if each.get("tool_name", "") == tool]
    return [(read.moment, read.what) if (read := gemini.read(each)) else None for each in of_tool]


def todos(*entries: tuple[str, str]) -> ListHeard:
    return ListHeard("todos", tuple(Entry(content, None, status) for content, status in entries))


CONFIG, PARSER = "Read the config file", "Write the parser"
OWN = OwnCall("set_plan", {"entries": ["Read", "Write"]})
#: What the real payloads say, by event and tool.
READINGS: dict[tuple[str, str], list[tuple[Chance, tuple[Happening, ...]] | None]] = {
    ("SessionStart", ""): [
        (Chance.START, (Started("startup"),)),
        (Chance.PASSIVE, (Started("clear"),)),  # what it would say is lost
        (Chance.START, (Started("resume"),)),
    ],
    ("BeforeAgent", ""): [(Chance.PROMPT, (TurnBegan("make a plan"),))],
    ("AfterAgent", ""): [(Chance.PASSIVE, (TurnOver("end_turn"),))],
    ("BeforeTool", "write_todos"): [None, None],
    ("AfterTool", "write_todos"): [
        (Chance.TOOL, (todos((CONFIG, "in_progress"), (PARSER, "pending")),)),
        (Chance.TOOL, (todos((CONFIG, "completed"), (PARSER, "in_progress")),)),
    ],
    ("AfterTool", "tracker_create_task"): [(Chance.TOOL, (todos((CONFIG, "pending")),))],
    ("AfterTool", "tracker_list_tasks"): [(Chance.TOOL, (todos((CONFIG, "pending"), (PARSER, "pending")),))],
    ("AfterTool", "write_file"): [(Chance.TOOL, (Proposed("plan-mode", TEXT, draft=True),))],
    ("BeforeTool", "exit_plan_mode"): [(Chance.REVIEW, (Proposed("plan-mode", path=PLAN),))],
    ("AfterTool", "exit_plan_mode"): [(Chance.TOOL, (Decided("plan-mode", approved=True),))],
    ("BeforeTool", "mcp_planwire_set_plan"): [(Chance.CALL, (OWN,))],
    ("AfterTool", "mcp_planwire_set_plan"): [(Chance.TOOL, (OWN,))],
    ("PreCompress", ""): [None, (Chance.PASSIVE, (Compacted(),))],
    ("SessionEnd", ""): [(Chance.PASSIVE, (Ended("exit"),)), (Chance.PASSIVE, (Ended("clear"),))],
    ("Notification", ""): [None],
}


@pytest.mark.parametrize(("event", "tool"), READINGS)
def test_real_payloads_are_read(event: str, tool: str) -> None:
    assert real(event, tool) == READINGS[event, tool]


@pytest.mark.parametrize("name", ["../../../.ssh/id.md", "/etc/passwd.md", "parser", "", "plans/parser.md", "a\0.md"])
def test_a_plan_outside_the_folder_of_the_session_is_none(name: str) -> None:
    assert heard("BeforeTool", tool_name="exit_plan_mode", tool_input={"plan_filename": name}).what == ()


def test_a_session_id_that_leads_elsewhere_has_no_plan() -> None:
    arguments = {"plan_filename": "parser.md"}
    assert heard("BeforeTool", session_id="../x", tool_name="exit_plan_mode", tool_input=arguments).what == ()


def test_a_plan_may_be_named_by_its_path() -> None:
    named = heard("BeforeTool", tool_name="exit_plan_mode", tool_input={"plan_path": PLAN})
    assert named.what == (Proposed("plan-mode", path=PLAN),)


def test_a_plan_that_was_sent_back_has_the_words_of_the_person() -> None:
    result = {"llmContent": f"Plan rejected. User feedback: Smaller\n\nsteps\n\nThe plan is stored at: {PLAN}\nRevise."}
    sent_back = heard("AfterTool", tool_name="exit_plan_mode", tool_input={}, tool_response=result)
    assert sent_back.what == (Decided("plan-mode", approved=False, words="Smaller\n\nsteps"),)


def test_any_tool_call_is_a_chance_to_tell_something() -> None:
    called = heard("AfterTool", tool_name="run_shell_command", tool_input={"command": "ls"})
    said = gemini.speak(called, {}, Tell("Hello"))
    assert called.what == ()
    assert said == {"hookSpecificOutput": {"hookEventName": "AfterTool", "additionalContext": "Hello"}}


def test_a_review_is_answered_in_decisions() -> None:
    asked = heard("BeforeTool", tool_name="exit_plan_mode", tool_input={"plan_filename": "parser.md"})
    assert gemini.speak(asked, {}, Approve()) == {"decision": "allow"}
    assert gemini.speak(asked, {}, SendBack("Smaller steps")) == {"decision": "deny", "reason": "Smaller steps"}
    assert gemini.speak(asked, {}, Tell("Hello")) is None


def test_a_call_can_not_be_allowed_by_a_hook() -> None:
    call = heard("BeforeTool", tool_name="mcp_planwire_set_plan", tool_input={})
    assert gemini.speak(call, {}, AllowCall()) is None
