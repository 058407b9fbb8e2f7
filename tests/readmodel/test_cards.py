"""Cards: the same as long as their plans are, and the same rules for every face."""

import pytest

from planwire.model.events import (
    ACP,
    APPROVED,
    CHANGES_REQUESTED,
    COMMENTED,
    AddStep,
    Comment,
    PlanChanged,
    PlanReviewed,
    PlanSet,
    ReviewAsked,
    RewordStep,
    SessionOpened,
    TurnEnded,
)
from planwire.model.plan import Entry, ItemsPlan
from planwire.model.records import AGENT
from planwire.readmodel.card import STATUS_LOOKS, STOPPED, offers_by_look
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


def test_a_card_knows_where_a_new_step_goes_and_with_which_words_a_rewording_begins() -> None:
    plan = AGENT, PlanSet(ItemsPlan("main", tuple(Entry(text, None, "pending") for text in ("one", "two"))), via=ACP)
    changes = (
        PlanChanged("main", None, (RewordStep("s1", "first"),)),
        PlanChanged("main", None, (AddStep("new", "s1"),)),
    )
    [card], [empty] = shown(plan, *(("user", each) for each in changes)).cards(), shown(told()).cards()
    new = str(card.suggestions[1].number)
    assert [card.place_below(target) for target in ("s2", new, None)] == ["s2", "s1", ""]
    assert empty.place_below(None) is None
    assert [card.wording_of(target) for target in ("s1", "s2", new)] == ["first", "two", "new"]


def test_a_person_is_asked_first_where_there_is_no_way_back() -> None:
    plan = ItemsPlan("main", (Entry("one", None, "pending"),))
    [own], [agents] = (shown((AGENT, PlanSet(plan, via=via))).cards() for via in ("tools", ACP))
    assert [act for act in own.acts if own.asks_first(act)] == ["remove", "dismiss"]
    assert [act for act in agents.acts if agents.asks_first(act)] == ["dismiss"]


def test_stopped_work_is_offered_what_work_in_progress_is() -> None:
    offers = offers_by_look()
    assert [*offers] == [*STATUS_LOOKS]
    assert offers[STOPPED] == offers["current"]
    [ended] = shown(told("in_progress"), (AGENT, TurnEnded("cancelled"))).cards()
    assert ended.rows[0].offers == offers[ended.rows[0].look]


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
