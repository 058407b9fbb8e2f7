"""Events are values that are stored as they are."""

import msgspec
import pytest

from planwire import Entry, ItemsPlan, MarkdownPlan
from planwire.model.events import (
    ACP,
    APPROVED,
    DISMISSED,
    Comment,
    ContextCompacted,
    Event,
    Gap,
    MessageAdded,
    PlanChanged,
    PlanRemoved,
    PlanReviewed,
    PlanSet,
    Recorded,
    ReviewAsked,
    SessionOpened,
    SuggestionWithdrawn,
    TurnEnded,
)
from planwire.model.step_changes import AddStep, MoveStep, RemoveStep, RewordStep, SetPriority, SetStatus

EVENTS: list[Event] = [
    SessionOpened("agent 1.0", "client 1.0", "/project", "Fix it"),
    SessionOpened(),
    PlanSet(ItemsPlan("p", (Entry("a", None, "_x", {"m": 1}, {"y": 2}),)), "why", ACP, "agent"),
    PlanSet(MarkdownPlan(None, "# Plan")),
    PlanChanged("p", "a note"),
    PlanChanged(
        None,
        None,
        (
            SetStatus("s1", "completed"),
            RewordStep("s1", "b"),
            SetPriority("s1", "high"),
            AddStep("c", "s1"),
            MoveStep("s1", ""),
            RemoveStep("s1"),
        ),
    ),
    PlanRemoved("p"),
    PlanReviewed("p", 7, APPROVED, (Comment("good"), Comment("why?", "s1")), ("s1",)),
    ReviewAsked("p", ("Yes", "No")),
    PlanReviewed("p", 7, DISMISSED, answer="No"),
    SuggestionWithdrawn("p", 3),
    TurnEnded("end_turn"),
    MessageAdded({"role": "user", "content": "hi"}),
    ContextCompacted(("m1",), ({"role": "event", "content": "x"},), "budget"),
    Gap(288, "they came too fast"),
]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_an_event_is_stored_and_restored_whole(event: Event) -> None:
    recorded = Recorded("s", 1, 1_700_000_000_000, "agent", event)
    assert msgspec.json.decode(msgspec.json.encode(recorded), type=Recorded) == recorded
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(recorded), type=Recorded) == recorded


def test_what_is_not_said_takes_no_room() -> None:
    assert msgspec.json.encode(PlanChanged("p", None, (SetStatus("s1", "completed"),))) == (
        b'{"event":"plan_changed","plan_id":"p","changes":[{"do":"status","step":"s1","status":"completed"}]}'
    )
