"""Codex's hooks: what each of its events means, the answers that it takes, and the plan in its transcript."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planwire.hooks import codex
from planwire.hooks.answers import AllowCall, Approve, SendBack, Tell
from planwire.hooks.codex_plan import TAIL_BYTES, newest_plan
from planwire.hooks.happenings import (
    Chance,
    Child,
    ChildBegan,
    ChildEnded,
    Compacted,
    Ended,
    Happening,
    HookCall,
    ListHeard,
    OwnCall,
    PlanInTranscript,
    Started,
    TurnBegan,
    TurnOver,
)
from planwire.model.plan import Entry
from tests.hooks.payloads import Payload, payloads

ROLLOUT = "/home/user/.codex/sessions/2026/11/15/rollout-2026-11-15T16-30-03-01a1.jsonl"
OWN = "mcp__planwire__set_plan"


def hook(event: str, **fields: Any) -> Payload:
    """A payload with the fields that most have."""
    common = {"session_id": "01a1", "turn_id": "01a2", "transcript_path": ROLLOUT, "cwd": "/home/user/project"}
    return {**common, "hook_event_name": event, "model": "gpt-5.5-codex", "permission_mode": "default", **fields}


def heard(event: str, **fields: Any) -> HookCall:
    read = codex.read(hook(event, **fields))
    assert read is not None
    return read


def real(event: str, tool: str = "") -> list[tuple[Happening, ...] | None]:
    """What is read of all real payloads of an event, or of those about one tool."""
    of_event = [each for each, _ in payloads("codex") if each["hook_event_name"] == event]
    of_tool = [each for each in of_event if each.get("tool_name", "") == tool]
    return [read.what if (read := codex.read(each)) else None for each in of_tool]


def steps(*statuses: str) -> tuple[Entry, ...]:
    return tuple(map(Entry, ("Read the config file", "Write the parser"), (None, None), statuses))


#: What the real payloads say, by event and tool.
READINGS: dict[tuple[str, str], list[tuple[Happening, ...] | None]] = {
    ("SessionStart", ""): [(Started("startup"),), (Compacted(),), (Started("resume"),)],
    ("UserPromptSubmit", ""): [(TurnBegan("hi"),), (TurnBegan("go"),), ()],  # the last is a sub-agent's task
    ("SubagentStart", ""): [(ChildBegan(),)],
    ("SubagentStop", ""): [(ChildEnded(),)],
    ("PostToolUse", "update_plan"): [
        (ListHeard("todos", steps("in_progress", "pending"), "why"),),
        (ListHeard("todos", steps("completed", "in_progress")),),
        (ListHeard("todos", (Entry("Look", None, "in_progress"),)),),
    ],
    ("PostToolUse", "create_goal"): [(ListHeard("goal", (Entry("Write the parser", None, "in_progress"),)),)],
    ("PostToolUse", "update_goal"): [(ListHeard("goal", (Entry("Write the parser", None, "completed"),)),)],
    ("PostToolUse", "Bash"): [()],
    ("PreToolUse", "update_plan"): [None, None, None],
    ("PreToolUse", OWN): [(OwnCall("set_plan", {"entries": ["Read", "Write"]}),)],
    ("PostToolUse", OWN): [(OwnCall("set_plan", {"entries": ["Read", "Write"]}),)],
    ("PermissionRequest", "Bash"): [None],
    ("PreCompact", ""): [None, None],
    ("PostCompact", ""): [None, None],
    ("SessionEnd", ""): [(Ended("other"),)],
}


@pytest.mark.parametrize(("event", "tool"), READINGS)
def test_the_real_payloads_mean_what_happened(event: str, tool: str) -> None:
    assert real(event, tool) == READINGS[event, tool]


def test_the_end_of_a_turn_names_the_transcript_that_may_have_a_plan() -> None:
    read = heard("Stop", last_assistant_message="Here is my plan.")
    assert read.moment is Chance.REVIEW
    assert read.what == (TurnOver("end_turn"), PlanInTranscript("plan-mode", ROLLOUT, "01a2"))


def test_a_session_without_a_transcript_has_nowhere_to_look() -> None:
    read = heard("Stop", transcript_path=None)
    assert (read.moment, read.what) == (Chance.PASSIVE, (TurnOver("end_turn"),))


@pytest.mark.parametrize("status", ["paused", "blocked", "budget_limited"])
def test_a_goal_that_waits_says_for_what(status: str) -> None:
    result = {"goal": {"objective": "Write the parser", "status": status}}
    read = heard("PostToolUse", tool_name="update_goal", tool_input={}, tool_response=result)
    assert read.what == (ListHeard("goal", (Entry("Write the parser", None, status),)),)


def test_a_result_that_came_as_text_is_read_too() -> None:
    result = json.dumps({"goal": {"objective": "Write the parser", "status": "active"}})
    read = heard("PostToolUse", tool_name="create_goal", tool_input={}, tool_response=result)
    assert read.what == (ListHeard("goal", (Entry("Write the parser", None, "in_progress"),)),)


def test_sub_agents_begin_and_end_and_their_tasks_are_no_prompts_of_a_person() -> None:
    child = {"agent_id": "01b1", "agent_type": "explorer"}
    assert heard("SubagentStart", **child).what == (ChildBegan(),)
    assert heard("SubagentStop", **child).what == (ChildEnded(),)
    assert heard("UserPromptSubmit", prompt="Look around", **child).what == ()
    assert heard("UserPromptSubmit", prompt="Look around", **child).child == Child("01b1", "explorer")


@pytest.mark.parametrize("event", ["SessionStart", "SessionEnd", "Stop"])
def test_a_session_without_a_transcript_is_known_by_its_fields(event: str) -> None:
    fields = hook(event, transcript_path=None, source="startup")
    if event != "Stop":
        del fields["turn_id"]
    assert codex.is_caller(fields, ("CLAUDECODE",))


@pytest.mark.parametrize("event", ["SessionStart", "UserPromptSubmit", "PostToolUse"])
def test_a_text_reaches_the_model_by_the_events_that_take_one(event: str) -> None:
    assert codex.speak(heard(event), hook(event), Tell("The plan")) == {
        "hookSpecificOutput": {"hookEventName": event, "additionalContext": "The plan"}
    }


def test_the_end_of_a_turn_takes_no_text() -> None:
    assert codex.speak(heard("Stop"), hook("Stop"), Tell("The plan")) is None


def test_a_plan_is_sent_back_with_words_and_approved_without_any() -> None:
    assert codex.speak(heard("Stop"), hook("Stop"), SendBack("Smaller steps")) == {
        "decision": "block",
        "reason": "Smaller steps",
    }
    assert codex.speak(heard("Stop"), hook("Stop"), SendBack(" ")) is None
    assert codex.speak(heard("Stop"), hook("Stop"), Approve()) is None


def test_a_call_of_planwires_own_tools_is_known_and_needs_no_word_from_here() -> None:
    payload = hook("PreToolUse", tool_name=OWN, tool_input={}, tool_use_id="call_1")
    read = codex.read(payload)
    assert read is not None
    assert (read.moment, read.call, read.what) == (Chance.CALL, "call_1", (OwnCall("set_plan", {}),))
    assert codex.speak(read, payload, AllowCall()) is None
    assert codex.read(hook("PermissionRequest", tool_name="mcp__planwire__remove_plan", tool_input={})) is None


def line(text: str, turn: str = "01a2", kind: str = "Plan") -> bytes:
    item = {"type": kind, "id": "i1", "text": text}
    said = {"type": "item_completed", "thread_id": "01a1", "turn_id": turn, "item": item}
    return json.dumps({"timestamp": "2026-11-15T16:30:03.000Z", "type": "event_msg", "payload": said}).encode() + b"\n"


def test_the_newest_plan_of_the_turn_is_found_at_the_end_of_the_transcript() -> None:
    tail = b'f a line", "Plan"}\n' + line("# A") + line("# B") + line("Said", kind="AgentMessage") + b'{"half": "Plan"'
    assert newest_plan(tail, "01a2") == "# B"
    assert newest_plan(tail, "01a3") is None
    assert newest_plan(tail) == "# B"
    assert newest_plan(b"") is None


def test_a_plan_far_back_is_not_looked_for() -> None:
    assert newest_plan(line("# A") + b" " * TAIL_BYTES, "01a2") is None


@given(st.binary(max_size=200) | st.sampled_from([b'"Plan"', b'{"payload": "Plan"}', b'["Plan"]', b'{"type":"Plan"}']))
def test_no_transcript_raises_anything(tail: bytes) -> None:
    assert newest_plan(b'"Plan"' + tail) is None
    newest_plan(tail + line("# A")[:-30])
