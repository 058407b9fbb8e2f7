"""opencode: what the payloads of planwire's file in it mean, and the answers that the file takes."""

from typing import Any

import pytest

from planwire.hooks import opencode
from planwire.hooks.answers import AllowCall, Approve, SendBack, Tell
from planwire.hooks.happenings import (
    Chance,
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
    Titled,
    TurnBegan,
    TurnOver,
)
from planwire.model.plan import Entry
from tests.hooks.payloads import Payload, payloads

PLAN = "/home/user/.local/share/opencode/plans/1794853155678-tidy-squid.md"
DRAFT = "# Plan A\n\n1. Read the config\n2. Write the parser\n"


def hook(event: str, **fields: Any) -> Payload:
    """A payload with the fields that all have."""
    return {"agent": "opencode", "event": event, "session_id": "ses_1", "cwd": "/home/user/project", **fields}


def heard(event: str, **fields: Any) -> HookCall:
    read = opencode.read(hook(event, **fields))
    assert read is not None
    return read


def real(event: str, tool: str = "") -> list[tuple[Chance, tuple[Happening, ...], bool] | None]:
    """What is read of the real payloads of an event and a tool, and whether it comes from a sub-agent."""
    chosen = [each for each, _ in payloads("opencode") if (each["event"], each.get("tool", "")) == (event, tool)]
    reads = [opencode.read(each) for each in chosen]
    return [(read.moment, read.what, read.child is not None) if read else None for read in reads]


FIRST = Entry("Read the config file", "high", "in_progress")
OWN = (OwnCall("set_plan", {"entries": ["Read", "Write"]}),)
EXIT = (Chance.REVIEW, (Proposed("plan-mode", path=PLAN),), False)
#: What the real payloads say, by event and tool.
READINGS: dict[tuple[str, str], list[tuple[Chance, tuple[Happening, ...], bool] | None]] = {
    ("session.created", ""): [
        (Chance.PASSIVE, (Started("startup"),), False),
        (Chance.PASSIVE, (ChildBegan(),), True),
    ],
    ("chat.message", ""): [(Chance.PROMPT, (TurnBegan('"make a plan"'),), False), (Chance.PROMPT, (), True)],
    ("session.updated", ""): [(Chance.PASSIVE, (Titled("Plan test"),), False)],
    ("tool.execute.after", "todowrite"): [
        (Chance.TOOL, (ListHeard("todos", (FIRST, Entry("Write the parser", "low", "pending"))),), False),
        (Chance.TOOL, (ListHeard("todos", (FIRST,)),), False),
    ],
    ("tool.execute.before", "planwire_set_plan"): [(Chance.CALL, OWN, False)],
    ("tool.execute.after", "planwire_set_plan"): [(Chance.TOOL, OWN, False)],
    ("tool.execute.after", "bash"): [(Chance.TOOL, (), True), (Chance.TOOL, (), False)],
    ("tool.execute.after", "write"): [(Chance.TOOL, (Proposed("plan-mode", DRAFT, draft=True),), False)],
    ("tool.execute.before", "plan_exit"): [EXIT, EXIT, EXIT],
    ("tool.execute.after", "plan_exit"): [(Chance.TOOL, (Decided("plan-mode", approved=True),), False)],
    ("session.compacted", ""): [(Chance.PASSIVE, (Compacted(),), False)],
    ("system.transform", ""): [(Chance.START, (), False)],
    ("session.error", ""): [(Chance.PASSIVE, (TurnOver("cancelled"),), False)],
    ("session.idle", ""): [
        (Chance.PASSIVE, (ChildEnded(),), True),
        (Chance.PASSIVE, (TurnOver("end_turn"),), False),
    ],
}


@pytest.mark.parametrize(("event", "tool"), READINGS)
def test_real_payloads_are_read(event: str, tool: str) -> None:
    assert real(event, tool) == READINGS[event, tool]


def test_a_session_from_before_the_file_ran_is_resumed() -> None:
    resumed = heard("chat.message", prompt="go on", source="resume")
    assert resumed.what == (Started("resume"), TurnBegan("go on"))


def test_a_session_that_is_deleted_is_over() -> None:
    assert heard("session.deleted", reason="deleted").what == (Ended("deleted"),)
    assert opencode.read(hook("session.deleted", child_id="ses_2")) is None


def test_an_error_ends_a_turn_with_its_name() -> None:
    assert heard("session.error", reason="ProviderAuthError").what == (TurnOver("ProviderAuthError"),)


def test_a_plan_without_a_file_is_held_all_the_same() -> None:
    asked = heard("tool.execute.before", tool="plan_exit")
    assert (asked.moment, asked.what) == (Chance.REVIEW, ())


def test_answers_are_what_the_file_takes() -> None:
    prompted, asked = heard("chat.message", prompt="Hi"), heard("tool.execute.before", tool="plan_exit")
    assert opencode.speak(prompted, {}, Tell("Hello")) == {"text": "Hello"}
    assert opencode.speak(asked, {}, SendBack("Smaller steps")) == {"deny": "Smaller steps"}
    assert opencode.speak(asked, {}, Approve()) is None
    assert opencode.speak(heard("tool.execute.before", tool="planwire_set_plan"), {}, AllowCall()) is None
