"""Hidden messages that an author brings along from another stream."""

from typing import Any

import pytest

from planwire import Entry, FilePlan, ItemsPlan, MarkdownPlan
from planwire.chat import Stored, write_message
from planwire.chat.adopt import adopted
from planwire.model.events import Event, MessageAdded, PlanChanged, PlanRemoved, PlanSet, Recorded
from planwire.model.plan import Plan
from planwire.model.records import SessionState
from planwire.model.step_changes import SetStatus
from tests.chats import delta, event, plan
from tests.deciding import fold

EMPTY = SessionState("s")
TODO = ItemsPlan("main", (Entry("Read", "high", "pending"),))
WITH_A_PLAN = fold(EMPTY, Recorded("s", 1, 0, "agent", PlanSet(TODO)))
STEP = {"id": "s4", "content": "Read", "status": "pending", "priority": "high"}


def one(message: Stored, state: SessionState, *, named: bool = True) -> Event:
    """The event that brings in a message, where it is one, of the session's own author."""
    (found,) = adopted(message, state, named=named)
    assert found.by is None
    return found.event


@pytest.mark.parametrize(
    ("message", "found"),
    [
        (plan("p", "- [ ] a"), MarkdownPlan("main", "- [ ] a")),
        (plan("p", "s4 [ ] (high) Read", kind="items", steps=[STEP]), TODO),
        (plan("p", "", entries=[{"content": "Read", "priority": "high"}]), TODO),
        (plan("p", "- [ ] Read", kind="markdown", steps=[STEP]), MarkdownPlan("main", "- [ ] Read")),
        (plan("p", "file:///p.md", plan_id="f", kind="file"), FilePlan("f", "file:///p.md")),
        (plan("p", "text", kind="items", steps="?"), MarkdownPlan("main", "text")),
    ],
)
def test_a_plan_becomes_a_plan_of_the_session(message: Any, found: Plan) -> None:
    ids = ("s4",) if message.plan.get("steps") == [STEP] else ()
    assert one(message, EMPTY) == PlanSet(found, origin=write_message(message), ids=ids)


def test_its_summary_and_mode_come_with_it() -> None:
    message = plan("p", "a", summary="why", mode="agent")
    made = one(message, EMPTY)
    assert isinstance(made, PlanSet)
    assert (made.plan, made.summary, made.mode) == (MarkdownPlan("main", "a"), "why", "agent")


def test_a_change_becomes_a_change_of_the_session() -> None:
    changes = [{"do": "status", "step": "s1", "status": "completed"}]
    message = delta("d", "done", changes=changes)
    change = PlanChanged("main", "done", (SetStatus("s1", "completed"),), origin=write_message(message))
    assert one(message, WITH_A_PLAN) == change
    removal = delta("d", removed=True)
    assert one(removal, WITH_A_PLAN) == PlanRemoved("main", write_message(removal))


@pytest.mark.parametrize(
    "message",
    [
        delta("d", "of a plan that is not here", "other"),
        delta("d", "note", changes=[{"do": "status", "step": "s9", "status": "completed"}]),
        delta("d", "note", changes=[{"do": "paint"}]),
        event("d", "tick"),
    ],
)
def test_what_changes_nothing_here_stays_a_message(message: Any) -> None:
    found = one(message, WITH_A_PLAN)
    assert isinstance(found, MessageAdded)
    assert (found.message["message_id"], found.message["content"]) == ("d", message.content)
    unnamed = one(message, WITH_A_PLAN, named=False)
    assert isinstance(unnamed, MessageAdded)
    assert "message_id" not in unnamed.message
