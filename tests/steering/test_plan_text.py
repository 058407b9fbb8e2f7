"""Plans as text that people edit, and the edited text as changes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planwire.errors import PlanError, UneditableText
from planwire.model.changes import apply_changes
from planwire.model.identity import track
from planwire.model.plan import Entry, ItemsPlan, MarkdownPlan
from planwire.model.step_changes import AddStep, MoveStep, RemoveStep, RewordStep, SetStatus
from planwire.model.steps import PlanState
from planwire.steering.plan_text import as_text, changes_in, merge
from planwire.steering.target import Disputed
from tests.steering.acting import LIST, Session, agents
from tests.strategies import items_plans, markdown_plans, plan_ids, v2_entries

PLAN = ItemsPlan("main", (Entry("read", "high", "completed"), Entry("write", "medium", "pending")))


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
        ("read {s1}", "line 1: expected a step such as"),
        ("[ ] {s1}", "line 1: expected a step such as"),
        ("[ ] read {s7}", "there is no step s7"),
        ("[ ] read {s1}\n[ ] again {s1}", "line 2: step s1 appears twice"),
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
    with pytest.raises(PlanError, match="no steps to edit: comment on it instead"):
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


def test_a_step_that_another_writer_reworded_or_removed_is_for_the_person_to_decide_again() -> None:
    before = track(PLAN)
    mine = changes_in("[x] (high) read {s1}\n[x] write {s2}\n[ ] check\n", before)
    done, new = SetStatus("s2", "completed"), AddStep("check", "s2")
    assert mine == (done, new)
    ticked = apply_changes(before, [SetStatus("s2", "in_progress")])
    assert merge(mine, before, ticked).disputed == ()
    reworded = apply_changes(before, [RewordStep("s2", "write it")])
    assert (merge(mine, before, reworded).changes, merge(mine, before, reworded).disputed) == ((new,), (done,))
    gone = apply_changes(before, [RemoveStep("s2")])
    assert (merge(mine, before, gone).changes, merge(mine, before, gone).disputed) == ((), (done, new))


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


def test_words_in_brackets_are_a_priority_only_if_they_name_one() -> None:
    before = track(ItemsPlan("p", (Entry("one", "very high", "pending"), Entry("two", "medium", "pending"))))
    assert as_text(before) == "[ ] (very high) one {s1}\n[ ] two {s2}\n"
    now = edited(before, "[ ] (very high) one more {s1}", "[ ] (really) two {s2}", "[ ] (very high) three")
    assert [(step.content, step.priority) for step in now.steps] == [
        ("one more", "very high"),
        ("(really) two", "medium"),
        ("three", "very high"),
    ]


@pytest.mark.parametrize(
    "entry",
    [
        Entry("", None, "pending"),
        Entry("one", None, ""),
        Entry("one", None, "x"),
        Entry("one", None, "a]b"),
        Entry("one", "a)b", "pending"),
        Entry("one\n\u2028two", "high", "Blocked"),
        Entry("(low) {s7} # [x]", None, "~"),
    ],
    ids=repr,
)
def test_a_line_that_nobody_edited_changes_nothing_whatever_is_in_it(entry: Entry) -> None:
    before = track(ItemsPlan("p", (entry, Entry("two", "low", "pending"))))
    assert changes_in(as_text(before), before) == ()
    first, second = as_text(before).splitlines()
    assert changes_in(f"{second}\n{first}\n", before) == (MoveStep("s2", ""),)


@given(items_plans(plan_ids, v2_entries) | markdown_plans(plan_ids))
def test_the_text_of_any_plan_reads_as_no_change_of_it(plan: ItemsPlan | MarkdownPlan) -> None:
    state = track(plan)
    if state.steps:
        assert changes_in(as_text(state), state) == ()


# -- as an act


def test_an_edited_text_is_made_or_suggested_at_once() -> None:
    for session, end in (
        (Session(LIST), ""),
        (agents(LIST), ". The agent will see it with the next prompt in the editor."),
    ):
        text = as_text(session.record.state).replace("[ ] test", "[x] test it") + "[ ] check\n"
        decision = session.do("suggest", plan_text=text, seen=1, text="as agreed")
        [event] = decision.events
        assert decision.words.endswith(f"“test” → test it; “test”: done; add “check”; as agreed{end}")
        assert event.changes == (RewordStep("s3", "test it"), SetStatus("s3", "completed"), AddStep("check", "s5"))  # type: ignore[union-attr]


def test_a_text_that_was_edited_for_minutes_keeps_what_happened_meanwhile() -> None:
    session = Session(LIST)
    text = as_text(session.record.state).replace("test", "test it")
    session.agent_does(SetStatus("s3", "in_progress"), AddStep("theirs"), RewordStep("s1", "read it"))
    session.do("suggest", plan_text=text, seen=1)
    assert session.steps == [
        ("read it", "completed"),
        ("write", "in_progress"),
        ("test it", "in_progress"),
        ("tag", "cancelled"),
        ("ship", "blocked"),
        ("theirs", "pending"),
    ]


def test_changes_of_a_step_that_the_agent_reworded_are_disputed_and_the_others_named() -> None:
    session = Session(LIST)
    text = as_text(session.record.state).replace("[ ] test", "[x] test").replace("[~] write", "[x] write")
    session.agent_does(RewordStep("s3", "test it"))
    with pytest.raises(Disputed, match="while you edited it: decide again about “test it”") as refused:
        session.do("suggest", plan_text=text, seen=1)
    assert refused.value.others == (SetStatus("s2", "completed"),)
    assert refused.value.changes == (SetStatus("s3", "completed"),)


def test_an_edited_text_says_of_which_revision_it_is() -> None:
    """Without that, every step that came since would be one that the person deleted."""
    session = Session(LIST)
    text = as_text(session.record.state)
    with pytest.raises(PlanError, match="needs 'seen', the revision that was edited"):
        session.do("suggest", plan_text=text)
    with pytest.raises(PlanError, match="not both"):
        session.do("suggest", plan_text=text, seen=1, changes=(RemoveStep("s1"),))
    with pytest.raises(PlanError, match="no status 'dne': choose one of"):
        session.do("suggest", plan_text=text.replace("[~]", "[dne]"), seen=1)
