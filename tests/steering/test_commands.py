"""What people do to a plan, and plans as text to be edited."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planwire.errors import NothingChanges, PlanError, StaleRevision, UneditableText, UnknownStep
from planwire.model.changes import apply_changes
from planwire.model.events import (
    ACP,
    APPROVED,
    CHANGES_REQUESTED,
    AddStep,
    Comment,
    Event,
    MoveStep,
    PlanChanged,
    PlanSet,
    Recorded,
    ReviewAsked,
    RewordStep,
    SetPriority,
    SetStatus,
    StepChange,
)
from planwire.model.fold import SessionState, fold
from planwire.model.plan import Entry, ItemsPlan, MarkdownPlan
from planwire.model.steps import PlanState, track
from planwire.steering.commands import change, comment, review, select, withdraw
from planwire.steering.plan_text import as_text, changes_in, merge


def after(*events: Event, by: str = "user") -> SessionState:
    state = SessionState("s")
    for number, event in enumerate(events, start=1):
        state = fold(state, Recorded("s", number, 0, by, event))
    return state


PLAN = ItemsPlan("main", (Entry("read", "high", "completed"), Entry("write", "medium", "pending")))


def test_a_change_is_tied_to_the_revision_that_was_seen() -> None:
    state = after(PlanSet(PLAN))
    event = change(state, "main", 1, [SetStatus("s2", "completed")])
    moved_on = fold(state, Recorded("s", 2, 0, "agent", event))
    with pytest.raises(StaleRevision) as refused:
        change(moved_on, "main", 1, [SetStatus("s2", "cancelled")])
    assert refused.value.current == 2


def test_what_can_not_be_done_is_not_written_down() -> None:
    state = after(PlanSet(PLAN))
    with pytest.raises(UnknownStep):
        change(state, "main", None, [SetStatus("s9", "completed")])
    with pytest.raises(PlanError, match="nothing to save"):
        change(state, "main", None, [], " ")
    for empty in (AddStep(" "), RewordStep("s1", "\n")):
        with pytest.raises(PlanError, match="give it a text"):
            change(state, "main", None, [empty])
    with pytest.raises(PlanError, match="there is no plan any more"):
        review(state, None, None, APPROVED)
    with pytest.raises(PlanError, match="no plan 'other'"):
        review(state, "other", None, APPROVED)
    with pytest.raises(UnknownStep):
        select(state, "main", 1, ["s1", "s9"])
    with pytest.raises(PlanError, match="no step is selected"):
        select(state, "main", 1, [])
    with pytest.raises(PlanError, match="the comment is empty"):
        comment(state, "main", 1, [Comment(" ")])


def test_a_review_says_which_revision_it_is_of() -> None:
    state = after(PlanSet(PLAN), PlanSet(PLAN, "again"))
    asked = review(state, "main", None, CHANGES_REQUESTED, [Comment("too vague", "s1"), Comment("hm")])
    assert (asked.revision, asked.verdict, len(asked.comments)) == (2, CHANGES_REQUESTED, 2)
    assert select(state, "main", 2, ["s2", "s2", "s1"]).selected == ("s2", "s1")


def test_a_suggestion_can_be_taken_back_while_it_is_open() -> None:
    agents_own = after(PlanSet(PLAN, via=ACP), by="agent")
    suggestion = change(agents_own, "main", 1, [SetStatus("s2", "completed")])
    suggested = fold(agents_own, Recorded("s", 2, 0, "user", suggestion))
    assert suggested.plans["main"].state == agents_own.plans["main"].state
    withdrawn = fold(suggested, Recorded("s", 3, 0, "user", withdraw(suggested, "main", 2)))
    assert withdrawn.plans["main"].suggestions == ()
    with pytest.raises(PlanError, match="no wish of event 2"):
        withdraw(withdrawn, "main", 2)


# What changes nothing writes nothing

ALREADY_SO = (
    [SetStatus("s1", "completed")],
    [SetStatus("s1", "done")],
    [RewordStep("s1", "read")],
    [SetPriority("s1", "high")],
    [MoveStep("s1", "")],
    [MoveStep("s2", "s1")],
    [SetStatus("s2", "cancelled"), SetStatus("s2", "pending")],
)


@pytest.mark.parametrize("changes", ALREADY_SO, ids=repr)
@pytest.mark.parametrize("via", ["tools", ACP])
def test_a_change_of_what_is_already_so_writes_nothing(changes: list[StepChange], via: str) -> None:
    state = after(PlanSet(PLAN, via=via), by="agent")
    with pytest.raises(NothingChanges, match="nothing changes"):
        change(state, "main", 1, changes)
    assert change(state, "main", 1, changes, "a word") == PlanChanged("main", "a word")


def test_of_several_changes_only_those_with_an_effect_are_written() -> None:
    state = after(PlanSet(PLAN))
    wanted = [SetStatus("s1", "done"), SetStatus("s2", "doing"), SetStatus("s2", "in_progress")]
    assert change(state, "main", 1, wanted).changes == (SetStatus("s2", "doing"),)


def test_a_blank_note_is_none() -> None:
    state = after(PlanSet(PLAN))
    assert change(state, "main", 1, [SetStatus("s2", "completed")], " \n").note is None
    assert change(state, "main", 1, [], " well \n").note == "well"


def test_a_suggestion_that_is_open_is_not_written_again() -> None:
    state = after(PlanSet(PLAN, via=ACP), by="agent")
    wanted = SetStatus("s2", "completed"), AddStep("check", "s1")
    state = fold(state, Recorded("s", 2, 0, "user", change(state, "main", 1, wanted)))
    with pytest.raises(NothingChanges):
        change(state, "main", 2, [SetStatus("s2", "done"), AddStep("check", "s1")])
    more = change(state, "main", 2, [*wanted, AddStep("publish")])
    assert more.changes == (AddStep("publish"),)
    with pytest.raises(StaleRevision):
        change(state, "main", 1, wanted)


def test_a_review_is_said_once_until_another_one_or_a_new_question_makes_it_news() -> None:
    state = after(PlanSet(PLAN))
    for event in (
        select(state, "main", 1, ["s2"]),
        comment(state, "main", 1, [Comment("hm", "s1")]),
        review(state, "main", 1, CHANGES_REQUESTED),
    ):
        said = fold(state, Recorded("s", 2, 0, "user", event))
        with pytest.raises(NothingChanges, match="said already"):
            review(said, "main", 1, event.verdict, event.comments, event.selected)
        review(said, "main", 1, event.verdict, event.comments, event.selected, by="ana")
    approved = fold(state, Recorded("s", 2, 0, "user", review(state, "main", 1, APPROVED)))
    select(approved, "main", 1, ["s2"])
    asked = fold(approved, Recorded("s", 3, 0, "agent", ReviewAsked("main")))
    review(asked, "main", 1, APPROVED)


# Plans as text


def edited(state: PlanState, *lines: str) -> PlanState:
    return apply_changes(state, changes_in("\n".join(lines), state))


def shown(state: PlanState) -> list[tuple[str, str, str]]:
    return [(step.id, step.content, step.status) for step in state.steps]


def test_every_edit_of_the_text_is_a_change_of_the_plan() -> None:
    before = track(PLAN)
    assert as_text(before) == "[x] (high) read {s1}\n[ ] write {s2}\n"
    now = edited(
        before, "# a comment", "[~] write it down {s2}", "", "- [ ] (low) check", "[ ] publish", "[x] (high) read {s1}"
    )
    assert shown(now) == [
        ("s2", "write it down", "in_progress"),
        ("s4", "check", "pending"),
        ("s3", "publish", "pending"),
        ("s1", "read", "completed"),
    ]
    assert [step.priority for step in now.steps] == ["medium", "low", "medium", "high"]
    assert changes_in("[done] (high) read {s1}\n[doing] write {s2}", before) == (SetStatus("s2", "in_progress"),)
    assert shown(edited(before, "[x] (high) read {s1}")) == [("s1", "read", "completed")]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("read {s1}", "line 1: a step looks like"),
        ("[ ] {s1}", "line 1: a step looks like"),
        ("[ ] read {s7}", "there is no step s7"),
        ("[ ] read {s1}\n[ ] again {s1}", "line 2: the step s1 is there twice"),
    ],
)
def test_a_text_that_can_not_be_read_says_where(line: str, problem: str) -> None:
    with pytest.raises(UneditableText, match=problem):
        changes_in(line, track(PLAN))


def test_a_checklist_in_a_text_is_edited_the_same_way() -> None:
    before = track(MarkdownPlan("p", "# Work\n\n- [ ] read\n- [ ] write\n\nThe end.\n"))
    now = edited(before, "[x] read it all {s1}", "[ ] check", "[ ] write {s2}")
    assert isinstance(now.plan, MarkdownPlan)
    assert now.plan.content == "# Work\n\n- [x] read it all\n- [ ] check\n- [ ] write\n\nThe end.\n"
    nested = track(MarkdownPlan("p", "- [ ] read\n  - [ ] the code\n- [ ] write\n"))
    assert edited(nested, "[ ] write {s3}").plan == MarkdownPlan("p", "- [ ] write\n")
    with pytest.raises(PlanError, match="no steps"):
        as_text(track(MarkdownPlan("p", "only prose")))


@given(
    st.lists(
        st.tuples(st.sampled_from(("read", "(low) x", "a {s1}", "b # c", "- d")), st.sampled_from("~x -")), min_size=1
    ),
    st.randoms(use_true_random=False),
)
def test_a_text_in_any_order_and_with_any_lines_left_out_gives_just_that(
    lines: list[tuple[str, str]], luck: object
) -> None:
    statuses = {"~": "in_progress", "x": "completed", " ": "pending", "-": "cancelled"}
    before = track(ItemsPlan("p", tuple(Entry(text, "medium", statuses[box]) for text, box in lines)))
    assert changes_in(as_text(before), before) == ()
    kept = [line for line in as_text(before).splitlines() if luck.random() < 0.7]  # type: ignore[attr-defined]
    luck.shuffle(kept)  # type: ignore[attr-defined]
    now = apply_changes(before, changes_in("\n".join(kept), before))
    assert [step.id for step in now.steps] == [line[line.rindex("{") + 1 : -1] for line in kept]


def test_changes_that_were_meant_for_an_earlier_plan_are_merged() -> None:
    before = track(PLAN)
    mine = changes_in("[x] (high) read {s1}\n[x] write {s2}\n[ ] check\n", before)
    now = apply_changes(before, changes_in("[x] (high) read it {s1}\n[ ] write {s2}\n", before))
    merged = merge(mine, before, now)
    assert merged.disputed == ()
    assert shown(apply_changes(now, merged.changes)) == [
        ("s1", "read it", "completed"),
        ("s2", "write", "completed"),
        ("s3", "check", "pending"),
    ]


def test_a_step_that_both_changed_is_for_the_person_to_decide_again() -> None:
    before = track(PLAN)
    mine = changes_in("[x] (high) read {s1}\n[x] write {s2}\n[ ] check\n", before)
    now = apply_changes(before, changes_in("[x] (high) read {s1}\n[~] write {s2}\n", before))
    merged = merge(mine, before, now)
    assert merged.disputed == ("s2",)
    gone = apply_changes(before, changes_in("[x] (high) read {s1}\n", before))
    assert merge(mine, before, gone).disputed == ("s2", "the new step 'check'")


def test_brackets_in_a_text_are_words_of_its_steps() -> None:
    before = track(MarkdownPlan("p", "- [ ] one\n- [ ] (really) two\n"))
    assert as_text(before) == "[ ] one {s1}\n[ ] (really) two {s2}\n"
    assert changes_in(as_text(before), before) == ()
    now = edited(before, "[ ] (really) one {s1}", "[ ] (really) two {s2}", "[ ] (maybe) three", "[ ] (high)")
    assert [step.content for step in now.steps] == ["(really) one", "(really) two", "(maybe) three", "(high)"]


def test_new_steps_stay_together_whatever_another_writer_adds_meanwhile() -> None:
    before = track(PLAN)
    mine = changes_in("[x] (high) read {s1}\n[ ] A\n[ ] B\n[ ] write {s2}\n", before)
    now = apply_changes(before, [AddStep("theirs")])
    merged = merge(mine, before, now)
    assert merged.disputed == ()
    contents = [step.content for step in apply_changes(now, merged.changes).steps]
    assert contents == ["read", "A", "B", "write", "theirs"]
