"""Events are values that are stored as they are."""

from typing import get_args

import msgspec
import pytest

from planwire import Entry, ItemsPlan, MarkdownPlan
from planwire.model.events import (
    ACP,
    APPROVED,
    DISMISSED,
    SUGGESTION,
    Choice,
    ContextCompacted,
    Event,
    FileSeen,
    Gap,
    KnownEvent,
    MessageAdded,
    MessagePinned,
    PlanChanged,
    PlanRemoved,
    PlanReopened,
    PlanReviewed,
    PlanSet,
    Recorded,
    RemarkAnswered,
    RemarkClosed,
    Remarked,
    RemarkReopened,
    ReviewAsked,
    ReviewPending,
    ReviewUndone,
    SessionForked,
    SessionOpened,
    StopAsked,
    TellAsked,
    Told,
    TurnEnded,
)
from planwire.model.step_changes import AddStep, MoveStep, RemoveStep, RewordStep, SetPriority, SetStatus

EVENTS: list[Event] = [
    SessionOpened("agent 1.0", "client 1.0", "/project", "Fix it"),
    SessionOpened(),
    PlanSet(ItemsPlan("p", (Entry("a", None, "_x", {"m": 1}, {"y": 2}),)), "why", ACP, "agent"),
    PlanSet(MarkdownPlan(None, "# Plan")),
    PlanChanged("p", "a note"),
    FileSeen("p", "- [ ] a", ("s1",), {"r1": "gone"}, {"r2": ("s1",)}, True),
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
    PlanReviewed("p", 7, APPROVED, way="below claude-code"),
    ReviewAsked("p", (Choice("yes", "Yes"), Choice("no", "No", "reject_once")), "q1"),
    PlanReviewed("p", 7, DISMISSED, answer="No"),
    TurnEnded("end_turn"),
    MessageAdded({"role": "user", "content": "hi"}),
    ContextCompacted(("m1",), ({"role": "event", "content": "x"},), "budget"),
    Gap(288, "they came too fast"),
    SessionForked("s2", 7),
    PlanReopened("p"),
    Remarked("p", SUGGESTION, "soon", 7, "s1", changes=(RewordStep("s1", "b"),), kept=True, id="r1"),
    RemarkAnswered("p", "r1", "done"),
    RemarkClosed("p", "r1", "withdrawn", "no more"),
    RemarkReopened("p", "r1"),
    Told("prompt", 7, 3, ("r1",), "4"),
    TellAsked(interrupt=True),
    StopAsked(),
    MessagePinned("m1", is_pinned=False),
    FileSeen("p", "- [ ] read", ("s1",), {"r1": "gone"}, rewords=True),
    ReviewPending("p", 5_000, PlanReviewed("p", 7, APPROVED), (Remarked("p", SUGGESTION, "soon", id="r1"),)),
    ReviewUndone("p", 9),
]


def test_the_list_has_every_kind_of_event() -> None:
    assert {type(event) for event in EVENTS} == {*get_args(KnownEvent)}


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_an_event_is_stored_and_restored_whole(event: Event) -> None:
    recorded = Recorded("s", 1, 1_700_000_000_000, "agent", event)
    assert msgspec.json.decode(msgspec.json.encode(recorded), type=Recorded) == recorded
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(recorded), type=Recorded) == recorded


def test_what_is_not_said_takes_no_room() -> None:
    assert msgspec.json.encode(PlanChanged("p", None, (SetStatus("s1", "completed"),))) == (
        b'{"event":"plan_changed","plan_id":"p","changes":[{"do":"status","step":"s1","status":"completed"}]}'
    )
