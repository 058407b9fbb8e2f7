"""What an agent is to be told, and the stages of telling it."""

import msgspec
import pytest

from planwire.model.events import (
    ACP,
    APPROVED,
    CHANGES_REQUESTED,
    COMMENT,
    DISMISSED,
    OFFERED,
    REFUSED,
    TOOLS,
    Passage,
    PlanChanged,
    PlanRemoved,
    PlanReviewed,
    PlanSet,
    RemarkAnswered,
    RemarkClosed,
    Remarked,
    ReviewAsked,
    Told,
)
from planwire.model.passages import passage_named
from planwire.model.plan import MarkdownPlan
from planwire.model.remarks import WITHDRAWN
from planwire.model.step_changes import AddStep, RewordStep, SetStatus
from planwire.model.unheard import GONE_QUOTE, NEWS_BYTES, RETOLD_BYTES, Words, has_word, news, standing
from tests.model.lives import LIST, Life, on_plan, on_step, reminder, request, selection, suggestion


def said(words: Words) -> list[tuple[str, str]]:
    return [(each["said"], each["by"]) for each in words.items]


def own() -> Life:
    """A session with a list of planwire's tools."""
    return Life(PlanSet(LIST, via=TOOLS))


# -- news


def test_news_are_the_words_of_people_in_the_order_in_which_they_came() -> None:
    life = Life(on_step("s1"), by="ana").does(request(), selection("s1"), suggestion(AddStep("ship")), by="user")
    life.does(PlanReviewed("main", 1, APPROVED, via="planwire"), by="user")
    assert said(news(life.state)) == [
        ("comment", "ana"),
        ("request", "user"),
        ("selection", "user"),
        ("suggestion", "user"),
        ("verdict", "user"),
    ]
    first = news(life.state).items[0]
    assert first == {"said": "comment", "id": "r1", "by": "ana", "plan_id": "main", "step": "s1", "text": "why?"}


def test_a_passage_is_told_with_which_one_it_is_and_when_the_text_has_lost_it() -> None:
    text = "Run the job.\n\nTest it.\n\nRun the job.\n\nShip it."
    plan = MarkdownPlan("main", text)
    about = passage_named(plan, Passage("the job", "", "", 2))
    life = Life(PlanSet(plan, via=ACP)).does(Remarked("main", COMMENT, "why?", passage=about), by="user")
    [item] = news(life.state).items
    assert (item["quote"], item["occurrence"], "quote_is" in item) == ("the job", "2 of 2", False)
    life.does(PlanSet(MarkdownPlan("main", text.replace("Run the job.\n\nTest it", "Test it")), via=ACP), by="agent")
    [item] = news(life.state).items
    assert item == {"said": "comment", "id": "r1", "by": "user", "plan_id": "main", "quote": "the job", "text": "why?"}
    life.does(PlanSet(MarkdownPlan("main", "Run the job once a week, if at all."), via=ACP), by="agent")
    [item] = news(life.state).items
    assert (item["quote"], item["quote_is"]) == ("the job", GONE_QUOTE)


def test_the_agent_is_not_told_what_it_said_itself_or_what_its_client_said_for_it() -> None:
    for author in ("agent", "client", "relay"):
        life = Life(on_plan(), by=author).does(PlanReviewed("main", 1, APPROVED, via="planwire"), by=author)
        assert not news(life.state)


def test_only_the_last_verdict_is_news_and_one_that_says_nothing_is_none() -> None:
    life = own().does(PlanReviewed("main", 1, CHANGES_REQUESTED, via="planwire"), by="ana")
    life.does(PlanReviewed("main", 1, APPROVED, via="planwire"), by="bo")
    assert said(news(life.state)) == [("verdict", "bo")]
    assert not news(life.does(PlanReviewed("main", 1, DISMISSED, via="planwire"), by="bo").state)


def test_the_end_of_a_remark_is_news_if_the_agent_knew_it_and_did_not_end_it() -> None:
    life = Life(on_plan()).does(on_step("s1"), by="user").told("r1")
    life.does(RemarkClosed("main", "r1", WITHDRAWN, "not now"), RemarkClosed("main", "r2", WITHDRAWN), by="user")
    [item] = news(life.state).items
    assert item == {
        "said": "closed",
        "by": "user",
        "plan_id": "main",
        "id": "r1",
        "how": WITHDRAWN,
        "text": "not now",
    }
    answered = Life(on_step("s1")).told().does(RemarkAnswered("main", "r1", "done"))
    assert not answered.is_open
    assert not news(answered.state)


def test_peoples_changes_to_a_plan_of_the_tools_are_news_until_the_agent_is_told() -> None:
    life = own().does(PlanChanged("main", "so", (RewordStep("s1", "x"),)), by="ana")
    assert said(news(life.state)) == [("edit", "ana")]
    assert not news(life.state, edits=False)
    assert said(news(life.agent_does(SetStatus("s1", "completed")).state)) == [("edit", "ana")]
    assert not news(life.does(Told("tool", life.state.seq)).state)
    assert said(news(life.does(PlanSet(LIST), by="bo").state)) == [("set", "bo")]
    assert said(news(life.does(PlanRemoved("main"), by="bo").state)) == [("removed", "bo")]
    assert not news(own().does(PlanRemoved("main")).state)


# -- the stages of a telling


def test_what_is_offered_is_news_still_and_says_that_it_may_have_been_said() -> None:
    life = Life(on_plan()).does(Told("context", 2, remarks=("r1",), request="a", stage=OFFERED))
    [item] = news(life.state).items
    assert item["said_before"] == "perhaps"
    assert (life.remark.told, life.state.told, life.state.placed) == (None, 0, 2)
    life.does(Told("context", 2, remarks=("r1",), request="a"))
    assert not news(life.state)
    assert (life.remark.offered, life.state.told) == (None, 2)
    assert life.remark.told is not None
    assert (life.remark.told.way, life.remark.told.request) == ("context", "a")


def test_a_way_that_puts_nothing_into_the_chat_leaves_what_is_placed_there() -> None:
    for way in ("tool", "prompt", "recap"):
        assert Life(on_plan()).does(Told(way, 2, remarks=("r1",), stage=OFFERED)).state.placed == 0


def test_what_is_refused_is_news_again() -> None:
    life = Life(on_plan()).does(PlanReviewed("main", 1, APPROVED, via="planwire"), by="user")
    before = news(life.state)
    life.does(Told("prompt", 3, 0, ("r1",), "a"), by="relay")
    assert not news(life.state)
    life.does(Told("prompt", 3, 0, (), "b", REFUSED), by="relay")
    assert life.remark.told is not None, "another request"
    life.does(Told("prompt", 3, 0, (), "a", REFUSED), by="relay")
    assert news(life.state).items == before.items


def test_an_offer_that_is_refused_was_never_said() -> None:
    life = Life(on_plan()).does(Told("prompt", 2, 0, ("r1",), "a", OFFERED), Told("prompt", 2, 0, (), "a", REFUSED))
    assert "said_before" not in news(life.state).items[0]


def test_a_reminder_that_is_refused_is_told_again() -> None:
    """The relay writes down the block as a message, and beside it the telling that names it."""
    life = Life(on_plan()).does(reminder(2), Told("prompt", 2, 0, ("r1",), "a"), by="relay")
    assert not life.is_news
    assert life.does(Told("prompt", 2, 0, (), "a", REFUSED), by="relay").is_news


def test_the_first_telling_of_a_remark_counts() -> None:
    life = Life(on_plan()).told().does(Told("tool", 3, remarks=("r1",), request="b"))
    assert life.remark.told is not None
    assert (life.remark.told.way, life.remark.told.request) == ("prompt", "a")


def test_a_telling_of_nothing_tells_no_remark() -> None:
    assert Life(on_plan()).does(Told("prompt", 99)).is_news


# -- all that holds


def test_all_that_holds_is_every_open_remark_and_the_last_verdict_on_each_living_plan() -> None:
    life = Life(on_plan()).does(on_step("s1"), on_plan(), by="user").told("r1", "r2")
    life.does(PlanReviewed("main", 1, APPROVED, via="planwire"), RemarkClosed("main", "r3", WITHDRAWN), by="user")
    words = standing(life.state)
    assert [each.get("id") for each in words.items] == ["r1", "r2", None]
    assert words.remarks == ()
    assert said(standing(life.agent_does(AddStep("ship")).state))[-1] == ("comment", "user"), (
        "a stale verdict binds none"
    )
    assert [each["id"] for each in standing(life.state, without={"r1"}).items] == ["r2"]


def test_a_verdict_on_a_plan_that_has_ended_does_not_hold() -> None:
    life = Life(PlanSet(MarkdownPlan("main", "# A")), ReviewAsked("main"))
    life.does(PlanReviewed("main", 1, CHANGES_REQUESTED, via="planwire"), by="user")
    assert said(news(life.state)) == [("verdict", "user")]
    assert not standing(life.state)


@pytest.mark.parametrize(("tell", "most"), [(standing, RETOLD_BYTES), (news, NEWS_BYTES)], ids=["standing", "news"])
def test_more_than_fits_has_what_is_kept_in_force_then_the_newest_and_the_ids_of_the_others(
    tell: object, most: int
) -> None:
    life = Life(Remarked("main", COMMENT, "x" * 3_000, kept=True))
    for _ in range(most // 3_000 + 3):
        life.does(Remarked("main", COMMENT, "y" * 3_000), by="user")
    words = tell(life.state)  # type: ignore[operator]
    assert sum(len(msgspec.json.encode(each)) for each in words.items) <= most
    full = [each["id"] for each in words.items]
    every = [each.id for each in life.record.open_remarks]
    assert full[0] == "r1"
    assert words.items[0]["in_force"] is True
    assert [*words.besides] == every[1 : len(words.besides) + 1]
    assert full[1:] == every[len(words.besides) + 1 :]
    assert set(words.remarks) == set(every), "an id tells of a remark, too"


# -- a call that waits


def test_a_word_is_one_on_that_plan_that_the_agent_has_not_heard_or_that_came_since() -> None:
    life = Life(on_plan())
    assert has_word(life.state, "main", since=9)
    assert not has_word(life.state, "other", since=0)
    life.told()
    assert (has_word(life.state, "main", since=1), has_word(life.state, "main", since=2)) == (True, False)
    life.does(PlanReviewed("main", 1, APPROVED, via="planwire"), by="user")
    assert has_word(life.state, "main", since=9)
    assert not has_word(Life(on_plan(), by="agent").state, "main", since=0)


def test_no_message_of_the_chat_tells_anything() -> None:
    assert Life(on_plan()).does(reminder(9)).is_news
