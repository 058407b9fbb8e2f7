"""Each act on each kind of plan: what is written, and what is refused."""

import pytest

from planwire.errors import NothingChanges, PlanError, UneditableText, UnknownPlan, UnknownRemark, UnknownStep
from planwire.model.events import (
    APPROVED,
    CHANGES_REQUESTED,
    COMMENT,
    COMMENTED,
    REQUEST,
    SELECTION,
    Comment,
    Passage,
    PlanChanged,
    PlanRemoved,
    PlanReviewed,
    PlanSet,
    RemarkClosed,
    Remarked,
    ReviewAsked,
    Told,
)
from planwire.model.identity import track
from planwire.model.kinds import text_of
from planwire.model.plan import Entry, FilePlan, ItemsPlan, MarkdownPlan, OtherPlan
from planwire.model.records import AGENT
from planwire.model.remarks import SUPERSEDED, WITHDRAWN
from planwire.model.step_changes import AddStep, MoveStep, RemoveStep, RewordStep, SetPriority, SetStatus, StepChange
from planwire.steering.acts import acts_for
from planwire.steering.reviews import VIA
from tests.steering.acting import LIST, NESTED, TEXT, Session, a_list, agents, closed, suggests

# -- an own list


def test_a_tick_completes_a_step_whatever_it_was_and_reopens_a_completed_one() -> None:
    session = Session(LIST)
    for step in ("s1", "s2", "s3", "s4", "s5"):
        decision = session.do("tick", step)
        assert not decision.is_suggestion
    assert session.steps == [
        ("read", "pending"),
        ("write", "completed"),
        ("test", "completed"),
        ("tag", "completed"),
        ("ship", "completed"),
    ]


def test_a_tick_means_what_the_person_saw() -> None:
    """The agent completes the step while the person's finger is on the key: it stays completed."""
    session = Session(LIST)
    seen = session.revision
    session.agent_does(SetStatus("s3", "completed"))
    with pytest.raises(NothingChanges, match="already says so"):
        session.do("tick", "s3", seen=seen)
    session.agent_does(SetStatus("s1", "pending"))
    with pytest.raises(NothingChanges):
        session.do("tick", "s1", seen=seen)
    session.do("tick", "s3")
    assert dict(session.steps)["test"] == "pending"


@pytest.mark.parametrize(
    ("spelling", "status"),
    [
        ("done", "completed"),
        ("Done", "completed"),
        ("completed", "completed"),
        ("in progress", "in_progress"),
        ("IN  PROGRESS", "in_progress"),
        ("doing", "in_progress"),
        ("to do", "pending"),
        ("todo", "pending"),
        ("canceled", "cancelled"),
        ("blocked", "blocked"),
    ],
)
def test_a_status_goes_by_any_of_its_spellings_and_by_the_plans_own_words(spelling: str, status: str) -> None:
    session = Session(ItemsPlan("main", (Entry("read", "high", "paused"), Entry("ship", "low", "blocked"))))
    session.do("set_status", "s1", status=spelling)
    assert session.steps[0] == ("read", status)


@pytest.mark.parametrize("word", ["", " ", "dancing", "_"])
def test_a_status_that_nobody_knows_is_refused(word: str) -> None:
    with pytest.raises(PlanError, match="choose one of pending, in_progress, completed, cancelled"):
        Session(LIST).do("set_status", "s1", status=word)


def test_a_priority_is_one_of_the_protocol_or_of_the_plan() -> None:
    session = Session(ItemsPlan("main", (Entry("read", "urgent", "pending"), Entry("ship", None, "pending"))))
    session.do("set_priority", "s2", priority="urgent")
    session.do("set_priority", "s1", priority="low")
    assert [step.priority for step in session.record.state.steps] == ["low", "urgent"]
    with pytest.raises(PlanError, match="no priority 'asap': choose one of high, medium, low"):
        session.do("set_priority", "s1", priority="asap")


def test_an_entry_that_leaves_its_priority_out_is_of_medium_priority_already() -> None:
    with pytest.raises(NothingChanges):
        Session(LIST).do("set_priority", "s5", priority="medium")


def test_another_text_loses_blanks_around_it_and_is_none_if_only_blanks_differ() -> None:
    session = Session(a_list("read  the\ndocs"))
    with pytest.raises(NothingChanges):
        session.do("reword", "s1", text=" read the docs ")
    session.do("reword", "s1", text="  read it\n")
    assert session.texts == ["read it"]
    with pytest.raises(PlanError, match="The step is empty"):
        session.do("reword", "s1", text=" \n")


def test_a_new_step_goes_behind_another_to_the_beginning_or_to_the_end() -> None:
    session = Session(a_list("a", "b"))
    session.do("add", text="behind a", after="s1")
    session.do("add", text="first", after="")
    session.do("add", text="last")
    assert session.texts == ["first", "a", "behind a", "b", "last"]
    with pytest.raises(UnknownStep):
        session.do("add", text="nowhere", after="s99")
    with pytest.raises(PlanError, match="The step is empty"):
        session.do("add", text=" ")


def test_a_step_moves_behind_another_or_by_places() -> None:
    session = Session(a_list("a", "b", "c", "d"))
    session.do("move", "s4", after="s1")
    assert session.texts == ["a", "d", "b", "c"]
    session.do("move", "s4", after="")
    assert session.texts == ["d", "a", "b", "c"]
    session.do("move", "s4", by=2)
    assert session.texts == ["a", "b", "d", "c"]
    session.do("move", "s4", by=-1)
    assert session.texts == ["a", "d", "b", "c"]
    session.do("move", "s4", by=-(2**31))
    assert session.texts == ["d", "a", "b", "c"]
    session.do("move", "s4", by=2**31)
    assert session.texts == ["a", "b", "c", "d"]


@pytest.mark.parametrize(("step", "by", "words"), [("s1", -1, "first"), ("s3", 1, "last"), ("s2", 0, "stay where")])
def test_a_move_that_goes_nowhere_changes_nothing(step: str, by: int, words: str) -> None:
    with pytest.raises(NothingChanges, match=words):
        Session(a_list("a", "b", "c")).do("move", step, by=by)


def test_a_move_names_one_place() -> None:
    session = Session(a_list("a", "b"))
    with pytest.raises(PlanError, match="Name one place: the step to move it after or before, or the number"):
        session.do("move", "s2")
    with pytest.raises(PlanError, match="Name one place: the step to move it after or before, or the number"):
        session.do("move", "s2", after="s1", by=1)


def test_a_removed_step_is_gone() -> None:
    session = Session(LIST)
    assert session.do("remove", "s2").words == "Changed: remove “write”"
    assert session.texts == ["read", "test", "tag", "ship"]
    with pytest.raises(UnknownStep, match="no step 's2'; its steps are: s1, s3, s4, s5"):
        session.do("remove", "s2")


ALREADY_SO: list[tuple[StepChange, ...]] = [
    (SetStatus("s1", "completed"),),
    (SetStatus("s1", "done"),),
    (RewordStep("s1", "read"),),
    (SetPriority("s1", "high"),),
    (MoveStep("s1", ""),),
    (MoveStep("s2", "s1"),),
    (SetStatus("s2", "cancelled"), SetStatus("s2", "in_progress")),
]


@pytest.mark.parametrize("changes", ALREADY_SO, ids=repr)
@pytest.mark.parametrize("via", ["tools", "acp"])
def test_a_change_of_what_is_already_so_writes_nothing_but_a_note_on_it(
    changes: tuple[StepChange, ...], via: str
) -> None:
    session = Session(LIST, via)
    with pytest.raises(NothingChanges, match="the plan already says so"):
        session.do("suggest", changes=changes)
    words = PlanChanged("main", "why") if via == "tools" else Remarked("main", COMMENT, "why", 1)
    assert session.do("suggest", changes=changes, text=" why \n").events == (words,)


def test_of_several_changes_only_those_with_an_effect_are_written() -> None:
    session = Session(LIST)
    changes = SetStatus("s1", "done"), SetStatus("s3", "doing"), SetStatus("s3", "in progress"), AddStep(" more ")
    [event] = session.do("suggest", changes=changes).events
    assert event == PlanChanged("main", None, (SetStatus("s3", "in_progress"), AddStep("more")))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (AddStep(" "), "step is empty"),
        (RewordStep("s1", "\n"), "step is empty"),
        (SetStatus("s1", "dancing"), "no status 'dancing'"),
        (AddStep("x", status="dancing"), "no status 'dancing'"),
        (SetPriority("s1", "asap"), "no priority 'asap'"),
        (AddStep("x", priority="asap"), "no priority 'asap'"),
        (RemoveStep("s99"), "no step 's99'"),
    ],
    ids=repr,
)
def test_changes_together_are_held_to_the_rules_of_each_alone(change: StepChange, words: str) -> None:
    session = Session(LIST)
    with pytest.raises(PlanError, match=words):
        session.do("suggest", changes=(SetStatus("s3", "completed"), change))


def test_several_changes_read_as_a_sentence_and_many_as_their_number() -> None:
    session = Session(LIST)
    changes = SetStatus("s3", "completed"), RewordStep("s3", "test " * 100), MoveStep("s3", "s1")
    words = session.do("suggest", changes=changes, text="in a hurry").words
    assert words.startswith("Changed: “test”: done; “test” → test test")
    assert words.endswith("…; move “test” after “read”; in a hurry")
    assert len(words) < 400
    many = tuple(AddStep(f"step {number}") for number in range(20))
    assert session.do("suggest", changes=many).words == "Changed: 20 changes"


@pytest.mark.parametrize("via", ["tools", "acp"])
def test_a_note_is_written_once(via: str) -> None:
    session = Session(LIST, via)
    done = (SetStatus("s3", "completed"),)
    session.do("suggest", changes=done, text="hurry")
    for arguments in ({"changes": done, "text": "hurry"}, {"text": " hurry "}):
        with pytest.raises(NothingChanges):
            session.do("suggest", **arguments)
    session.do("suggest", text="hurry", author="ana")
    session.do("suggest", text="hurry up")


def test_nothing_at_all_is_nothing_to_save() -> None:
    session = Session(LIST)
    for arguments in ({}, {"text": " "}, {"changes": ()}, {"text": "", "changes": ()}):
        with pytest.raises(NothingChanges, match="Nothing to save"):
            session.do("suggest", **arguments)


# -- an own text


def test_acts_on_a_text_change_its_lines_and_nothing_else() -> None:
    session = Session(TEXT)
    session.do("tick", "s3")
    session.do("reword", "s1", text="read it all")
    session.do("add", text="ship", after="s3")
    session.do("move", "s2", by=1)
    session.do("remove", "s1")
    text = text_of(session.record.state.plan)
    assert text == "# Release\n\n- [x] test\n- [~] write\n- [ ] ship\n\nThat is all.\n"


def test_a_text_shows_no_status_of_its_own_and_no_priority() -> None:
    session = Session(TEXT)
    with pytest.raises(PlanError, match="no status 'blocked'"):
        session.do("set_status", "s1", status="blocked")
    with pytest.raises(PlanError, match="have no priority: put it into their text"):
        session.do("set_priority", "s1", priority="high")


def test_a_text_without_steps_takes_its_first_one() -> None:
    session = Session(MarkdownPlan("main", "# Release\n\nAs ever."))
    session.do("add", text="ship")
    assert text_of(session.record.state.plan) == "# Release\n\nAs ever.\n\n- [ ] ship\n"


def test_to_reword_a_step_of_two_lines_to_what_it_says_leaves_the_lines_alone() -> None:
    session = Session(MarkdownPlan("main", "- [ ] read\n  the docs\n"))
    assert session.texts == ["read the docs"]
    with pytest.raises(NothingChanges):
        session.do("reword", "s1", text="read the docs")


def test_a_step_can_not_go_into_itself() -> None:
    with pytest.raises(UneditableText, match="after itself or into its own sub-steps"):
        Session(NESTED).do("move", "s1", after="s2")


# -- nested steps


@pytest.mark.parametrize("via", ["tools", "acp"])
def test_nested_steps_move_among_those_beside_them(via: str) -> None:
    session = Session(NESTED, via)
    session.do("move", "s4", by=-1)
    assert session.order == ["read", "the code", "the issues", "the docs", "write", "a test", "ship"]
    session.do("move", "s4", by=-1)
    assert session.order == ["read", "the issues", "the code", "the docs", "write", "a test", "ship"]
    with pytest.raises(NothingChanges, match="already the first of its list"):
        session.do("move", "s4", by=-1)
    session.do("move", "s4", by=1)
    assert session.order == ["read", "the code", "the issues", "the docs", "write", "a test", "ship"]
    with pytest.raises(NothingChanges, match="already the last of its list"):
        session.do("move", "s6", by=1)


@pytest.mark.parametrize("by", [-2, -3, -(2**31)])
def test_a_nested_step_goes_to_the_top_of_its_list_at_once(by: int) -> None:
    for session in (Session(NESTED), agents(NESTED)):
        session.do("move", "s4", by=by)
        assert session.order == ["read", "the issues", "the code", "the docs", "write", "a test", "ship"]
        assert [step.depth for step in session.record.state.steps] == [0, 1, 1, 1, 0, 1, 0]


def test_a_step_takes_what_is_nested_in_it_along() -> None:
    session = Session(NESTED)
    session.do("move", "s1", by=1)
    assert session.texts == ["write", "a test", "read", "the code", "the docs", "the issues", "ship"]
    session.do("remove", "s1")
    assert session.texts == ["write", "a test", "ship"]
    session.do("move", "s7", by=-5)
    assert session.texts == ["ship", "write", "a test"]


def test_the_first_step_of_a_list_is_not_always_the_first_of_the_text() -> None:
    """Steps under an item without a box come first here, in a list of their own."""
    session = Session(MarkdownPlan("main", "- plain\n  - [ ] a\n- [ ] b\n- [ ] c\n"))
    session.do("move", "s3", by=-1)
    assert text_of(session.record.state.plan) == "- plain\n  - [ ] a\n- [ ] c\n- [ ] b\n"
    with pytest.raises(NothingChanges, match="already the first"):
        session.do("move", "s3", by=-1)


# -- an agent's own plan


@pytest.mark.parametrize("plan", [a_list("read", "write", "test"), TEXT, NESTED], ids=["list", "text", "nested"])
def test_a_change_of_an_agents_plan_is_a_suggestion_and_leaves_the_plan_alone(plan: ItemsPlan | MarkdownPlan) -> None:
    session = agents(plan)
    before = session.record.state
    for act, target, arguments in (
        ("set_status", "s2", {"status": "cancelled"}),
        ("reword", "s2", {"text": "another"}),
        ("move", "s1", {"by": 1}),
        ("remove", "s3", {}),
        ("add", None, {"text": "new", "after": "s1"}),
    ):
        decision = session.do(act, target, **arguments)
        assert decision.is_suggestion
        assert decision.words.startswith("Suggested: ")
        assert len(decision.events) == 1
    assert session.record.state == before
    assert len(session.record.suggestions) == 5


def test_a_second_tick_withdraws_the_suggestion() -> None:
    session = agents(a_list("read", "write"))
    session.do("tick", "s1")
    decision = session.do("tick", "s1")
    assert (decision.words, decision.is_suggestion) == ("Suggestion withdrawn: “read”: done", False)
    assert closed(decision) == ["r1"]
    assert session.record.suggestions == ()
    assert session.do("tick", "s1").is_suggestion


def test_a_tick_that_was_suggested_in_another_spelling_is_withdrawn_as_well() -> None:
    session = agents(a_list("read"))
    session.append(suggests(SetStatus("s1", "done")))
    assert closed(session.do("tick", "s1")) == ["r1"]


def test_a_tick_on_a_step_whose_tick_another_person_suggested_meanwhile_suggests_it_no_second_time() -> None:
    session = agents(a_list("read"))
    seen = session.revision
    session.do("tick", "s1", author="ana")
    with pytest.raises(NothingChanges, match="suggested already"):
        session.do("tick", "s1", seen=seen)


def test_a_tick_withdraws_what_was_told_since_the_person_saw_it() -> None:
    session = agents(a_list("read", "write"))
    session.do("tick", "s1")
    seen = session.state.seq
    session.append(Told("prompt", seen, remarks=("r1",)), by="relay")
    session.append(PlanSet(a_list("read", "write", "ship"), via="acp"), by=AGENT)
    assert closed(session.do("tick", "s1", seen=seen)) == ["r1"]


def test_a_second_tick_withdraws_the_suggestion_although_the_agent_has_changed_another_step_since() -> None:
    session = agents(a_list("read", "write"))
    seen = session.revision
    session.do("tick", "s1", seen=seen)
    session.append(PlanSet(a_list("read", "write", "ship"), via="acp"), by=AGENT)
    assert closed(session.do("tick", "s1", seen=seen)) == ["r1"]


def test_a_tick_that_takes_back_what_is_not_open_any_more_changes_nothing() -> None:
    session = agents(a_list("read"))
    session.do("tick", "s1")
    seen = session.state.seq
    session.do("withdraw", "r1", author="ana")
    with pytest.raises(NothingChanges, match="not open any more"):
        session.do("tick", "s1", seen=seen)


def test_a_newer_suggestion_takes_the_place_of_the_one_before_whoever_made_that() -> None:
    session = agents(LIST)
    session.do("set_status", "s3", status="done", author="ana")
    decision = session.do("set_status", "s3", status="cancelled", author="bo")
    assert decision.events == (suggests(SetStatus("s3", "cancelled"), about={"s3": "test"}),)
    [first, second] = session.record.remarks
    assert first.closed is not None
    assert (first.closed.how, first.closed.by, first.closed.text) == (SUPERSEDED, "bo", second.id)
    assert session.suggested == [SetStatus("s3", "cancelled")]
    for kind, value in (("reword", {"text": "x"}), ("move", {"by": -1}), ("set_priority", {"priority": "low"})):
        session.do(kind, "s3", **value)
    assert len(session.suggested) == 4
    session.do("reword", "s3", text="y")
    assert len(session.suggested) == 4


def test_to_ask_for_what_the_plan_says_anyway_only_withdraws_the_suggestion() -> None:
    session = agents(LIST)
    for act, other, same in (
        ("set_status", {"status": "done"}, {"status": "pending"}),
        ("reword", {"text": "x"}, {"text": "test"}),
        ("set_priority", {"priority": "low"}, {"priority": "medium"}),
        ("move", {"after": ""}, {"after": "s2"}),
        ("move", {"by": 1}, {"by": -1}),
    ):
        session.do(act, "s3", **other)
        [suggestion] = session.record.suggestions
        decision = session.do(act, "s3", **same)
        assert decision.events == (RemarkClosed("main", suggestion.id, WITHDRAWN),)
        assert session.suggested == []


def test_a_suggestion_that_is_open_is_not_written_again() -> None:
    session = agents(LIST)
    session.do("suggest", changes=(SetStatus("s3", "completed"), AddStep("check", "s1"), RemoveStep("s4")))
    for act, target, arguments in (
        ("set_status", "s3", {"status": "done"}),
        ("tick", "s3", {}),
        ("add", None, {"text": "check", "after": "s1"}),
        ("remove", "s4", {}),
    ):
        with pytest.raises(NothingChanges, match="suggested already"):
            session.do(act, target, **arguments)
    more = session.do("suggest", changes=(SetStatus("s3", "done"), AddStep("check", "s1"), AddStep("publish")))
    assert more.events == (suggests(AddStep("publish")),)


def test_a_suggestion_of_several_changes_stays_until_all_of_them_are_superseded() -> None:
    session = agents(LIST)
    session.do("suggest", changes=(SetStatus("s3", "completed"), RewordStep("s3", "x")))
    session.do("set_status", "s3", status="cancelled")
    assert session.suggested == [SetStatus("s3", "completed"), RewordStep("s3", "x"), SetStatus("s3", "cancelled")]
    back = session.do("set_status", "s3", status="completed")
    assert back.words == "Suggestion withdrawn: “test”: cancelled"
    assert session.suggested == [SetStatus("s3", "completed"), RewordStep("s3", "x")]
    session.do("suggest", changes=(SetStatus("s3", "cancelled"), RewordStep("s3", "y")))
    assert session.suggested == [SetStatus("s3", "cancelled"), RewordStep("s3", "y")]


def test_moves_count_in_the_order_that_is_suggested() -> None:
    session = agents(a_list("a", "b", "c", "d"))
    for _ in range(3):
        session.do("move", "s4", by=-1)
    assert session.order == ["d", "a", "b", "c"]
    assert session.suggested == [MoveStep("s4", "")]
    session.do("move", "s3", by=-1)
    assert session.order == ["d", "a", "c", "b"]
    session.do("move", "s1", by=-1)
    assert session.order == ["a", "d", "c", "b"]
    assert session.suggested == [MoveStep("s3", "s1"), MoveStep("s4", "s1")]


def test_steps_that_change_places_and_back_leave_no_suggestion_behind() -> None:
    session = agents(a_list("a", "b", "c"))
    session.do("move", "s3", by=-1)
    session.do("move", "s2", by=-1)
    assert session.order == ["a", "b", "c"]
    assert session.suggested == []


def test_another_text_for_a_suggested_step_takes_the_place_of_the_suggestion() -> None:
    session = agents(a_list("read"))
    session.do("add", text="ship", after="s1")
    with pytest.raises(NothingChanges):
        session.do("reword", "r1", text=" ship ")
    seen = session.revision
    session.agent_does(SetStatus("s1", "completed"))
    decision = session.do("reword", "r1", text="ship it", seen=seen)
    assert decision.events == (suggests(AddStep("ship it", "s1")), RemarkClosed("main", "r1", SUPERSEDED))
    with pytest.raises(PlanError, match="This suggestion is closed: reopen it, or add the step again"):
        session.do("reword", "r1", text="again")
    with pytest.raises(UnknownRemark, match=r"There is no remark 'r9' on this plan\. Open ones: r2\."):
        session.do("reword", "r9", text="again")
    session.do("suggest", changes=(AddStep("one"), AddStep("two")))
    with pytest.raises(PlanError, match="more than a new step: withdraw it"):
        session.do("reword", "r3", text="three")
    session.do("comment", text="hm")
    with pytest.raises(PlanError, match="Only a step can be reworded: withdraw the comment"):
        session.do("reword", "r4", text="hm, no")


def test_anyone_can_withdraw_a_suggestion_once() -> None:
    session = agents(a_list("read"))
    session.do("tick", "s1", author="ana")
    assert session.do("withdraw", "r1", author="bo").words == "Withdrawn: “read”: done"
    with pytest.raises(NothingChanges, match="r1 is closed already"):
        session.do("withdraw", "r1")
    with pytest.raises(UnknownRemark, match=r"There is no remark 'r2' on this plan\. Open ones: none\."):
        session.do("withdraw", "r2")
    session.do("suggest", text="hurry")
    assert session.do("withdraw", "r2").words == "Withdrawn: “hurry”"


def test_a_suggestion_whose_step_is_gone_still_has_its_name() -> None:
    session = agents(a_list("read", "write"))
    session.do("tick", "s2")
    session.append(PlanSet(a_list("read"), via="acp"), by=AGENT)
    assert session.do("withdraw", "r1").words == "Withdrawn: “write”: done"


def test_an_agents_plan_that_became_planwires_is_changed_at_once() -> None:
    session = agents(a_list("read"))
    session.do("tick", "s1")
    session.append(PlanSet(a_list("read")), by=AGENT)
    assert session.record.suggestions != ()
    assert not session.do("tick", "s1").is_suggestion
    assert session.steps == [("read", "completed")]


# -- words


def test_words_are_kept_with_the_revision_that_the_person_saw() -> None:
    session = Session(LIST)
    seen = session.revision
    session.agent_does(SetStatus("s3", "completed"))
    [said] = session.do("comment", "s3", text=" why? ", seen=seen).events
    assert said == Remarked("main", COMMENT, "why?", seen, "s3", about={"s3": "test"})
    given = session.state.seq + 1
    asked = session.do("review", verdict=CHANGES_REQUESTED, text="smaller", seen=seen).events
    assert asked == (
        PlanReviewed("main", seen, CHANGES_REQUESTED, via=VIA),
        Remarked("main", REQUEST, "smaller", seen, review=given),
    )
    [approved] = session.do("review", verdict=APPROVED, seen=seen).events
    assert approved == PlanReviewed("main", session.revision, APPROVED, via=VIA)
    assert session.record.review is not None
    assert session.record.remarks[1].review == session.record.reviews[0].seq


def test_words_say_what_they_are_on_and_when_the_agent_hears_of_them() -> None:
    session = Session(LIST)
    next_prompt = "The agent will see it with its next call of a plan tool."
    assert session.do("comment", "s1", text="a").words == f"Comment added to “read”. {next_prompt}"
    assert session.do("comment", text="a").words == f"Comment added to the plan. {next_prompt}"
    several = (Comment("a", "s1"), Comment("b", "s2"))
    assert session.do("comment", comments=several).words == f"2 comments added. {next_prompt}"
    words = session.do("review", verdict=CHANGES_REQUESTED, text="no", comments=several).words
    assert words == f"Changes requested, with 3 comments. {next_prompt}"
    session.append(ReviewAsked("main"), by=AGENT)
    assert session.do("review", verdict=APPROVED).words == "Approved. The agent is waiting for it."


@pytest.mark.parametrize("seen", [1, None])
def test_a_comment_on_a_step_that_is_gone_is_a_comment_on_the_plan(seen: int | None) -> None:
    session = Session(LIST)
    session.agent_does(RemoveStep("s3"))
    decision = session.do("comment", "s3", text="why?", seen=seen)
    [said] = decision.events
    assert said == Remarked("main", COMMENT, "why?", seen or session.revision, passage=Passage("test"))
    assert decision.words.startswith("Comment added to the plan: “test” is gone.")
    with pytest.raises(UnknownStep):
        session.do("comment", "s99", text="why?")


def test_an_empty_comment_is_refused() -> None:
    session = Session(LIST)
    for arguments in (
        {"text": ""},
        {"text": " \n"},
        {"comments": (Comment(" ", "s1"),)},
        {"text": "a", "comments": (Comment(""),)},
    ):
        with pytest.raises(PlanError, match="The comment is empty"):
            session.do("comment", **arguments)
    with pytest.raises(PlanError, match="The comment is empty"):
        session.do("review", verdict=COMMENTED)
    with pytest.raises(PlanError, match="no verdict 'dismissed': choose one of approved, changes_requested, commented"):
        session.do("review", verdict="dismissed")


def test_a_word_is_said_once_until_another_one_or_a_new_question_makes_it_news() -> None:
    for act, arguments in (
        ("select", {"steps": ("s2",)}),
        ("comment", {"comments": (Comment("hm", "s1"),)}),
        ("review", {"verdict": CHANGES_REQUESTED}),
        ("review", {"verdict": APPROVED}),
    ):
        session = Session(LIST)
        session.do(act, **arguments)
        with pytest.raises(NothingChanges, match="said already"):
            session.do(act, **arguments)
        session.do(act, **arguments, author="ana")
    session.do("select", steps=("s2",))
    session.do("review", verdict=APPROVED)
    session.append(ReviewAsked("main"), by=AGENT)
    session.do("review", verdict=APPROVED)


def test_a_late_word_is_said_once_as_well() -> None:
    session = Session(LIST)
    session.agent_does(SetStatus("s3", "completed"))
    session.do("comment", "s3", text="why?", seen=1)
    with pytest.raises(NothingChanges, match="said already"):
        session.do("comment", "s3", text="why?", seen=1)


def test_steps_to_run_are_told_in_the_order_of_the_plan_without_those_that_are_over() -> None:
    session = Session(LIST)
    decision = session.do("select", steps=("s5", "s3", "s1", "s3"), text="then stop")
    assert decision.events == (
        Remarked("main", SELECTION, "", 1, steps=("s3", "s5"), about={"s3": "test", "s5": "ship"}),
        Remarked("main", COMMENT, "then stop", 1),
    )
    assert decision.words.startswith("To run: “test”, “ship”.")
    with pytest.raises(NothingChanges, match="the selected steps are done or cancelled"):
        session.do("select", steps=("s1", "s4"))
    with pytest.raises(PlanError, match="No step is selected"):
        session.do("select", steps=())
    with pytest.raises(UnknownStep):
        session.do("select", steps=("s1", "s99"))


def test_a_dismissed_plan_takes_words_and_no_other_acts() -> None:
    session = Session(LIST)
    assert session.do("dismiss").events == (PlanRemoved("main"),)
    for act, target in (("tick", "s1"), ("dismiss", None)):
        with pytest.raises(UnknownPlan, match=r"^The plan was dismissed\. Nothing was changed\.$"):
            session.do(act, target)
    assert session.do("comment", text="why?").events, "words never come too late"
    session.plan_id = "other"
    with pytest.raises(UnknownPlan, match="This session has no such plan"):
        session.do("tick", "s1")


def test_a_refusal_calls_a_plan_by_its_title() -> None:
    made_up = "0198f3c2-7b1e-7cc3-98c4-dc0c0c07398f"
    for plan, name in (
        (MarkdownPlan(made_up, TEXT.content), "The plan “Release”"),
        (ItemsPlan(made_up, LIST.entries), "The plan"),
    ):
        session = Session(plan, plan_id=made_up)
        session.do("dismiss")
        with pytest.raises(UnknownPlan, match=f"^{name} was dismissed"):
            session.do("tick", "s1")


# -- numbered lists


@pytest.mark.parametrize("via", ["tools", "acp"])
def test_the_items_of_a_numbered_list_can_be_chosen_and_take_no_other_change(via: str) -> None:
    """They have no checkbox, so nothing of them can be ticked or counted."""
    session = Session(MarkdownPlan("main", "# Plan\n\n1. Read the config\n2. Write the *parser*\n"), via)
    assert set(acts_for(session.record)) == {"comment", "review", "select", "dismiss"}
    assert "Write the *parser*" in session.do("select", steps=("s2",)).words
    session.do("comment", "s1", text="not that one")
    for act, arguments in (("tick", {}), ("set_status", {"status": "done"}), ("reword", {"text": "x"}), ("remove", {})):
        with pytest.raises(PlanError, match="a numbered list without checkboxes: choose steps to run"):
            session.do(act, "s1", **arguments)
    with pytest.raises(PlanError, match="a numbered list without checkboxes"):
        session.do("add", text="x")


# -- plans of other kinds, and without a name


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        (FilePlan("main", "file:///plan.md"), "This plan is a file: change it in an editor"),
        (OtherPlan("main", "_tree", {"root": 1}), "A plan of kind '_tree' has no steps to change"),
    ],
    ids=["file", "custom"],
)
@pytest.mark.parametrize("via", ["tools", "acp"])
def test_a_plan_without_steps_of_its_own_takes_words_and_no_changes(
    plan: FilePlan | OtherPlan, words: str, via: str
) -> None:
    session = Session(plan, via)
    for act, target, arguments in (
        ("tick", "s1", {}),
        ("set_status", "s1", {"status": "done"}),
        ("set_priority", "s1", {"priority": "high"}),
        ("reword", "s1", {"text": "x"}),
        ("add", None, {"text": "x"}),
        ("move", "s1", {"by": 1}),
        ("remove", "s1", {}),
        ("suggest", None, {"changes": (RemoveStep("s1"),)}),
        ("suggest", None, {"plan_text": "[ ] x", "seen": 1}),
    ):
        with pytest.raises(PlanError, match=words):
            session.do(act, target, **arguments)
    with pytest.raises(PlanError, match="no step"):
        session.do("select", steps=("s1",))
    session.do("comment", text="a")
    session.do("review", verdict=APPROVED, text="b")
    session.do("suggest", text="c")
    session.do("dismiss")


def test_a_comment_on_a_step_of_a_file_quotes_it() -> None:
    session = Session(FilePlan("main", "file:///plan.md"))
    file = track(TEXT)
    decision = session.do("comment", "s2", text="why?", file=file)
    assert decision.events == (Remarked("main", COMMENT, "why?", 1, passage=Passage("write")),)
    assert decision.words.startswith("Comment added to “write”.")
    with pytest.raises(UnknownStep, match="its steps are: s1, s2, s3"):
        session.do("comment", "s9", text="why?", file=file)
    with pytest.raises(UnknownStep, match="its steps are: none"):
        session.do("comment", "s2", text="why?")


def test_a_plan_without_a_name_is_steered_like_any_other() -> None:
    session = Session(ItemsPlan(None, LIST.entries), plan_id=None)
    assert session.do("tick", "s3").events == (PlanChanged(None, None, (SetStatus("s3", "completed"),)),)
    session.do("dismiss")
    with pytest.raises(PlanError, match=r"^The plan was dismissed"):
        session.do("tick", "s3")


def test_a_status_that_a_text_can_not_show_does_not_hide_behind_others() -> None:
    """An agent's list has a status of its own, and becomes a text that can't show it."""
    session = agents(LIST)
    session.do("set_status", "s3", status="blocked")
    session.append(PlanSet(TEXT, via="acp"), by=AGENT)
    session.do("set_status", "s3", status="done")
    assert session.suggested == [SetStatus("s3", "completed")]
    with pytest.raises(PlanError, match="no status 'blocked'"):
        session.do("set_status", "s3", status="blocked")
