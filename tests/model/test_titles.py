"""What people call a plan."""

import pytest

from planwire.model.markdown import parse
from planwire.model.plan import FilePlan, ItemsPlan, MarkdownPlan, OtherPlan, Plan
from planwire.model.titles import plan_title, plan_titles

UUID = "0198f3c2-7b1e-7cc3-98c4-dc0c0c07398f"


@pytest.mark.parametrize(
    ("plan", "title"),
    [
        (ItemsPlan(None, ()), "Plan"),
        (ItemsPlan("main", ()), "Plan"),
        (ItemsPlan(UUID, ()), "Plan"),
        (ItemsPlan(f"plan_{UUID}", ()), "Plan"),
        (ItemsPlan("toolu_01K3Z7Q9XW5N8RT2V4B6C8D0EF", ()), "Plan"),
        (ItemsPlan("release\n4.2", ()), "release 4.2"),
        (MarkdownPlan(UUID, "Intro\n\n# Port *it*\n"), "Port *it*"),
        (MarkdownPlan(UUID, "Just prose.\n\n- [ ] a"), "Just prose."),
        (MarkdownPlan("q", "- [ ] a\n- [ ] b"), "q"),
        (MarkdownPlan(UUID, "\n1. [x] a\n\nMore."), "Plan"),
        (FilePlan("docs", "file:///p/plan.md"), "docs"),
        (FilePlan(UUID, "file:///p/plan.md"), "plan.md"),
        (FilePlan(UUID, "file:///"), "Plan"),
        (OtherPlan(None, "_tree", {}), "Plan"),
    ],
)
def test_a_plan_is_called_by_its_heading_or_by_a_name_that_somebody_gave_it(plan: Plan, title: str) -> None:
    assert plan_title(plan) == title


def test_no_two_plans_of_a_session_have_one_title() -> None:
    ids = (None, "main", "Plan 2", UUID, "x", "Plan 2 2")
    titles = plan_titles(ItemsPlan(plan_id, ()) for plan_id in ids)
    assert list(titles.values()) == ["Plan", "Plan 2", "Plan 2 2", "Plan 3", "x", "Plan 2 2 2"]


def test_a_thousand_plans_of_one_name_are_told_apart_in_order() -> None:
    titles = plan_titles(ItemsPlan(f"{number:08}-7b1e-7cc3-98c4-dc0c0c07398f", ()) for number in range(1_000))
    assert [*titles.values()][::333] == ["Plan", "Plan 334", "Plan 667", "Plan 1000"]


def test_the_texts_of_many_plans_are_parsed_for_their_titles_once() -> None:
    """Every entry of a history names its plan among all of the session."""
    plans = [MarkdownPlan(f"p{number}", f"# The plan number {number}\n") for number in range(40)]
    parsed = parse.cache_info().misses
    for _ in range(3):
        assert [*plan_titles(plans).values()][-1] == "The plan number 39"
    assert parse.cache_info().misses == parsed + 40
