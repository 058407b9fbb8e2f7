"""Plans are values: they can be stored as they are and compared."""

import msgspec
import pytest

from planwire import Entry, FilePlan, ItemsPlan, MarkdownPlan, OtherPlan, Plan
from planwire.model.statuses import canonical, status_of

PLANS: list[Plan] = [
    ItemsPlan(None, (Entry("a", None, "_x", {"m": [1]}, {"extra": 1, "content": 2}),), {}, {"title": "T"}),
    ItemsPlan("p", ()),
    MarkdownPlan("p", "# Plan\n", {"a": 1}),
    FilePlan("p", "file:///p.md", None, {"x": None}),
    OtherPlan("p", "_tree", {"nodes": [{"kind": "x"}]}),
]


@pytest.mark.parametrize("plan", PLANS)
def test_a_plan_is_stored_and_restored_whole(plan: Plan) -> None:
    assert msgspec.json.decode(msgspec.json.encode(plan), type=Plan) == plan


@pytest.mark.parametrize("plan", PLANS)
def test_a_plan_can_not_be_changed(plan: Plan) -> None:
    with pytest.raises(AttributeError):
        plan.id = "q"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("word", "stands_for"),
    [("pending", "pending"), ("done", "completed"), ("in-progress", "in_progress"), ("deleted", "cancelled")],
)
def test_spellings_of_a_status_share_its_meaning(word: str, stands_for: str) -> None:
    assert canonical(word) == stands_for


@pytest.mark.parametrize("word", ["blocked", "_blocked", "", "Pending"])
def test_other_words_have_no_meaning_here(word: str) -> None:
    assert (status_of(word), canonical(word)) == (None, word)
