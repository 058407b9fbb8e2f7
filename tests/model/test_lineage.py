"""Which plans are living: the life of a proposal, and that of every other plan."""

import pytest

from planwire.model.events import (
    APPROVED,
    CHANGES_REQUESTED,
    COMMENT,
    DISMISSED,
    REQUEST,
    Event,
    PlanChanged,
    PlanRemoved,
    PlanReopened,
    PlanReviewed,
    PlanSet,
    Remarked,
    ReviewAsked,
    TurnEnded,
)
from planwire.model.lineage import CARRIED_OUT, REJECTED, REPLACED, is_told_by_title
from planwire.model.plan import Entry, FilePlan, ItemsPlan, MarkdownPlan, Plan
from planwire.model.step_changes import SetStatus
from tests.model.lives import Life


def proposal(plan_id: str = "main", text: str = "") -> tuple[Event, ...]:
    return PlanSet(MarkdownPlan(plan_id, text or f"# {plan_id}")), ReviewAsked(plan_id)


def a_list(*statuses: str, plan_id: str = "list") -> PlanSet:
    return PlanSet(ItemsPlan(plan_id, tuple(Entry(f"step {at}", None, each) for at, each in enumerate(statuses))))


def verdict(word: str, plan_id: str = "main") -> PlanReviewed:
    return PlanReviewed(plan_id, 1, word, via="planwire")


def living(life: Life) -> list[str | None]:
    return [*life.state.living()]


def test_a_plan_that_nobody_was_asked_about_lives_until_it_is_removed() -> None:
    life = Life(PlanSet(MarkdownPlan("main", "# Notes"))).does(verdict(CHANGES_REQUESTED), by="user")
    life.does(*proposal("other"), verdict(APPROVED, "other"), a_list("completed"))
    assert living(life) == ["main", "list"]
    assert living(life.does(PlanRemoved("main"))) == ["list"]


def test_a_list_is_no_proposal() -> None:
    life = Life(a_list("pending", plan_id="main"), ReviewAsked("main")).does(verdict(CHANGES_REQUESTED), by="user")
    assert not life.record.is_proposal
    assert living(life) == ["main"]


def test_a_proposal_that_is_rejected_ends_and_lives_again_with_a_new_version() -> None:
    life = Life(*proposal()).does(verdict(CHANGES_REQUESTED), by="user")
    assert (life.record.ended, living(life)) == (REJECTED, [])
    assert set(life.state.live()) == {"main"}, "it is history, and still there"
    life.does(PlanSet(MarkdownPlan("main", "# main, smaller")))
    assert (life.record.ended, living(life)) == ("", ["main"])
    assert life.record.is_proposal


def test_a_verdict_that_decides_nothing_ends_no_proposal() -> None:
    for word in (DISMISSED, APPROVED, "hm"):
        assert living(Life(*proposal()).does(verdict(word), by="user")) == ["main"]


def test_a_proposal_that_was_rejected_and_then_approved_lives() -> None:
    life = Life(*proposal()).does(verdict(CHANGES_REQUESTED), verdict(APPROVED), by="user")
    assert living(life) == ["main"]


@pytest.mark.parametrize("word", ["", APPROVED], ids=["open", "approved"])
def test_a_later_proposal_replaces_those_before_it(word: str) -> None:
    life = Life(*proposal())
    if word:
        life.does(verdict(word), by="user")
    life.does(PlanSet(MarkdownPlan("second", "# Second")))
    assert living(life) == ["main", "second"], "a text that nobody is asked about replaces nothing"
    life.does(ReviewAsked("second"))
    assert (life.record.ended, life.record.asked, living(life)) == (REPLACED, None, ["second"])


def test_a_plan_file_is_a_proposal_too() -> None:
    plan: Plan = FilePlan("main", "file:///plan.md")
    assert living(Life(PlanSet(plan), ReviewAsked("main")).does(*proposal("second"))) == ["second"]


def test_the_same_proposal_asked_again_replaces_only_others() -> None:
    assert living(Life(*proposal()).does(ReviewAsked("main"))) == ["main"]


def test_an_approved_proposal_is_carried_out_by_the_first_list_that_is_set_after_that() -> None:
    life = Life(a_list("pending", plan_id="old"), *proposal()).does(verdict(APPROVED), by="user")
    life.does(a_list("completed", "pending"))
    assert living(life) == ["old", "main", "list"]
    life.does(a_list("completed", plan_id="second"))
    assert life.record.ended == "", "the second list is not the one"
    life.does(a_list("completed", "cancelled"))
    assert (life.record.ended, living(life)) == (CARRIED_OUT, ["old", "list", "second"])


def test_a_tick_carries_a_proposal_out_like_a_new_list_does() -> None:
    life = Life(*proposal()).does(verdict(APPROVED), by="user").does(a_list("pending"))
    assert life.does(PlanChanged("list", None, (SetStatus("s1", "completed"),))).record.ended == CARRIED_OUT


def test_a_tick_on_a_list_that_was_there_before_the_approval_carries_nothing_out() -> None:
    life = Life(a_list("pending", plan_id="old"), *proposal()).does(verdict(APPROVED), by="user")
    life.does(PlanChanged("old", None, (SetStatus("s1", "completed"),)), by="user")
    assert living(life) == ["old", "main"]
    assert life.does(a_list("completed")).record.ended == CARRIED_OUT


def test_a_list_before_the_approval_an_empty_one_and_another_text_carry_nothing_out() -> None:
    life = Life(*proposal()).does(a_list("completed"))
    assert life.record.ended == ""
    life.does(verdict(APPROVED), by="user").does(a_list(), PlanSet(MarkdownPlan("text", "- [x] done\n")))
    assert life.record.ended == ""
    assert life.does(a_list("completed")).record.ended == "", "it is the list from before"
    assert life.does(a_list("completed", "completed")).record.ended == CARRIED_OUT


def test_a_second_approval_keeps_the_list_that_carries_it_out() -> None:
    life = Life(*proposal()).does(verdict(APPROVED), by="user").does(a_list("pending"))
    life.does(verdict(APPROVED), by="ana")
    assert life.does(PlanChanged("list", None, (SetStatus("s1", "completed"),))).record.ended == CARRIED_OUT


def test_an_approval_is_of_a_wording() -> None:
    life = Life(*proposal()).does(verdict(APPROVED), by="user").does(*proposal("main", "# main, larger"))
    assert life.does(a_list("completed")).record.ended == "", "nobody approved the larger one"


def test_an_approved_proposal_without_a_list_is_told_by_its_title_after_the_second_turn() -> None:
    def by_title(life: Life) -> bool:
        return is_told_by_title(life.state, life.record)

    life = Life(*proposal(), TurnEnded("end_turn"), TurnEnded("end_turn"))
    assert not by_title(life)
    life.does(verdict(APPROVED), by="user")
    assert [by_title(life.does(TurnEnded("end_turn"))) for _ in range(3)] == [False, True, True]
    assert not by_title(life.does(a_list("pending"))), "now it has a list"


def test_people_reopen_a_proposal_however_it_ended() -> None:
    ends: tuple[tuple[Event, ...], ...] = (
        (verdict(CHANGES_REQUESTED),),
        proposal("second"),
        (verdict(APPROVED), a_list("completed")),
        (PlanRemoved("main"),),
    )
    for end in ends:
        life = Life(*proposal()).does(*end, by="user")
        assert "main" not in life.state.living()
        revision = life.record.revision
        life.does(PlanReopened("main"), by="user")
        assert "main" in life.state.living()
        assert life.record.revision > revision, "who saw it ended decides again"
        reopened = life.record
        assert life.does(PlanReopened("main"), by="user").record == reopened, "once"


def test_what_was_said_with_a_rejection_is_for_the_next_proposal() -> None:
    said = Remarked("main", REQUEST, "smaller"), Remarked("main", COMMENT, "and faster")
    life = Life(*proposal()).does(*said, verdict(CHANGES_REQUESTED), by="user").told("r1", "r2")
    assert life.is_open
    assert life.does(*proposal("second")).end == "revised"
    comment = life.state.remark("r2")
    assert comment is not None
    assert comment.closed is not None
    assert comment.closed.how == "plan_ended"
    life.does(PlanReopened("main"), by="user")
    assert [each.id for each in life.record.open_remarks] == ["r2"], "the request was heeded"


def test_what_was_said_of_a_proposal_ends_with_it() -> None:
    life = Life(*proposal()).does(Remarked("main", COMMENT, "use tomllib"), verdict(APPROVED), by="user").told()
    assert life.does(a_list("completed")).end == "plan_ended"
