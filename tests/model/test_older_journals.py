"""Journals from before remarks: what people said in them is read as remarks, and nobody is told of it again."""

from planwire.model.events import (
    ACP,
    APPROVED,
    CHANGES_REQUESTED,
    COMMENTED,
    Comment,
    PlanChanged,
    PlanReviewed,
    PlanSet,
    RemarkReopened,
    SuggestionWithdrawn,
)
from planwire.model.remarks import FOLLOWED, MOST_CLOSED, OLDER, SUPERSEDED, WITHDRAWN
from planwire.model.step_changes import AddStep, RewordStep
from planwire.model.unheard import news, standing
from tests.model.lives import LIST, Life, reminder


def of_old(*, via: str = ACP) -> Life:
    return Life(PlanSet(LIST, via=via))


def test_comments_and_selections_inside_a_review_are_told_and_closed() -> None:
    comments = Comment("hm"), Comment("why?", "s1"), Comment("here", None, "a passage")
    life = of_old().does(PlanReviewed("main", 1, CHANGES_REQUESTED, comments, ("s1", "s2")), by="ana")
    assert [(each.id, each.kind, each.text, each.step, each.quote) for each in life.record.remarks] == [
        ("r1", "comment", "hm", None, None),
        ("r2", "comment", "why?", "s1", None),
        ("r3", "comment", "here", None, "a passage"),
        ("r4", "selection", "", None, None),
    ]
    assert life.record.remarks[3].steps == ("s1", "s2")
    assert {(each.by, each.revision, each.closed and each.closed.how) for each in life.record.remarks} == {
        ("ana", 1, OLDER)
    }
    assert all(each.told for each in life.record.remarks)
    assert life.record.review is not None
    assert life.record.review.verdict == CHANGES_REQUESTED


def test_nobody_is_told_again_of_what_an_older_review_said() -> None:
    for via in ("acp", "tools"):
        life = of_old(via=via).does(PlanReviewed("main", 1, APPROVED, (Comment("go"),), ("s1",)), by="user")
        assert not news(life.state)
        assert [each["said"] for each in standing(life.state).items] == ["verdict"], "that it was approved still holds"


def test_the_first_telling_counts_also_if_a_reminder_came_later() -> None:
    life = of_old().does(PlanReviewed("main", 1, COMMENTED, (Comment("hm"),)), by="user").does(reminder(2), by="relay")
    assert life.remark.told is not None
    assert life.remark.told.seq == 2


def test_an_older_comment_without_a_verdict_is_no_verdict() -> None:
    life = of_old().does(PlanReviewed("main", 1, COMMENTED, (Comment("hm"),)), by="user")
    assert life.record.reviews == ()
    assert len(life.record.remarks) == 1


def test_people_can_reopen_what_an_older_review_said() -> None:
    life = of_old().does(PlanReviewed("main", 1, COMMENTED, (Comment("hm"),)), RemarkReopened("main", "r1"), by="user")
    assert life.is_open
    assert life.is_news


def test_the_state_holds_only_the_last_of_many_older_comments() -> None:
    life = of_old()
    for _ in range(MOST_CLOSED):
        life.does(PlanReviewed("main", 1, COMMENTED, (Comment("hm"), Comment("hm, hm"))), by="user")
    assert len(life.record.remarks) == MOST_CLOSED
    assert life.record.remarks[-1].id == f"r{2 * MOST_CLOSED}"


def test_an_older_suggestion_is_open_until_it_is_followed_withdrawn_or_superseded() -> None:
    life = of_old().does(PlanChanged("main", "please", (AddStep("ship"),)), PlanChanged("main", "hurry"), by="ana")
    assert [(each.id, each.kind, each.by, each.note) for each in life.record.suggestions] == [
        ("r1", "suggestion", "ana", "please"),
        ("r2", "suggestion", "ana", "hurry"),
    ]
    assert life.record.revision == 3, "as it was then: people's acts name such revisions"
    assert life.does(PlanSet(LIST, via=ACP)).is_open
    assert life.agent_does(AddStep("ship")).end == FOLLOWED
    life.does(SuggestionWithdrawn("main", 3), by="bo")
    [withdrawn] = [each for each in life.record.remarks if each.id == "r2"]
    assert withdrawn.closed is not None
    assert (withdrawn.closed.how, withdrawn.closed.by) == (WITHDRAWN, "bo")
    again = of_old().does(*(PlanChanged("main", None, (RewordStep("s1", text),)) for text in "xy"), by="ana")
    assert again.end == SUPERSEDED


def test_a_withdrawal_of_a_suggestion_that_never_was_withdraws_none() -> None:
    life = of_old().does(PlanChanged("main", "hurry"), SuggestionWithdrawn("main", 99), by="ana")
    assert life.is_open
