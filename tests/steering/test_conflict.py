"""Which acts a plan that changed meanwhile turns away: the table of `planwire.steering.conflict`, line by line."""

from typing import Any

import pytest

from planwire.errors import NothingChanges, StaleRevision, UnknownStep
from planwire.model.events import APPROVED, CHANGES_REQUESTED, COMMENTED, Comment, PlanSet
from planwire.model.plan import FilePlan, ItemsPlan, MarkdownPlan, OtherPlan, Plan
from planwire.model.records import AGENT
from planwire.model.step_changes import AddStep, MoveStep, RemoveStep, RewordStep, SetPriority, SetStatus, StepChange
from tests.steering.acting import NESTED, Session, a_list

STEPS = a_list("read", "write", "test")
TEXT = MarkdownPlan("main", "# Plan\n\n- [ ] read\n- [ ] write\n- [ ] test\n")

#: Acts on the step s2, each with its arguments.
ON_A_STEP: list[tuple[str, dict[str, Any]]] = [
    ("tick", {}),
    ("set_status", {"status": "cancelled"}),
    ("reword", {"text": "another"}),
    ("move", {"by": 1}),
    ("move", {"after": ""}),
    ("remove", {}),
]
ON_THE_PLAN: list[tuple[str, dict[str, Any]]] = [
    ("review", {"verdict": APPROVED}),
    ("select", {"steps": ("s3",)}),
    ("dismiss", {}),
]
WORDS: list[tuple[str, str | None, dict[str, Any]]] = [
    ("comment", "s2", {"text": "why?"}),
    ("comment", None, {"text": "why?"}),
    ("comment", None, {"comments": (Comment("a", "s2"), Comment("b"))}),
    ("review", None, {"verdict": CHANGES_REQUESTED, "text": "smaller"}),
    ("review", None, {"verdict": COMMENTED, "comments": (Comment("a", "s2"),)}),
    ("suggest", None, {"text": "only a note"}),
]
EVERYTHING = [
    *((act, "s2", arguments) for act, arguments in ON_A_STEP),
    *((act, None, arguments) for act, arguments in ON_THE_PLAN),
    ("add", None, {"text": "new", "after": "s2"}),
    ("suggest", None, {"changes": (RewordStep("s2", "x"), AddStep("y", "s2"))}),
    *WORDS,
]
#: What a busy agent does all the time.
TICKED: tuple[StepChange, ...] = (SetStatus("s1", "completed"), SetStatus("s2", "in_progress"))


def after(*changes: StepChange, plan: Plan = STEPS, via: str = "tools") -> Session:
    session = Session(plan, via)
    session.agent_does(*changes)
    return session


@pytest.mark.parametrize(("act", "target", "arguments"), EVERYTHING)
@pytest.mark.parametrize("via", ["tools", "acp"])
@pytest.mark.parametrize("plan", [STEPS, TEXT], ids=["list", "text"])
def test_a_status_turns_nothing_away(
    act: str, target: str | None, arguments: dict[str, Any], via: str, plan: Plan
) -> None:
    session = after(*TICKED, plan=plan, via=via)
    assert session.do(act, target, seen=1, **arguments).events


@pytest.mark.parametrize(("act", "arguments"), ON_A_STEP)
@pytest.mark.parametrize("change", [RewordStep("s2", "write it"), RemoveStep("s2")], ids=["reworded", "removed"])
def test_an_act_on_a_step_that_was_reworded_or_removed_is_turned_away(
    act: str, arguments: dict[str, Any], change: StepChange
) -> None:
    session = after(change)
    with pytest.raises(StaleRevision, match=r"The plan changed since revision 1 \(now 2\)") as refused:
        session.do(act, "s2", seen=1, **arguments)
    assert (refused.value.current, refused.value.expected) == (2, 1)


@pytest.mark.parametrize(("act", "arguments"), ON_A_STEP)
@pytest.mark.parametrize(
    "change",
    [RewordStep("s1", "read it"), RemoveStep("s1"), AddStep("new", "s1"), MoveStep("s2", ""), SetPriority("s2", "low")],
    ids=repr,
)
def test_an_act_on_a_step_goes_through_whatever_happens_to_others_or_to_its_place(
    act: str, arguments: dict[str, Any], change: StepChange
) -> None:
    session = after(change)
    try:
        session.do(act, "s2", seen=1, **arguments)
    except NothingChanges:
        assert act == "move"


def test_a_new_step_is_turned_away_only_if_the_step_that_it_goes_behind_is_gone() -> None:
    for change in (RewordStep("s2", "write it"), AddStep("theirs"), MoveStep("s2", "")):
        after(change).do("add", text="new", after="s2", seen=1)
    for place in (None, ""):
        after(RemoveStep("s2")).do("add", text="new", after=place, seen=1)
    with pytest.raises(StaleRevision):
        after(RemoveStep("s2")).do("add", text="new", after="s2", seen=1)


def test_a_move_behind_a_step_that_is_gone_is_turned_away() -> None:
    with pytest.raises(StaleRevision):
        after(RemoveStep("s3")).do("move", "s1", after="s3", seen=1)


@pytest.mark.parametrize(("act", "arguments"), ON_THE_PLAN)
@pytest.mark.parametrize("plan", [STEPS, TEXT], ids=["list", "text"])
@pytest.mark.parametrize(
    "change", [RewordStep("s1", "read it"), RemoveStep("s1"), AddStep("new")], ids=["reworded", "removed", "added"]
)
def test_a_verdict_is_turned_away_if_texts_or_the_set_of_steps_changed(
    act: str, arguments: dict[str, Any], plan: Plan, change: StepChange
) -> None:
    with pytest.raises(StaleRevision):
        after(change, plan=plan).do(act, seen=1, **arguments)


@pytest.mark.parametrize(("act", "arguments"), ON_THE_PLAN)
def test_a_verdict_on_a_list_goes_through_if_only_the_order_or_a_priority_changed(
    act: str, arguments: dict[str, Any]
) -> None:
    after(MoveStep("s3", ""), SetPriority("s1", "high")).do(act, seen=1, **arguments)


def test_a_verdict_on_a_plan_of_another_kind_is_about_all_of_it() -> None:
    for before, now in (
        (FilePlan("main", "file:///a.md"), FilePlan("main", "file:///b.md")),
        (OtherPlan("main", "_tree", {"root": 1}), OtherPlan("main", "_tree", {"root": 2})),
        (MarkdownPlan("main", "as ever"), MarkdownPlan("main", "as never")),
        (STEPS, TEXT),
    ):
        session = Session(before)
        session.append(PlanSet(before), by=AGENT)
        session.do("review", verdict=APPROVED, seen=1)
        session.append(PlanSet(now), by=AGENT)
        with pytest.raises(StaleRevision):
            session.do("review", verdict=APPROVED, seen=1)


@pytest.mark.parametrize(("act", "target", "arguments"), WORDS)
def test_words_are_never_turned_away(act: str, target: str | None, arguments: dict[str, Any]) -> None:
    rewritten = (RewordStep("s1", "x"), RemoveStep("s2"), AddStep("y"))
    assert after(*rewritten).do(act, target, seen=1, **arguments).events
    for seen in (0, 99):
        session = Session(STEPS)
        assert session.do(act, target, seen=seen, **arguments).events


def test_a_withdrawal_and_a_new_text_for_a_suggestion_are_never_turned_away() -> None:
    session = Session(STEPS, "acp")
    session.do("add", text="ship")
    session.append(PlanSet(a_list("read it", "rewrite")), by=AGENT)
    session.append(PlanSet(a_list("read it", "rewrite"), via="acp"), by=AGENT)
    session.do("reword", "r1", text="ship it", seen=2)
    session.do("withdraw", "r2", seen=1)
    assert session.suggested == []


@pytest.mark.parametrize("seen", [0, 99])
@pytest.mark.parametrize(
    ("act", "target", "arguments"),
    [
        *((act, "s2", arguments) for act, arguments in ON_A_STEP),
        *((act, None, arguments) for act, arguments in ON_THE_PLAN),
        ("suggest", None, {"changes": (RemoveStep("s2"),)}),
        ("suggest", None, {"plan_text": "[ ] read {s1}\n"}),
    ],
)
def test_an_act_for_a_revision_without_the_plan_is_turned_away(
    act: str, target: str | None, arguments: dict[str, Any], seen: int
) -> None:
    with pytest.raises(StaleRevision):
        Session(STEPS).do(act, target, seen=seen, **arguments)


def test_an_act_without_a_revision_is_for_the_plan_as_it_is() -> None:
    for act, target, arguments in EVERYTHING:
        after(RewordStep("s2", "write it"), AddStep("new")).do(act, target, **arguments)


def test_a_revision_between_two_changes_of_the_plan_stands_for_the_one_before_it() -> None:
    session = Session(STEPS)
    session.do("comment", text="an event that changes nothing of the plan")
    session.do("review", verdict=APPROVED, seen=2)
    session.agent_does(AddStep("new"))
    with pytest.raises(StaleRevision):
        session.do("review", verdict=APPROVED, seen=2, text="again")


def test_a_step_that_never_was_is_a_mistake_and_no_conflict() -> None:
    session = after(*TICKED)
    for act, arguments in ON_A_STEP:
        with pytest.raises(UnknownStep):
            session.do(act, "s99", seen=1, **arguments)
    with pytest.raises(UnknownStep):
        session.do("add", text="new", after="s99", seen=1)


def test_a_step_that_the_person_never_saw_is_turned_away() -> None:
    with pytest.raises(StaleRevision):
        after(AddStep("new")).do("tick", "s4", seen=1)


def test_several_changes_are_merged_with_what_happened_meanwhile() -> None:
    session = after(AddStep("theirs", "s1"), *TICKED)
    session.do("suggest", changes=(RewordStep("s2", "write it"), AddStep("mine", "s1")), seen=1)
    assert session.texts == ["read", "mine", "theirs", "write it", "test"]


def test_a_plan_that_was_dismissed_and_came_back_is_compared_with_what_was_seen() -> None:
    session = Session(STEPS)
    session.do("dismiss")
    session.append(PlanSet(ItemsPlan("main", STEPS.entries)), by=AGENT)
    session.do("tick", "s2", seen=1)
    session.do("review", verdict=APPROVED, seen=1)
    with pytest.raises(StaleRevision):
        session.do("review", verdict=APPROVED, seen=2, text="seen while it was gone")


def test_a_tick_in_a_nested_list_does_not_turn_an_approval_away() -> None:
    session = after(SetStatus("s2", "completed"), plan=NESTED)
    session.do("review", verdict=APPROVED, seen=1)
