"""Answers from the board: the agent's own options, what became of an answer, and words that the agent hears now."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from planwire.journal import Terms
from planwire.model.events import APPROVED, CHANGES_REQUESTED, Choice, PlanReviewed, ReviewAsked, SessionOpened, Told
from planwire.model.records import ANSWER
from tests.waiting import until
from tests.web.board import items
from tests.web.steering import Here
from tests.web.test_asked import proposal, replies, section

YES, ALWAYS, NO = (
    Choice("y", "Yes, and ask", "allow_once"),
    Choice("a", "Yes to all", "allow_always"),
    Choice("n", "No, keep planning", "reject_once"),
)
ASKED = ReviewAsked("plan-mode", (ALWAYS, YES, NO), "q1")
OPENED = SessionOpened("claude 1", "Zed 0.210.1", "/work", "Port it")


@contextmanager
def reached(here: Here, *can: str, works: bool = True) -> Iterator[None]:
    """The session is held by a relay that can do this for people."""
    lease = here.journal.lease(here.session, Terms("relay", works, can))
    try:
        yield
    finally:
        lease.release()


def asks(here: Here, *events: Any) -> None:
    here.write(OPENED, proposal("1. Read"), *(events or (ASKED,)))


def answer(here: Here, **body: Any) -> Any:
    return here.act("review", "plan-mode", **body)


def test_the_agents_own_options_are_the_buttons_in_its_order(here: Here) -> None:
    with reached(here, "answer"):
        asks(here)
        page = here.page()
    assert replies(page) == [
        (each.name, {"act": "review", "option": each.id, "question": "q1"}) for each in (ALWAYS, YES, NO)
    ]
    assert re.findall(r'class="primary"[^>]*><span>([^<]*)<', page) == [YES.name]
    assert "The agent asks for approval" in section(page)
    assert "The agent will see your words with the next prompt in Zed." in page
    assert 'data-act="review"' not in page, "the bar has the answers, so the plan needs no button for a review"


def test_no_button_is_loud_unless_the_agent_asks(here: Here) -> None:
    here.write(OPENED, proposal("1. Read"), items("pending"))
    assert 'class="primary"' not in here.page()
    asks(here)
    assert replies(here.page()) == [], "nobody can give the answer to the agent, so it is given in the editor"
    assert "It can only be answered in Zed:" in here.page()


def test_an_answer_says_where_it_is_until_the_agent_has_it(here: Here) -> None:
    with reached(here, "answer"):
        asks(here)
        said = answer(here, option="n", question="q1", text="smaller steps").json()
        assert said["words"].startswith(
            "Changes requested, with 1 comment. Queued for the agent: “No, keep planning”. "
        )
        page = here.page()
        assert "You answered “No, keep planning”: on its way to the agent." in section(page)
        assert replies(page) == []
        assert ">needs you<" in page
        here.write(Told(upto=0, way=ANSWER, request="q1"), by="relay")
        page = here.page()
    assert section(page) == ""
    assert ">needs you<" not in page
    assert re.search(r'delivery-(delivered|seen)">(Delivered|Seen) <time ', page)


def test_the_second_of_two_people_is_told_who_answered_what(here: Here) -> None:
    with reached(here, "answer"):
        asks(here)
        assert answer(here, option="y", question="q1").status_code == 200
        late = answer(here, option="n", question="q1")
        assert (late.status_code, late.json()["unchanged"]) == (200, True)
        assert late.json()["words"] == "user answered already: “Yes, and ask”."
        here.write(Told(upto=0, way=ANSWER, request="q1"), by="relay")
        later = answer(here, option="n", question="q1")
    assert later.status_code == 422
    over = "The agent's question is over: “Yes, and ask” was the answer (user). Nothing was sent."
    assert later.json()["error"] == over


def test_a_verdict_that_several_options_could_mean_is_asked_about(here: Here) -> None:
    with reached(here, "answer"):
        asks(here, ReviewAsked("plan-mode", (ALWAYS, NO), "q1"))
        refused = answer(here, verdict=APPROVED)
    assert refused.status_code == 409
    assert refused.json()["options"] == [{"id": "a", "name": "Yes to all"}]
    assert refused.json()["error"].startswith("Choose an answer: “Yes to all”.")


def test_a_late_no_is_a_persons_to_decide(here: Here) -> None:
    with reached(here, "answer", "tell", "stop"):
        asks(here)
        answer(here, option="y", question="q1")
        here.write(Told(upto=0, way=ANSWER, request="q1"), by="relay")
        late = PlanReviewed("plan-mode", 2, CHANGES_REQUESTED, answer=NO.name, question="q1", late=True)
        here.write(late, by="client")
        page = here.page()
        assert ">needs you<" in page
        asked = "The agent goes on with “Yes, and ask”, as you answered. "
        asked += "Someone in Zed answered “No, keep planning”, too late."
        assert asked in section(page)
        assert "Too late" in page
        assert replies(page) == [
            ("Stop", {"act": "stop"}),
            ("Tell it now", {"act": "review", "verdict": CHANGES_REQUESTED, "now": True}),
            ("Keep as it is", {"act": "review", "verdict": APPROVED}),
        ]
        assert asked in here.board.page("/sessions")
        assert answer(here, verdict=APPROVED).status_code == 200
        assert section(here.page()) == ""


def test_words_are_told_now_only_if_the_turn_may_be_cancelled(here: Here) -> None:
    with reached(here, "tell", "stop"):
        here.write(OPENED, items("in_progress"))
        assert "Tell it now" not in here.page(), "there is nothing to tell"
        assert re.search(r'<button[^>]* data-act="stop" data-plan="p0">Stop<', here.page())
        refused = here.act("comment", text="Use tox", now=True)
        assert (refused.status_code, refused.json()["interrupt"]) == (409, True)
        assert here.record().open_remarks == ()
        assert here.act("comment", text="Use tox").status_code == 200
        assert "Queued for the agent: 1" in here.page()
        assert re.search(r'<button[^>]* data-act="tell" data-plan="p0">Tell it now<', here.page())
        told = here.act("tell", interrupt=True)
        assert told.json()["words"] == "The agent's turn is cancelled, and then it hears it."
        assert here.act("stop").json()["words"] == "The agent is told to stop."
    until(lambda: "Tell it now" not in here.page())  # nobody can tell it any more


def test_hostile_options_stay_words(here: Here) -> None:
    evil = "<img src=x onerror=alert(1)>\u202e\"'"
    with reached(here, "answer"):
        asks(here, ReviewAsked("plan-mode", (Choice(evil, evil, "allow_once"),), "q1"))
        for page in (here.page(), here.board.page("/sessions")):
            assert "<img" not in page
            assert "\u202e" not in page
            assert '"<img' not in page
        [(_, act)] = replies(here.page())
        assert answer(here, **{key: value for key, value in act.items() if key != "act"}).status_code == 200


def test_an_answer_that_may_let_the_agent_go_on_says_what_was_not_seen(here: Here) -> None:
    with reached(here, "answer"):
        asks(here, ReviewAsked("plan-mode", (Choice("go", "Go on with care", "proceed"), NO), "q1"))
        page = here.page()
    assert re.findall(r'>([^<]*)<span class="count-unseen">', page) == ["Go on with care"]
