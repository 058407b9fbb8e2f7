"""The table of lives in `planwire.model.remarks`, line by line: what ends a remark, and what does not."""

import pytest
from msgspec.structs import replace

from planwire.model.events import (
    ACP,
    COMMENT,
    SUGGESTION,
    Passage,
    PlanChanged,
    PlanRemoved,
    PlanReopened,
    PlanReviewed,
    PlanSet,
    RemarkAnswered,
    RemarkClosed,
    Remarked,
    RemarkReopened,
    ReviewAsked,
    TurnEnded,
)
from planwire.model.plan import Entry, ItemsPlan, MarkdownPlan
from planwire.model.records import AGENT, Remark
from planwire.model.remarks import (
    ANSWERED,
    FINISHED,
    FOLLOWED,
    GONE,
    MOST_CLOSED,
    PLAN_ENDED,
    REVISED,
    SUPERSEDED,
    WITHDRAWN,
)
from planwire.model.step_changes import AddStep, MoveStep, RemoveStep, RewordStep, SetPriority, SetStatus, StepChange
from tests.model.lives import LIST, REWORDINGS, STATUS_ALONE, Life, on_plan, on_step, request, selection, suggestion
from tests.steering.acting import a_list

# -- a comment on a step


@pytest.mark.parametrize(
    ("change", "how"),
    [
        (SetStatus("s1", "completed"), FINISHED),
        (SetStatus("s1", "cancelled"), FINISHED),
        (RemoveStep("s1"), GONE),
    ],
    ids=repr,
)
def test_a_comment_on_a_step_that_was_told_ends_when_the_step_is_finished_or_gone(change: StepChange, how: str) -> None:
    assert Life(on_step("s1")).told().agent_does(change).end == how


@pytest.mark.parametrize(
    "change",
    [
        SetStatus("s1", "in_progress"),
        SetStatus("s1", "blocked"),
        SetStatus("s2", "completed"),
        RemoveStep("s2"),
        RewordStep("s1", "read it all"),
        MoveStep("s1", "s2"),
        SetPriority("s1", "low"),
        AddStep("ship"),
    ],
    ids=repr,
)
def test_no_other_change_ends_a_comment_on_a_step(change: StepChange) -> None:
    assert Life(on_step("s1")).told().agent_does(change).is_open


def test_a_comment_on_a_step_that_nobody_has_told_outlives_the_step() -> None:
    for change in (SetStatus("s1", "completed"), RemoveStep("s1")):
        life = Life(on_step("s1")).agent_does(change)
        assert life.is_open
        assert life.is_news


def test_a_comment_told_after_its_step_was_finished_waits_for_an_answer() -> None:
    """The step was finished without it, so that says nothing of the comment."""
    life = Life(on_step("s1")).agent_does(SetStatus("s1", "completed")).told()
    assert life.agent_does(SetStatus("s2", "completed")).is_open
    assert life.does(RemarkAnswered("main", "r1", "redone")).end == ANSWERED


def test_a_comment_told_after_its_step_was_gone_ends_with_the_next_change() -> None:
    assert Life(on_step("s1")).agent_does(RemoveStep("s1")).told().agent_does(AddStep("ship")).end == GONE


@pytest.mark.parametrize("author", [AGENT, "ana"])
def test_an_answer_ends_a_comment_on_a_step_told_or_not(author: str) -> None:
    for life in (Life(on_step("s1")), Life(on_step("s1")).told()):
        life.does(RemarkAnswered("main", "r1", "it is needed"), by=author)
        assert (life.end, life.remark.closed and life.remark.closed.by) == (ANSWERED, author)
        assert [(each.by, each.text) for each in life.remark.answers] == [(author, "it is needed")]


# -- a comment on the plan or a passage, and any that is kept in force


@pytest.mark.parametrize(
    "remark",
    [
        on_plan(),
        Remarked("main", COMMENT, "why?", passage=Passage("a passage")),
        on_step("s1", kept=True),
        on_plan(kept=True),
    ],
    ids=["plan", "passage", "kept, on a step", "kept, on the plan"],
)
def test_a_comment_on_the_plan_and_any_that_is_kept_in_force_ends_only_by_a_person_or_with_the_plan(
    remark: Remarked,
) -> None:
    life = Life(remark).told()
    for change in (*STATUS_ALONE, *REWORDINGS, SetStatus("s1", "completed"), RemoveStep("s1")):
        assert life.agent_does(change).is_open
    life.does(RemarkAnswered("main", "r1", "I will mind it"))
    assert life.is_open
    assert len(life.remark.answers) == 1
    life.does(PlanSet(ItemsPlan("main", (Entry("another", None, "completed"),)), via=ACP))
    assert life.is_open
    assert Life(remark).told().does(PlanRemoved("main")).end == PLAN_ENDED
    assert life.does(RemarkClosed("main", "r1", WITHDRAWN, "not needed"), by="ana").end == WITHDRAWN
    assert life.remark.closed is not None
    assert (life.remark.closed.by, life.remark.closed.text) == ("ana", "not needed")


@pytest.mark.parametrize("is_cleared", [True, False])
def test_what_is_kept_in_force_of_a_step_ends_when_another_plan_follows_the_one_that_is_over(is_cleared: bool) -> None:
    """A step that returns later keeps its id, and what was said about it must not be in force by itself."""
    life = Life(on_step("s1", kept=True)).told()
    over = () if is_cleared else tuple(replace(each, status="completed") for each in LIST.entries)
    assert life.does(PlanSet(ItemsPlan("main", over), via=ACP)).is_open
    assert life.does(PlanSet(a_list("book a flight"), via=ACP)).end == GONE
    assert life.does(PlanSet(LIST, via=ACP)).end == GONE
    assert life.does(RemarkReopened("main", "r1"), by="ana").is_open


def test_what_is_kept_in_force_stays_while_its_plan_goes_on_and_of_the_plan_as_a_whole_always() -> None:
    done = tuple(replace(each, status="completed") for each in LIST.entries)
    life = Life(on_step("s1", kept=True)).told()
    assert life.does(PlanSet(a_list("book a flight"), via=ACP)).is_open, "the list was not over"
    life = Life(on_step("s1", kept=True)).told()
    life.does(PlanSet(ItemsPlan("main", done), via=ACP))
    assert life.does(PlanSet(a_list("write", "ship"), via=ACP)).is_open, "a step of it is left"
    life = Life(on_plan(kept=True)).told()
    life.does(PlanSet(ItemsPlan("main", done), via=ACP))
    assert life.does(PlanSet(a_list("book a flight"), via=ACP)).is_open


def test_comments_never_supersede_each_other() -> None:
    life = Life(on_step("s1"))
    life.does(on_step("s1"), by="user").does(on_step("s1"), by="ana").does(on_plan(), by="ana")
    assert [each.by for each in life.record.open_remarks] == ["user", "user", "ana", "ana"]


# -- a request for changes


@pytest.mark.parametrize("change", REWORDINGS, ids=repr)
def test_a_request_for_changes_that_was_told_ends_when_texts_or_steps_change(change: StepChange) -> None:
    assert Life(request()).told().agent_does(change).end == REVISED


@pytest.mark.parametrize("change", STATUS_ALONE, ids=repr)
def test_a_status_a_priority_or_another_order_ends_no_request(change: StepChange) -> None:
    assert Life(request()).told().agent_does(change).is_open


def test_another_persons_change_ends_no_request() -> None:
    life = Life(PlanSet(LIST)).does(request(), by="ana").told()
    assert life.does(PlanChanged("main", None, (RewordStep("s1", "read it all"),)), by="bo").is_open
    assert life.agent_does(RewordStep("s2", "write it all")).end == REVISED


def test_a_request_that_nobody_has_told_outlives_a_new_version() -> None:
    life = Life(request()).agent_does(RewordStep("s1", "read it all"))
    assert life.is_open
    assert life.told().is_open
    assert life.agent_does(RewordStep("s1", "read some of it")).end == REVISED


def test_an_answer_or_an_approval_ends_no_request() -> None:
    life = Life(request()).told().does(RemarkAnswered("main", "r1", "hm"))
    assert life.does(PlanReviewed("main", 1, "approved", via="planwire"), by="user").is_open


def test_another_proposal_ends_a_request_that_was_told_and_no_other() -> None:
    def proposal(plan_id: str) -> tuple[PlanSet, ReviewAsked]:
        return PlanSet(MarkdownPlan(plan_id, f"# {plan_id}")), ReviewAsked(plan_id)

    for is_told in (True, False):
        life = Life(*proposal("main"))
        life.does(PlanReviewed("main", 2, "changes_requested", via="planwire"), request(), by="user")
        if is_told:
            life.told()
        assert life.is_open, "it is for the next proposal"
        life.does(*proposal("second"))
        assert life.is_open == (not is_told)
        assert is_told or life.is_news
    assert life.told().is_open, "told too late for the second proposal, it is for the third"
    assert life.does(*proposal("third")).end == REVISED


# -- a selection


def test_a_selection_ends_when_all_its_steps_are_finished_told_or_not() -> None:
    for life in (Life(selection("s1", "s2")), Life(selection("s1", "s2")).told()):
        assert life.agent_does(SetStatus("s1", "completed")).is_open
        assert life.agent_does(SetStatus("s3", "completed"), RewordStep("s2", "x"), AddStep("y")).is_open
        assert life.agent_does(RemoveStep("s1")).is_open
        assert life.agent_does(SetStatus("s2", "cancelled")).end == FINISHED


def test_a_selection_does_not_end_because_its_steps_are_gone() -> None:
    """Else the agent would be free to do all the rest, which the person did not choose."""
    assert Life(selection("s1")).told().agent_does(RemoveStep("s1")).is_open


def test_a_newer_selection_of_the_same_plan_takes_the_place_of_the_one_before_whoever_made_that() -> None:
    life = Life(selection("s1")).does(selection("s2"), by="ana")
    assert life.end == SUPERSEDED
    assert life.remark.closed is not None
    assert (life.remark.closed.by, life.remark.closed.text) == ("ana", "r2")
    assert [each.id for each in life.record.open_remarks] == ["r2"]


def test_a_selection_is_no_approval_and_an_approval_is_none() -> None:
    life = Life(selection("s1"))
    assert life.record.review is None
    life.does(PlanReviewed("main", 1, "approved", via="planwire"), by="user")
    assert life.is_open


# -- a suggestion


@pytest.mark.parametrize(
    ("change", "other", "same"),
    [
        (SetStatus("s1", "completed"), SetStatus("s1", "cancelled"), SetStatus("s1", "done")),
        (RewordStep("s1", "x"), RewordStep("s1", "y"), RewordStep("s1", "x")),
        (SetPriority("s1", "high"), SetPriority("s1", "low"), SetPriority("s1", "high")),
        (AddStep("x", "s1"), AddStep("y", "s1"), AddStep("x")),
        (MoveStep("s1", "s2"), MoveStep("s1", "s3"), MoveStep("s1", "s2")),
        (RemoveStep("s1"), RemoveStep("s2"), RemoveStep("s1")),
    ],
    ids=repr,
)
def test_a_suggestion_ends_when_the_plan_contains_it_told_or_not(
    change: StepChange, other: StepChange, same: StepChange
) -> None:
    assert Life(suggestion(change)).told().agent_does(other).is_open
    for life in (Life(suggestion(change)), Life(suggestion(change)).told()):
        assert life.agent_does(same).end == FOLLOWED


def test_of_two_rewordings_of_a_step_the_newer_holds_and_the_other_says_by_whom() -> None:
    life = Life(suggestion(RewordStep("s1", "x")), by="ana")
    life.does(suggestion(SetStatus("s1", "completed")), suggestion(RewordStep("s2", "x")), by="bo")
    assert life.is_open, "of another kind, or for another step"
    life.does(suggestion(RewordStep("s1", "y")), by="bo")
    assert life.remark.closed is not None
    assert (life.end, life.remark.closed.by, life.remark.closed.text) == (SUPERSEDED, "bo", "r4")


def test_new_steps_stand_beside_each_other() -> None:
    life = Life(suggestion(AddStep("x"))).does(suggestion(AddStep("y")), suggestion(AddStep("x", "s1")))
    assert len(life.record.suggestions) == 3


def test_a_suggestion_of_several_changes_is_superseded_and_followed_only_as_a_whole() -> None:
    both = RewordStep("s1", "x"), SetStatus("s1", "completed")
    assert Life(suggestion(*both)).does(suggestion(RewordStep("s1", "y"))).is_open
    assert Life(suggestion(*both)).does(suggestion(*reversed(both))).end == SUPERSEDED
    assert Life(suggestion(*both)).agent_does(both[0]).is_open
    assert Life(suggestion(*both)).agent_does(*both).end == FOLLOWED


# -- plans that end, and remarks that are open again


@pytest.mark.parametrize("remark", [on_step("s1"), on_plan(), on_plan(kept=True), request()], ids=repr)
def test_words_that_nobody_has_told_outlive_their_plan_until_they_are_told(remark: Remarked) -> None:
    life = Life(remark).does(PlanRemoved("main"), by="user")
    assert life.is_open
    assert life.is_news
    assert life.told().end == PLAN_ENDED
    assert not life.is_news


@pytest.mark.parametrize("remark", [selection("s1"), suggestion(RemoveStep("s1"))], ids=repr)
def test_a_selection_and_a_suggestion_end_with_their_plan(remark: Remarked) -> None:
    assert Life(remark).does(PlanRemoved("main"), by="user").end == PLAN_ENDED


def test_a_plan_that_is_reopened_brings_back_the_remarks_that_ended_with_it_and_no_others() -> None:
    life = Life(on_plan()).does(on_step("s1"), on_plan()).told("r1", "r2", "r3")
    life.does(RemarkClosed("main", "r3", WITHDRAWN), by="user").does(PlanRemoved("main"))
    assert not any(each.is_open for each in life.record.remarks)
    life.does(PlanReopened("main"), by="user")
    assert [each.id for each in life.record.open_remarks] == ["r1", "r2"]
    assert life.is_news, "the agent may have stopped minding it"
    assert set(life.state.live()) == {"main"}


def test_a_remark_that_is_reopened_is_told_anew_and_can_end_again() -> None:
    life = Life(on_step("s1")).told().agent_does(SetStatus("s1", "completed"))
    assert life.end == FINISHED
    life.does(RemarkReopened("main", "r1"), by="user")
    assert life.is_news
    assert life.agent_does(SetStatus("s1", "pending"), SetStatus("s1", "completed")).is_open
    life.told().agent_does(SetStatus("s1", "pending"))
    assert life.agent_does(SetStatus("s1", "completed")).end == FINISHED


def test_a_suggestion_or_a_selection_that_is_open_again_takes_the_place_of_the_newer_one() -> None:
    for one, other in (
        (suggestion(RewordStep("s1", "x")), suggestion(RewordStep("s1", "y"))),
        (selection("s1"), selection("s2")),
    ):
        life = Life(one).does(other, by="ana").does(RemarkReopened("main", "r1"), by="bo")
        assert life.is_open
        [newer] = [each for each in life.record.remarks if each.id == "r2"]
        assert newer.closed is not None
        assert (newer.closed.how, newer.closed.by, newer.closed.text) == (SUPERSEDED, "bo", "r1")


@pytest.mark.parametrize("remark", [on_step("s1"), request(), suggestion(RemoveStep("s1"))], ids=lambda each: each.kind)
def test_a_list_that_is_cleared_for_a_moment_ends_nothing(remark: Remarked) -> None:
    life = Life(remark).told().does(PlanSet(ItemsPlan("main", ()), via=ACP))
    assert life.is_open
    assert life.does(PlanSet(LIST, via=ACP)).is_open
    life.does(PlanSet(ItemsPlan("main", ()), via=ACP), PlanSet(ItemsPlan("main", LIST.entries[1:]), via=ACP))
    assert not life.is_open


def test_a_comment_on_a_step_that_comes_back_finished_has_ended() -> None:
    finished = ItemsPlan("main", tuple(replace(each, status="completed") for each in LIST.entries))
    life = Life(on_step("s1")).told().does(PlanSet(ItemsPlan("main", ()), via=ACP), PlanSet(finished, via=ACP))
    assert life.end == FINISHED


def test_what_has_ended_stays_as_it_ended() -> None:
    life = Life(on_step("s1")).does(RemarkClosed("main", "r1", WITHDRAWN), by="ana")
    ended = life.remark.closed
    life.told().agent_does(SetStatus("s1", "completed"))
    life.does(RemarkClosed("main", "r1", "otherwise"), RemarkAnswered("main", "r1", "x"), PlanRemoved("main"))
    assert life.remark.closed == ended


def test_all_open_remarks_are_held_and_the_last_ones_that_ended() -> None:
    life = Life(on_plan(kept=True))
    for number in range(2, MOST_CLOSED + 12):
        life.does(on_plan(), RemarkClosed("main", f"r{number}", WITHDRAWN), by="user")
    life.does(TurnEnded("end_turn"))
    assert [each.id for each in life.record.open_remarks] == ["r1"]
    held = [each.id for each in life.record.remarks if each.closed]
    assert held == [f"r{number}" for number in range(12, MOST_CLOSED + 12)]


def test_a_change_of_another_plan_ends_nothing() -> None:
    life = Life(on_step("s1")).told()
    life.does(PlanSet(ItemsPlan("other", (Entry("read", None, "completed"),))), PlanRemoved("other"))
    assert life.is_open


def test_a_note_of_an_agent_ends_nothing() -> None:
    for remark in (on_step("s1"), request(), selection("s1"), suggestion(RemoveStep("s1"))):
        assert Life(remark).told().does(PlanChanged("main", "going on")).is_open


def test_a_remark_keeps_all_that_was_said() -> None:
    said = Remarked(
        "main",
        SUGGESTION,
        "so",
        1,
        "s1",
        Passage("a", "re", "d"),
        ("s1",),
        (RemoveStep("s1"),),
        7,
        kept=True,
        about={"s1": "read"},
        way="by a script",
    )
    fields = {each: getattr(said, each) for each in said.__struct_fields__ if each not in ("id", "carried", "way")}
    assert Life(said, by="ana").remark == Remark(id="r1", seq=2, at=0, by="ana (by a script)", **fields)
