"""Claude Code's hooks: what each of its events means, and the answers that it takes."""

from typing import Any

import pytest

from planwire.hooks import claude_code
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
    TaskChanged,
    Titled,
    TurnBegan,
    TurnOver,
)
from planwire.model.plan import Entry
from tests.hooks.payloads import Payload, payloads

HOME = "/home/user/.claude"
SESSION = "0b7c1f9e-5a33-4d6e-9a0e-3f1d4c2b8a77"
TEXT = "# Plan A\n\n1. Read the config\n2. Write the *parser*\n"
EDITED = "# Plan A edited by a person\n\n1. Read the other config\n"
OWN = "mcp__plugin_planwire_planwire__set_plan"


def hook(event: str, **fields: Any) -> Payload:
    """A payload with the fields that all have."""
    transcript = f"{HOME}/projects/-home-user-project/{SESSION}.jsonl"
    common = {"session_id": SESSION, "transcript_path": transcript, "cwd": "/home/user/project", "prompt_id": "p1"}
    return {**common, "hook_event_name": event, **fields}


def heard(event: str, **fields: Any) -> HookCall:
    read = claude_code.read(hook(event, **fields))
    assert read is not None
    return read


def real(event: str, tool: str = "") -> list[tuple[Happening, ...] | None]:
    """What is read of all real payloads of an event, or of those about one tool."""
    of_event = [each for each, _ in payloads("claude-code") if each["hook_event_name"] == event]
    of_tool = [each for each in of_event if each.get("tool_name", "") == tool]
    return [read.what if (read := claude_code.read(each)) else None for each in of_tool]


#: What the real payloads say, by event and tool.
READINGS: dict[tuple[str, str], list[tuple[Happening, ...] | None]] = {
    ("SessionStart", ""): [
        (Started("startup"),),
        (Compacted(),),
        (Started("clear"),),
        (Started("startup"),),
        (Started("resume"),),
    ],
    ("UserPromptSubmit", ""): [(TurnBegan("make a plan"),), (TurnBegan("make a plan"),), (TurnBegan("plan it"),)],
    ("PostToolUse", "TaskCreate"): [
        (TaskChanged("todos", "1", "Read the config file", "pending"),),
        (TaskChanged("todos", "1", "Read the config file", "pending"),),
        (TaskChanged("todos", "2", "Read the config file", "pending"),),
        (TaskChanged("todos", "3", "Look for other configs", "pending"),),
    ],
    ("PostToolUse", "TaskUpdate"): [
        (TaskChanged("todos", "1", None, "in_progress"),),
        (TaskChanged("todos", "1", None, "in_progress"),),
        (TaskChanged("todos", "1", None, "completed"),),
        (),  # the task was not found
        (TaskChanged("todos", "2", "Write the lexer"),),
        (TaskChanged("todos", "1", gone=True),),
    ],
    ("PostToolUse", "TaskList"): [
        (
            TaskChanged("todos", "1", "Read the config file", "completed"),
            TaskChanged("todos", "2", "Write the parser", "pending"),
        )
    ],
    ("PostToolUse", "TodoWrite"): [
        (
            ListHeard(
                "todos",
                (
                    Entry("Read the config file", None, "pending"),
                    Entry("Write the parser — with ünïcode", None, "pending"),
                    Entry("Run the tests", None, "pending"),
                ),
            ),
        )
    ],
    ("PostToolUse", "Write"): [(Proposed("plan-mode", TEXT, draft=True),)],
    ("PostToolUse", "ExitPlanMode"): [
        (Decided("plan-mode", approved=True, text=TEXT),),
        (Decided("plan-mode", approved=True, text=EDITED),),
    ],
    ("PostToolUse", "Bash"): [(), ()],
    ("PreToolUse", "ExitPlanMode"): [(Proposed("plan-mode", TEXT),)],
    ("PreToolUse", "Write"): [None],
    ("PermissionRequest", "ExitPlanMode"): [(Proposed("plan-mode", TEXT),)],
    ("PermissionRequest", "Bash"): [None],
    ("PostToolUseFailure", "TaskCreate"): [(), ()],
    ("SubagentStart", ""): [(ChildBegan(),)],
    ("SubagentStop", ""): [None, (ChildEnded(),)],  # the first one was compacting
    ("Stop", ""): [(TurnOver("end_turn"),), (TurnOver("end_turn"),)],
    ("SessionEnd", ""): [(Ended("clear"),), (Ended("prompt_input_exit"),), (Ended("other"),)],
    ("PreCompact", ""): [None, None],
    ("PostCompact", ""): [None, None],
    ("TaskCreated", ""): [None],
    ("TaskCompleted", ""): [None],
    ("Notification", ""): [None, None],
}


@pytest.mark.parametrize(("event", "tool"), READINGS)
def test_the_real_payloads_mean_what_happened(event: str, tool: str) -> None:
    assert real(event, tool) == READINGS[event, tool]


def test_the_agent_that_compacts_changes_nothing() -> None:
    call = {"tool_name": "TaskUpdate", "tool_input": {"taskId": "1", "status": "completed"}, "tool_use_id": "t1"}
    assert claude_code.read(hook("PostToolUse", agent_id="a1", **call)) is None
    assert claude_code.read(hook("PreToolUse", agent_id="a1", tool_name=OWN, tool_input={})) is None


def test_a_hook_of_a_sub_agent_says_so() -> None:
    read = heard("PostToolUse", agent_id="a1", agent_type="Explore", tool_name="TodoWrite", tool_input={"todos": []})
    assert read.child == Child("a1", "Explore")
    assert read.what == (ListHeard("todos", ()),)


def test_a_session_of_a_named_agent_is_no_sub_agent() -> None:
    assert heard("Stop", agent_type="reviewer").child is None


def test_a_call_has_its_id_and_its_turn() -> None:
    read = heard("PreToolUse", tool_name=OWN, tool_input={"entries": ["Read"]}, tool_use_id="toolu_1")
    assert (read.call, read.turn, read.moment) == ("toolu_1", "p1", Chance.CALL)
    assert read.what == (OwnCall("set_plan", {"entries": ["Read"]}),)


@pytest.mark.parametrize("name", ["mcp__planwire__update_plan", "mcp__plugin_planwire_planwire__update_plan"])
def test_a_call_of_planwire_is_one_of_its_own(name: str) -> None:
    assert heard("PostToolUse", tool_name=name, tool_input={}, tool_response="{}").what == (OwnCall("update_plan", {}),)


@pytest.mark.parametrize("name", ["mcp__planwire__delete_all", "set_plan", "mcp__planwire2__set_plan", "Bash"])
def test_a_call_of_anything_else_is_not(name: str) -> None:
    assert claude_code.read(hook("PreToolUse", tool_name=name, tool_input={})) is None


def test_a_failed_call_of_planwire_is_over() -> None:
    for interrupted, moment in ((False, Chance.TOOL), (True, Chance.PASSIVE)):
        read = heard("PostToolUseFailure", tool_name=OWN, tool_input={}, error="no", is_interrupt=interrupted)
        assert (read.moment, read.what) == (moment, (OwnCall("set_plan", {}),))


def test_a_task_that_is_deleted_is_gone_and_one_that_is_renamed_keeps_its_status() -> None:
    gone = heard("PostToolUse", tool_name="TaskUpdate", tool_input={"taskId": "2", "status": "deleted"})
    assert gone.what == (TaskChanged("todos", "2", gone=True),)
    renamed = heard("PostToolUse", tool_name="TaskUpdate", tool_input={"taskId": "2", "subject": "Write the lexer"})
    assert renamed.what == (TaskChanged("todos", "2", "Write the lexer"),)


@pytest.mark.parametrize("home", [HOME, "/srv/claude"])
def test_a_draft_is_a_file_in_the_folder_of_plans_wherever_the_agent_keeps_it(home: str) -> None:
    transcript = f"{home}/projects/-home-user-project/{SESSION}.jsonl"
    arguments = {"file_path": f"{home}/plans/calm-river.md", "old_string": "a", "new_string": "b"}
    read = heard("PostToolUse", transcript_path=transcript, tool_name="Edit", tool_input=arguments)
    assert read.what == (Proposed("plan-mode", path=f"{home}/plans/calm-river.md", draft=True),)


@pytest.mark.parametrize("path", ["/home/user/project/plans/a.md", f"{HOME}/plans/a.txt", f"{HOME}/plans/b/a.md", ""])
def test_another_file_is_no_draft(path: str) -> None:
    assert heard("PostToolUse", tool_name="Write", tool_input={"file_path": path, "content": "x"}).what == ()


def test_a_plan_that_waits_for_another_agent_is_proposed() -> None:
    result = {"plan": TEXT, "isAgent": True, "awaitingLeaderApproval": True}
    read = heard("PostToolUse", tool_name="ExitPlanMode", tool_input={}, tool_response=result)
    assert read.what == (Proposed("plan-mode", TEXT),)


def test_a_plan_without_its_text_is_in_its_file() -> None:
    read = heard("PreToolUse", tool_name="ExitPlanMode", tool_input={"planFilePath": "/plans/a.md"})
    assert read.what == (Proposed("plan-mode", path="/plans/a.md"),)


def test_a_turn_that_fails_says_why() -> None:
    assert heard("StopFailure", error="rate_limit").what == (TurnOver("rate_limit"),)
    assert heard("StopFailure").what == (TurnOver("error"),)


def test_a_message_of_the_machine_is_no_prompt_of_a_person() -> None:
    assert heard("UserPromptSubmit", prompt="<task-notification>done</task-notification>").what == (TurnBegan(),)


def test_a_session_that_has_a_title_says_it() -> None:
    assert heard("SessionStart", source="resume", session_title="Parser").what == (Started("resume"), Titled("Parser"))


@pytest.mark.parametrize("event", ["SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure"])
def test_a_text_reaches_the_model_by_the_events_that_take_one(event: str) -> None:
    payload = hook(event)
    said = claude_code.speak(heard(event), payload, Tell("The plan"))
    assert said == {"hookSpecificOutput": {"hookEventName": event, "additionalContext": "The plan"}}


@pytest.mark.parametrize("event", ["Stop", "SessionEnd", "SubagentStart"])
def test_other_events_take_no_text(event: str) -> None:
    payload = hook(event, agent_id="a1", agent_type="Explore")
    read = claude_code.read(payload)
    assert read is not None
    assert claude_code.speak(read, payload, Tell("The plan")) is None


def allowed(name: str, **fields: Any) -> object:
    payload = hook("PreToolUse", tool_name=name, tool_input={}, **fields)
    read = claude_code.read(payload)
    return read and claude_code.speak(read, payload, AllowCall())


def test_a_call_of_the_plugin_is_allowed() -> None:
    assert allowed(OWN, mcp_server={"name": "plugin:planwire:planwire", "source": "plugin"}) == {
        "hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}
    }


@pytest.mark.parametrize(
    ("name", "server"),
    [
        ("mcp__planwire__set_plan", {"name": "planwire", "source": "user"}),
        ("mcp__planwire__set_plan", {"name": "plugin:planwire:planwire", "source": "plugin"}),
        (OWN, {"name": "plugin_planwire_planwire", "source": "project"}),
        (OWN, {"name": "plugin:other:planwire", "source": "plugin"}),
        (OWN, {"name": "plugin:planwire:planwire"}),
        (OWN, "plugin:planwire:planwire"),
        (OWN, None),
    ],
)
def test_a_server_that_may_be_another_asks_as_ever(name: str, server: object) -> None:
    assert allowed(name, mcp_server=server) is None


def decided(answer: Approve | SendBack, **arguments: Any) -> object:
    payload = hook("PermissionRequest", tool_name="ExitPlanMode", tool_input=arguments)
    read = claude_code.read(payload)
    assert read is not None
    assert read.moment is Chance.REVIEW
    said = claude_code.speak(read, payload, answer)
    assert said is not None
    assert said["hookSpecificOutput"]["hookEventName"] == "PermissionRequest"
    return said["hookSpecificOutput"]["decision"]


def test_an_approval_repeats_the_arguments_or_it_would_be_ignored() -> None:
    assert decided(Approve(), plan=TEXT, planFilePath="/a.md") == {
        "behavior": "allow",
        "updatedInput": {"plan": TEXT, "planFilePath": "/a.md"},
    }


def test_an_edited_plan_takes_the_place_of_the_old_one() -> None:
    assert decided(Approve(EDITED), plan=TEXT, planFilePath="/a.md") == {
        "behavior": "allow",
        "updatedInput": {"plan": EDITED, "planFilePath": "/a.md"},
    }


def test_a_plan_is_sent_back_with_a_persons_words() -> None:
    assert decided(SendBack("Smaller steps"), plan=TEXT) == {"behavior": "deny", "message": "Smaller steps"}


def test_the_same_answers_are_not_given_to_the_hook_before_the_call() -> None:
    payload = hook("PreToolUse", tool_name="ExitPlanMode", tool_input={"plan": TEXT})
    read = claude_code.read(payload)
    assert read is not None
    assert claude_code.speak(read, payload, Approve()) is None
