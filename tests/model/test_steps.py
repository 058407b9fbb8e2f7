"""Stable ids for entries that have none, and progress."""

import pytest

from planwire import Entry, FilePlan, ItemsPlan, MarkdownPlan, PlanState, Progress, Step, mark, track
from planwire.errors import PlanError, UnknownStep


def plan(*entries: str | tuple[str, str]) -> ItemsPlan:
    pairs = [(each, "pending") if isinstance(each, str) else each for each in entries]
    return ItemsPlan(None, tuple(Entry(content, "medium", status) for content, status in pairs))


def follow(*plans: ItemsPlan) -> PlanState:
    state: PlanState | None = None
    for each in plans:
        state = track(each, state)
    assert state is not None
    return state


def ids(state: PlanState) -> list[str]:
    return [step.id for step in state.steps]


def test_steps_are_numbered_as_they_come() -> None:
    assert ids(follow(plan("a", "b", "c"))) == ["s1", "s2", "s3"]


def test_a_step_that_is_renamed_as_it_starts_keeps_its_id() -> None:
    """Agents show another text while an entry is in progress: text is not identity."""
    state = follow(
        plan("Read the config file", "Write the parser — with ünïcode", "Run the tests"),
        plan(("Read the config file", "completed"), ("Writing the parser", "in_progress"), "Run the tests"),
    )
    assert ids(state) == ["s1", "s2", "s3"]


def test_a_step_that_starts_under_a_name_that_has_nothing_in_common_is_another() -> None:
    """Nothing tells it from a task that took its place, and what was said about that one is about it alone."""
    state = follow(plan("Ship it", "b"), plan(("Uploading wheels", "in_progress"), "b"))
    assert ids(state) == ["s3", "s2"]


def test_a_step_that_gets_its_old_name_back_keeps_its_id() -> None:
    state = follow(
        plan("Ship wheels", "b"), plan(("Shipping wheels and notes", "in_progress"), "b"), plan("b", "Ship wheels")
    )
    assert ids(state) == ["s2", "s1"]


def test_a_renamed_step_keeps_its_id_when_another_is_added_beside_it() -> None:
    state = follow(
        plan("Read the config", "Write the parser", "Run the tests"),
        plan("Read the config", ("Writing the parser", "in_progress"), "Fix the lexer", "Run the tests"),
    )
    assert ids(state) == ["s1", "s2", "s4", "s3"]


def test_a_different_step_in_the_same_place_is_new() -> None:
    assert ids(follow(plan("a", "Read the config", "c"), plan("a", "Buy milk", "c"))) == ["s1", "s4", "s3"]


def test_a_step_in_the_same_place_that_went_backward_and_is_different_is_new() -> None:
    state = follow(plan(("Read the config", "completed")), plan(("Buy milk", "pending")))
    assert ids(state) == ["s2"]


def test_reordering_keeps_ids() -> None:
    assert ids(follow(plan("a", "b", "c", "d"), plan("d", "b", "a", "c"))) == ["s4", "s2", "s1", "s3"]


def test_a_step_that_moved_and_got_a_word_more_keeps_its_id() -> None:
    before, after = plan("Read the config", "Write unit tests"), plan("Write unit tests", "Read the config file")
    assert ids(follow(before, after)) == ["s2", "s1"]


@pytest.mark.parametrize(
    ("gone", "added"),
    [("Write chapter 1", "Write chapter 9"), ("Update README for the API", "Update README for the CLI")],
)
def test_a_step_like_one_that_left_elsewhere_is_new(gone: str, added: str) -> None:
    before, after = plan(gone, "Ask around", "Think"), plan("Ask around", "Think", added)
    assert ids(follow(before, after)) == ["s2", "s3", "s4"]


@pytest.mark.parametrize(
    "after",
    [
        plan("B1 write docs", "B2 publish"),
        plan(("B1 write docs", "in_progress"), "B2 publish"),
        plan(("Book a flight", "in_progress"), "A3 sleep", "B2 publish"),
    ],
)
def test_a_plan_in_the_place_of_another_keeps_no_id_by_its_place_alone(after: ItemsPlan) -> None:
    before = track(plan("A1 fix login", "A2 test login"))
    assert not {"s1", "s2"} & set(ids(track(after, before)))


def test_a_plan_in_the_place_of_another_keeps_the_ids_of_nearly_the_same_texts() -> None:
    before = track(plan("Fix the login", "Test it", "Ship"))
    after = plan("Fix the login page", ("Test it", "completed"), "Write the docs", "Ship")
    assert ids(track(after, before)) == ["s1", "s2", "s4", "s3"]


def test_a_step_that_left_and_comes_back_has_its_old_id() -> None:
    assert ids(follow(plan("a", "b", "c"), plan("a", "c"), plan("a", "b", "c"))) == ["s1", "s2", "s3"]


def test_an_empty_list_forgets_nothing() -> None:
    state = follow(plan("a", "Bake bread"), plan(), plan("a", ("Baking the bread", "in_progress")))
    assert ids(state) == ["s1", "s2"]
    assert follow(plan("a", "b"), plan()).steps == ()


def test_ids_are_never_used_again() -> None:
    state = follow(plan("alpha"), plan(("omega", "pending")), plan(("12345", "pending")))
    assert ids(state) == ["s3"]


def test_twins_are_told_apart_by_their_order() -> None:
    state = follow(plan("Run tests", "Fix", "Run tests"), plan(("Run tests", "completed"), "Fix", "Run tests"))
    assert ids(state) == ["s1", "s2", "s3"]


def test_of_twins_the_one_with_the_same_status_stays() -> None:
    state = follow(plan(("Run tests", "completed"), "Fix", "Run tests"), plan("Fix", "Run tests"))
    assert ids(state) == ["s2", "s3"]


def test_a_text_that_two_steps_had_belongs_to_the_one_that_has_it_now() -> None:
    state = follow(
        plan("Write the docs", "Write the tests"),
        plan(("Writing docs", "in_progress"), "Write the tests"),
        plan("Write the tests", "Write the docs"),
    )
    assert ids(state) == ["s2", "s1"]


def test_a_completely_new_list_has_new_ids() -> None:
    first = plan(("Find the bug", "completed"), ("Fix the bug", "completed"))
    assert ids(follow(first, plan("Call Anna", "Order lunch"))) == ["s3", "s4"]


def test_a_text_that_is_too_long_to_compare_is_only_equal_to_itself() -> None:
    text = "word " * 1_000
    assert ids(follow(plan(text, "b"), plan("b", text))) == ["s2", "s1"]
    assert ids(follow(plan(text, "b"), plan(f"{text}more", "b"))) == ["s3", "s2"]


def test_checkboxes_keep_their_ids_across_edits_of_the_text() -> None:
    before = track(MarkdownPlan("p", "# Plan\n- [ ] lexer\n- [ ] grammar\n"))
    after = track(MarkdownPlan("p", "# Plan\n\nNew words.\n\n- [x] lexer\n- [ ] errors\n- [~] the grammar\n"), before)
    assert [(step.id, step.content, step.status) for step in after.steps] == [
        ("s1", "lexer", "completed"),
        ("s3", "errors", "pending"),
        ("s2", "the grammar", "in_progress"),
    ]


def test_a_missing_priority_is_shown_as_medium() -> None:
    state = track(ItemsPlan(None, (Entry("a", None, "pending"),)))
    assert state.steps == (Step("s1", "a", "pending", "medium"),)


def test_progress_counts_cancelled_steps_apart() -> None:
    state = follow(plan(("a", "completed"), ("b", "in_progress"), ("c", "cancelled"), "d", ("e", "blocked")))
    assert state.progress == Progress(1, 4, (Step("s2", "b", "in_progress"),), 1)


def test_progress_understands_other_spellings() -> None:
    state = follow(plan(("a", "done"), ("b", "in-progress"), ("c", "canceled"), ("d", "todo")))
    assert (state.progress.done, state.progress.total, state.progress.cancelled) == (1, 3, 1)
    assert [step.content for step in state.progress.current] == ["b"]


def test_a_proposal_and_a_file_have_no_steps() -> None:
    assert track(MarkdownPlan("p", "# Words")).steps == ()
    assert track(FilePlan("p", "file:///plan.md")).progress == Progress(0, 0)


def test_marking_a_step_of_a_list() -> None:
    state = follow(plan("a", "b"))
    assert mark(state, "s2", "completed") == plan("a", ("b", "completed"))


def test_marking_a_step_of_a_text_changes_its_box() -> None:
    state = track(MarkdownPlan("p", "- [ ] a\n- [ ] b\n"))
    assert mark(state, "s2", "completed") == MarkdownPlan("p", "- [ ] a\n- [x] b\n")


def test_marking_a_step_that_is_not_there_names_those_that_are() -> None:
    with pytest.raises(UnknownStep, match="no step 's9'; its steps are: s1, s2"):
        mark(follow(plan("a", "b")), "s9", "completed")


def test_errors_have_one_root_for_plans() -> None:
    with pytest.raises(PlanError):
        mark(track(FilePlan("p", "file:///plan.md")), "s1", "completed")


def test_a_whole_new_list_whose_first_step_has_begun_is_another_plan() -> None:
    before = track(
        ItemsPlan("p", (Entry("Read the config", None, "pending"), Entry("Write unit tests", None, "pending")))
    )
    other = ItemsPlan("p", (Entry("Book a flight", None, "in_progress"), Entry("Pack the bags", None, "pending")))
    assert [step.id for step in track(other, before).steps] == ["s3", "s4"]
