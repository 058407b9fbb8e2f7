"""The difference of two plans."""

import pytest

from planwire import Entry, FilePlan, ItemsPlan, MarkdownPlan, OtherPlan, Plan, track
from planwire.model import diff
from tests.differences import applied, between


def plan(*entries: tuple[str, str] | tuple[str, str, str]) -> ItemsPlan:
    made = (Entry(each[0], each[2] if len(each) > 2 else "medium", each[1]) for each in entries)
    return ItemsPlan("p", tuple(made))


BEFORE = plan(("Read", "pending"), ("Write", "pending"), ("Test", "pending"))


def test_equal_plans_have_no_difference() -> None:
    assert not between(BEFORE, BEFORE)


def test_an_entry_whose_text_changed_as_it_went_in_progress_is_reworded() -> None:
    found = between(BEFORE, plan(("Reading", "in_progress"), ("Write", "pending"), ("Test", "pending")))
    assert [(change.step.id, change.before, change.after) for change in found.reworded] == [("s1", "Read", "Reading")]
    assert [(change.step.id, change.before, change.after) for change in found.status] == [
        ("s1", "pending", "in_progress")
    ]
    assert not found.added
    assert not found.removed


def test_added_and_removed_say_where() -> None:
    found = between(BEFORE, plan(("Read", "pending"), ("Lex", "pending"), ("Think!", "pending"), ("Test", "pending")))
    assert [(added.step.content, added.at) for added in found.added] == [("Lex", 1), ("Think!", 2)]
    assert [(removed.step.content, removed.at) for removed in found.removed] == [("Write", 1)]


def test_only_the_step_that_overtook_others_has_moved() -> None:
    found = between(BEFORE, plan(("Test", "pending"), ("Read", "pending"), ("Write", "pending")))
    assert [(moved.step.content, moved.before, moved.at) for moved in found.moved] == [("Test", 2, 0)]


def test_a_new_priority_is_a_change() -> None:
    found = between(BEFORE, plan(("Read", "pending", "high"), ("Write", "pending"), ("Test", "pending")))
    assert [(change.before, change.after) for change in found.priority] == [("medium", "high")]


def test_what_people_do_not_see_is_carried_along() -> None:
    after = ItemsPlan("p", (Entry("Read", None, "pending", {"x": 1}, {"y": 2}), *BEFORE.entries[1:]))
    found = between(BEFORE, after)
    assert (found.reworded, found.status, found.priority) == ((), (), ())
    assert applied(found, BEFORE) == after


def test_a_new_plan_is_all_added() -> None:
    found = diff.compare(None, track(BEFORE))
    assert [added.step.id for added in found.added] == ["s1", "s2", "s3"]
    assert applied(found, MarkdownPlan("p", "")) == BEFORE


def test_ticking_a_checkbox_is_a_change_of_status() -> None:
    before, after = MarkdownPlan("p", "- [ ] a\n- [ ] b"), MarkdownPlan("p", "- [x] a\n- [ ] b")
    found = between(before, after)
    assert [(change.step.content, change.after) for change in found.status] == [("a", "completed")]
    assert applied(found, before) == after


@pytest.mark.parametrize(
    "after",
    [
        ItemsPlan("p", ()),
        ItemsPlan("q", BEFORE.entries, {"m": 1}, {"x": 1}),
        MarkdownPlan("p", "- [x] Read"),
        FilePlan("p", "file:///plan.md"),
        OtherPlan("p", "_tree", {"nodes": []}),
    ],
)
def test_applying_a_difference_gives_the_later_plan_whatever_its_kind(after: Plan) -> None:
    assert applied(between(BEFORE, after), BEFORE) == after
    assert applied(between(after, BEFORE), after) == BEFORE
