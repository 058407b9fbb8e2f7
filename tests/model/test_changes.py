"""Changes of single steps, in lists and in texts."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planwire import Entry, FilePlan, ItemsPlan, MarkdownPlan, Plan, PlanState, track
from planwire.errors import PlanError, UneditableText, UnknownStep, UnmarkableStatus
from planwire.model.changes import apply_changes, effective_changes
from planwire.model.markdown import parse
from planwire.model.statuses import STATUSES
from planwire.model.step_changes import AddStep, MoveStep, RemoveStep, RewordStep, SetPriority, SetStatus, StepChange

LIST = ItemsPlan(
    "p", (Entry("a", "high", "pending", {"m": 1}), Entry("b", "low", "pending"), Entry("c", None, "pending"))
)
TEXT = MarkdownPlan("p", "# Plan\n\nWhy.\n\n- [ ] a\n- [ ] b\n- [ ] c\n\nEnd.\n")
A, B, C = ("s1", "a", "pending"), ("s2", "b", "pending"), ("s3", "c", "pending")
BOTH = pytest.mark.parametrize("plan", [LIST, TEXT], ids=["list", "text"])


def after(plan: Plan, *changes: StepChange) -> PlanState:
    return apply_changes(track(plan), changes)


def shown(state: PlanState) -> list[tuple[str, str, str]]:
    return [(step.id, step.content, step.status) for step in state.steps]


@BOTH
@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (SetStatus("s2", "completed"), [A, ("s2", "b", "completed"), C]),
        (RewordStep("s2", "x y"), [A, ("s2", "x y", "pending"), C]),
        (RemoveStep("s1"), [B, C]),
        (RemoveStep("s3"), [A, B]),
        (
            AddStep("n"),
            [A, B, C, ("s4", "n", "pending")],
        ),
        (
            AddStep("n", "s1", status="in_progress"),
            [A, ("s4", "n", "in_progress"), B, C],
        ),
        (
            AddStep("n", ""),
            [("s4", "n", "pending"), A, B, C],
        ),
        (MoveStep("s1", "s3"), [B, C, A]),
        (MoveStep("s3", ""), [C, A, B]),
        (MoveStep("s3", "s1"), [A, C, B]),
    ],
    ids=str,
)
def test_a_change_changes_its_step_and_no_other(plan: Plan, change: StepChange, expected: list[Any]) -> None:
    assert shown(after(plan, change)) == expected


@BOTH
@pytest.mark.parametrize("word", [word for row in STATUSES.values() for word in (row.word, *row.aliases)])
def test_every_spelling_of_a_status_is_understood_in_every_change(plan: Plan, word: str) -> None:
    state = after(plan, SetStatus("s1", word), AddStep("n", "s1", status=word))
    rows = [step.known for step in state.steps[:2]]
    assert rows == [STATUSES[row.word] for row in rows if row and word in (row.word, *row.aliases)]


CHANGES: tuple[StepChange, ...] = (
    *(SetStatus("s1", word) for word in ("pending", "todo", "done", "completed", "cancelled")),
    RewordStep("s1", "a"),
    RewordStep("s1", "b"),
    MoveStep("s2", "s1"),
    MoveStep("s2", "s3"),
    AddStep("n"),
)


@given(st.sampled_from([LIST, TEXT]), st.lists(st.sampled_from(CHANGES), max_size=6))
def test_only_changes_without_effect_are_left_out(plan: Plan, changes: list[StepChange]) -> None:
    state = track(plan)
    effective = effective_changes(state, changes)
    made, wanted = apply_changes(state, effective), apply_changes(state, changes)
    assert [(step.id, step.content, step.known) for step in made.steps] == [
        (step.id, step.content, step.known) for step in wanted.steps
    ]
    assert effective_changes(made, []) == ()
    if effective:
        assert made.plan != state.plan
    assert effective_changes(state, effective) == effective


def test_statuses_that_undo_each_other_are_left_out_beside_other_changes_too() -> None:
    reword = RewordStep("s1", "b")
    undone = [SetStatus("s1", "done"), SetStatus("s1", "pending"), SetStatus("s1", "todo")]
    assert effective_changes(track(LIST), [reword, *undone]) == (reword,)


SOME = MarkdownPlan("p", "- [X] a\n- [ ] b\n- [-] c\n")


@given(st.sampled_from([LIST, SOME]), st.lists(st.sampled_from(CHANGES), max_size=6))
def test_changes_together_are_the_same_as_one_after_the_other(plan: Plan, changes: list[StepChange]) -> None:
    state = track(plan)
    for change in changes:
        state = apply_changes(state, [change])
    assert apply_changes(track(plan), changes) == state


def test_a_text_is_parsed_once_for_all_steps_that_are_ticked_off_together() -> None:
    state = track(MarkdownPlan("p", "".join(f"- [ ] tick {number}\n" for number in range(50))))
    ticks = [SetStatus(step.id, "completed") for step in state.steps]
    parsed = parse.cache_info().misses
    assert effective_changes(state, ticks) == tuple(ticks)
    assert apply_changes(state, ticks).progress.done == 50
    assert parse.cache_info().misses == parsed + 1


def test_one_status_that_a_box_can_not_show_undoes_all_that_come_with_it() -> None:
    with pytest.raises(UnmarkableStatus):
        after(TEXT, SetStatus("s1", "blocked"), SetStatus("s1", "completed"))
    with pytest.raises(UnknownStep, match="'s9'"):
        after(TEXT, SetStatus("s1", "completed"), SetStatus("s9", "completed"))


@BOTH
def test_ids_of_removed_steps_are_not_given_again(plan: Plan) -> None:
    state = after(plan, RemoveStep("s3"), AddStep("new"), RemoveStep("s4"), AddStep("newer"))
    assert [step.id for step in state.steps] == ["s1", "s2", "s5"]


@BOTH
def test_a_rewording_beyond_recognition_keeps_the_id(plan: Plan) -> None:
    assert after(plan, RewordStep("s2", "something else entirely")).steps[1].id == "s2"


@BOTH
@pytest.mark.parametrize(
    "change", [SetStatus("s9", "completed"), MoveStep("s1", "s9"), AddStep("x", "s9"), RemoveStep("")]
)
def test_a_step_that_is_not_there_is_refused(plan: Plan, change: StepChange) -> None:
    with pytest.raises(UnknownStep, match="its steps are: s1, s2, s3"):
        after(plan, change)


def test_what_is_not_changed_in_a_list_stays() -> None:
    state = after(LIST, SetStatus("s1", "completed"), SetPriority("s2", "high"))
    assert state.plan == ItemsPlan(
        "p", (Entry("a", "high", "completed", {"m": 1}), Entry("b", "high", "pending"), Entry("c", None, "pending"))
    )


def test_what_is_not_changed_in_a_text_stays() -> None:
    state = after(TEXT, RewordStep("s2", "bb"), AddStep("n", "s2"), RemoveStep("s3"))
    assert state.plan == MarkdownPlan("p", "# Plan\n\nWhy.\n\n- [ ] a\n- [ ] bb\n- [ ] n\n\nEnd.\n")


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_the_first_task_of_a_text_has_its_line_ends(newline: str) -> None:
    state = after(MarkdownPlan("p", f"# Plan{newline}{newline}Why."), AddStep("n"))
    assert state.plan == MarkdownPlan("p", newline.join(["# Plan", "", "Why.", "", "- [ ] n", ""]))


def test_a_text_keeps_its_own_layout() -> None:
    text = "> 1) [x] a\r\n>    * [ ] nested\r\n> 2) [ ] b"
    state = after(MarkdownPlan("p", text), AddStep("n", "s1"), AddStep("m", "s3"), AddStep("k", "s2"))
    assert state.plan.content == (  # type: ignore[union-attr]
        "> 1) [x] a\r\n>    * [ ] nested\r\n>    * [ ] k\r\n> 1) [ ] n\r\n> 2) [ ] b\r\n> 2) [ ] m\r\n"
    )


def test_a_step_goes_with_what_is_nested_in_it() -> None:
    text = "- [ ] a\n  - [ ] a1\n  - [ ] a2\n- [ ] b\n"
    assert [step.id for step in after(MarkdownPlan("p", text), MoveStep("s1", "s4")).steps] == ["s4", "s1", "s2", "s3"]
    assert [step.id for step in after(MarkdownPlan("p", text), RemoveStep("s1")).steps] == ["s4"]


def test_a_step_that_is_moved_to_another_level_is_indented_anew() -> None:
    text = "- [ ] a\n  - [ ] a1\n- [ ] b\n  more of b\n"
    state = after(MarkdownPlan("p", text), MoveStep("s3", "s2"))
    assert state.plan.content == "- [ ] a\n  - [ ] a1\n  - [ ] b\n    more of b\n"  # type: ignore[union-attr]
    back = apply_changes(state, [MoveStep("s3", "s1")])
    assert back.plan.content == text  # type: ignore[union-attr]


def test_a_step_can_not_be_moved_into_itself() -> None:
    with pytest.raises(UneditableText, match="its own sub-steps"):
        after(MarkdownPlan("p", "- [ ] a\n  - [ ] a1\n"), MoveStep("s1", "s2"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "- Phase 1\n  - [ ] a\n  - [ ] b\n- Phase 2\n  - [ ] c\n",
            "- Phase 1\n  - [ ] a\n  - [ ] b\n- Phase 2\n  - [ ] c\n  - [ ] n\n",
        ),
        (
            "- [ ] a\n  - [ ] b\n- Later\n  - [ ] c\n",
            "- [ ] a\n  - [ ] b\n- [ ] n\n- Later\n  - [ ] c\n",
        ),
    ],
    ids=["under items that are none", "before one of those"],
)
def test_a_step_that_is_added_at_the_end_goes_behind_the_outermost_steps_and_the_others_keep_their_ids(
    text: str, expected: str
) -> None:
    state = after(MarkdownPlan("p", text), AddStep("n"))
    assert state.plan == MarkdownPlan("p", expected)
    assert {step.id: step.content for step in state.steps} == {"s1": "a", "s2": "b", "s3": "c", "s4": "n"}


def test_a_text_without_tasks_gets_its_first_one() -> None:
    assert after(MarkdownPlan("p", "# Plan"), AddStep("a")).plan == MarkdownPlan("p", "# Plan\n\n- [ ] a\n")
    assert after(MarkdownPlan("p", ""), AddStep("a", status="completed")).plan == MarkdownPlan("p", "- [x] a\n")


def test_a_change_that_would_break_the_text_is_refused() -> None:
    with pytest.raises(UneditableText, match="set the plan again"):
        after(TEXT, RewordStep("s1", ""))


def test_texts_have_no_priorities_and_only_four_statuses() -> None:
    with pytest.raises(PlanError, match="put it into their text"):
        after(TEXT, SetPriority("s1", "high"))
    with pytest.raises(UnmarkableStatus):
        after(TEXT, SetStatus("s1", "blocked"))


def test_a_file_has_no_steps_to_change() -> None:
    with pytest.raises(PlanError, match="'file' has no steps"):
        after(FilePlan("p", "file:///p.md"), AddStep("a"))


words = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=8)


@st.composite
def changes(draw: st.DrawFn, ids: list[str]) -> StepChange:
    """A change that can be made, of a plan with these ids."""
    step = draw(st.sampled_from(ids))
    others = [each for each in ids if each != step]
    kinds: list[st.SearchStrategy[StepChange]] = [
        st.builds(SetStatus, st.just(step), st.sampled_from(["pending", "in_progress", "completed", "cancelled"])),
        st.builds(RewordStep, st.just(step), words),
        st.builds(AddStep, words, st.sampled_from([None, "", *ids])),
        st.builds(MoveStep, st.just(step), st.sampled_from(["", *others])),
        *([st.builds(RemoveStep, st.just(step))] if others else []),
    ]
    return draw(st.one_of(kinds))


@given(st.data(), st.sampled_from([LIST, TEXT]))
def test_any_sequence_of_changes_does_to_a_plan_what_it_does_to_a_list_of_ids(data: st.DataObject, plan: Plan) -> None:
    state = track(plan)
    ids, born = ["s1", "s2", "s3"], 3
    for _ in range(data.draw(st.integers(1, 8))):
        change = data.draw(changes(ids))
        state = apply_changes(state, [change])
        match change:
            case AddStep(after=behind):
                born += 1
                ids.insert(len(ids) if behind is None else ids.index(behind) + 1 if behind else 0, f"s{born}")
            case MoveStep(step=step, after=behind):
                ids.remove(step)
                ids.insert(ids.index(behind) + 1 if behind else 0, step)
            case RemoveStep(step=step):
                ids.remove(step)
        assert [step.id for step in state.steps] == ids
