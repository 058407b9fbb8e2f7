"""The places of steps that people suggest to move: in the order that all suggestions together give the plan."""

from planwire.model.events import ACP, SUGGESTION, PlanSet, Remarked
from planwire.model.plan import Entry, ItemsPlan, MarkdownPlan, Plan
from planwire.model.records import AGENT, USER
from planwire.model.step_changes import MoveStep
from tests.readmodel.shown_plans import shown

LIST = ItemsPlan("main", tuple(Entry(f"step {number}", "medium", "pending") for number in range(1, 5)))
NESTED = MarkdownPlan("main", "- [ ] a\n  - [ ] in a\n- [ ] b\n  - [ ] in b\n")


def places(plan: Plan, *ways: tuple[MoveStep, ...]) -> list[tuple[str, str, int, str | None]]:
    suggestions = ((USER, Remarked("main", SUGGESTION, "", 1, changes=way)) for way in ways)
    [card] = shown((AGENT, PlanSet(plan, via=ACP)), *suggestions).cards()
    return [(each.step, each.behind, each.depth, each.before) for each in card.moved]


def test_a_moved_step_goes_behind_everything_nested_in_the_one_before_it() -> None:
    assert places(LIST, (MoveStep("s3", ""),)) == [("s3", "", 0, None)]
    assert places(NESTED, (MoveStep("s3", ""),)) == [("s3", "", 0, None)]
    assert places(NESTED, (MoveStep("s1", "s3"),)) == [("s1", "s4", 0, None)]
    assert places(NESTED, (MoveStep("s2", "s4"),)) == [("s2", "s4", 1, None)]


def test_several_moves_count_together() -> None:
    two = (MoveStep("s4", "s1"),), (MoveStep("s3", "s4"),)
    assert places(LIST, *two) == [("s4", "s1", 0, None), ("s3", "s1", 0, None)]


def test_a_step_that_goes_before_another_one_is_one_move_to_people() -> None:
    assert places(NESTED, (MoveStep("s4", "s2"), MoveStep("s2", "s4"))) == [("s4", "s1", 1, "s2")]


def test_a_step_that_left_the_plan_has_no_place() -> None:
    assert places(LIST, (MoveStep("s9", "s1"),)) == []
