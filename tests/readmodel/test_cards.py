"""Cards: the same as long as their plans are, and the same rules for every face."""

import pytest

from planwire.model.events import (
    ACP,
    APPROVED,
    COMMENT,
    SELECTION,
    SUGGESTION,
    Choice,
    Event,
    PlanReviewed,
    PlanSet,
    Remarked,
    ReviewAsked,
    SessionOpened,
    Told,
    TurnEnded,
)
from planwire.model.plan import Entry, ItemsPlan, MarkdownPlan
from planwire.model.records import AGENT
from planwire.model.step_changes import AddStep, RewordStep
from planwire.readmodel.card import ENDED_WORDS, STATUS_LOOKS, STOPPED, offers_by_look
from tests.readmodel.shown_plans import shown

YES = Choice("yes", "Yes")


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
    [("Zed 1.2.0", "Zed"), ("zed", "zed"), ("My Editor", "My Editor"), (None, "the editor"), ("2", "2")],
)
def test_a_question_with_options_is_answered_in_the_client_that_asks_it(client: str | None, asker: str) -> None:
    plan = (AGENT, SessionOpened(client=client)), told("pending")
    [here], [there] = (shown(*plan, (AGENT, ReviewAsked("main", options))).cards() for options in ((), (YES,)))
    assert (here.waits_here, there.waits_here, there.client_name) == (True, False, asker)


def test_a_card_knows_where_a_new_step_goes_and_with_which_words_a_rewording_begins() -> None:
    plan = AGENT, PlanSet(ItemsPlan("main", tuple(Entry(text, None, "pending") for text in ("one", "two"))), via=ACP)
    changes = (
        Remarked("main", SUGGESTION, changes=(RewordStep("s1", "first"),)),
        Remarked("main", SUGGESTION, changes=(AddStep("new", "s1"),)),
    )
    [card], [empty] = shown(plan, *(("user", each) for each in changes)).cards(), shown(told()).cards()
    new = card.suggestions[1].id
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


def test_a_card_shows_what_people_said_where_it_belongs_and_what_became_of_it() -> None:
    said: tuple[tuple[str, Event], ...] = (
        ("user", Remarked("main", COMMENT, "first")),
        ("ana", Remarked("main", COMMENT, "here", step="s1")),
        ("ana", Remarked("main", COMMENT, "it is gone", step="s9")),
        ("user", Remarked("main", SELECTION, steps=("s1",))),
        ("user", PlanReviewed("main", 1, APPROVED, via="planwire")),
        (AGENT, Told("tool", 5, remarks=("r1", "r2"))),
    )
    [card] = shown(told("pending", "pending"), *said).cards()
    assert [each.text for each in card.remarks] == ["first", "it is gone", ""]
    assert [each.text for each in card.rows[0].remarks] == ["here"]
    assert [each.id for each in card.open_remarks] == ["r1", "r2", "r3", "r4"]
    assert [each.delivery for each in card.open_remarks] == ["Seen", "Seen", "Queued", "Queued"]
    assert [bool(each.heard) for each in card.open_remarks] == [False, False, True, True]
    assert [tag.text for tag in card.rows[0].tags] == ["to run"]
    assert card.verdict is not None
    assert (card.verdict.words, card.verdict.stale) == ("approved (revision 1)", False)
    [done] = shown(told("pending", "pending"), *said, told("completed", "pending")).cards()
    assert [(each.id, each.delivery) for each in done.closed_remarks] == [("r2", "Done"), ("r4", "Done")]
    assert done.rows[0].tags == ()
    assert done.verdict is not None
    assert not done.verdict.stale


def test_a_proposal_that_has_ended_stands_behind_all_others_and_says_how() -> None:
    text = AGENT, PlanSet(MarkdownPlan("first", "# First"))
    asked: tuple[tuple[str, Event], ...] = (text, (AGENT, ReviewAsked("first")))
    later: tuple[tuple[str, Event], ...] = (
        (AGENT, PlanSet(MarkdownPlan("second", "# Second"))),
        (AGENT, ReviewAsked("second")),
    )
    cards = shown(*asked, *later).cards()
    assert [(card.id, card.ended_words) for card in cards] == [("second", ""), ("first", ENDED_WORDS["replaced"])]
    assert "reopen" in cards[1].acts


def test_a_client_or_an_agent_by_a_persons_name_does_not_pass_for_them() -> None:
    for name in ("Ann", "user", "Ann 1.0", "\u202eAnn", "Ann (by a script)", "you"):
        opened = AGENT, SessionOpened(agent=name, client=name)
        [card] = shown(opened, told("pending"), ("client", PlanReviewed("main", 2, APPROVED))).cards()
        [review] = card.reviews
        assert card.giver(review).startswith("someone in ")
        assert card.giver(review) not in ("Ann", "user", "you")
        assert not {*"()\u202e"} & {*card.giver(review)}
