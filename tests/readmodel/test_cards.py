"""Cards: the same as long as their plans are, and the same rules for every face."""

import pytest

from planwire.model.events import (
    APPROVED,
    CHANGES_REQUESTED,
    COMMENTED,
    Comment,
    PlanReviewed,
    PlanSet,
    ReviewAsked,
    SessionOpened,
    TurnEnded,
)
from planwire.model.fold import AGENT
from planwire.model.plan import Entry, ItemsPlan
from tests.readmodel.shown_plans import shown


def told(*statuses: str) -> tuple[str, PlanSet]:
    return AGENT, PlanSet(ItemsPlan("main", tuple(Entry(f"step {at}", None, each) for at, each in enumerate(statuses))))


def test_a_plan_that_did_not_change_is_the_same_card() -> None:
    session = shown(told("pending", "pending"))
    assert session.cards()[0] is session.cards()[0]
    assert session.cards({"main": "Let me think."})[0].thinking == "Let me think."


def test_cards_share_the_rows_of_steps_that_did_not_change() -> None:
    [before], [after] = (shown(told("pending", *now)).cards() for now in (("pending",), ("completed",)))
    assert before.rows[0] is after.rows[0]
    assert (before.rows[1].is_done, after.rows[1].is_done) == (False, True)


def test_a_row_knows_that_its_agent_stopped() -> None:
    plan = told("in_progress")
    [goes_on], [ended] = shown(plan).cards(), shown(plan, (AGENT, TurnEnded("cancelled"))).cards()
    assert (goes_on.rows[0].look, ended.rows[0].look) == ("current", "stopped")


@pytest.mark.parametrize(
    ("client", "asker"),
    [("Zed 1.2.0", "Zed"), ("zed", "zed"), ("My Editor", "My Editor"), (None, "your editor"), ("2", "2")],
)
def test_a_question_with_options_is_answered_in_the_client_that_asks_it(client: str | None, asker: str) -> None:
    plan = (AGENT, SessionOpened(client=client)), told("pending")
    [here], [there] = (shown(*plan, (AGENT, ReviewAsked("main", options))).cards() for options in ((), ("Yes", "No")))
    assert (here.waits_here, there.waits_here, there.client_name) == (True, False, asker)


def test_the_reviews_to_show_are_those_without_an_answer_the_last_verdict_and_the_last_comment() -> None:
    def said(verdict: str, text: str, step: str | None = None) -> tuple[str, PlanReviewed]:
        return "user", PlanReviewed("main", 1, verdict, (Comment(text, step),))

    reviews = (
        said(COMMENTED, "first"),
        said(CHANGES_REQUESTED, "smaller"),
        said(COMMENTED, "second"),
        said(APPROVED, "go on"),
    )
    [asked], [answered] = (shown(told("pending"), *reviews, *more).cards() for more in ((), (told("completed"),)))
    assert [each.comments[0] for each in asked.shown_reviews] == ["first", "smaller", "second", "go on"]
    assert [each.comments[0] for each in answered.shown_reviews] == ["second", "go on"]
    [on_step] = shown(told("pending"), said(COMMENTED, "here", "s1")).cards()
    assert on_step.shown_reviews == ()
