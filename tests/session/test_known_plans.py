"""A plan that another writer made is shown before it is replaced."""

import asyncio
from typing import Any

import pytest

from planwire import BlockingPlanSession, PlanSession, open_journal
from planwire.journal import Journal
from planwire.model.records import SessionState
from planwire.session.steering import steer
from planwire.steering.wanted import Wanted

MINE = {"entries": ["A1 fix login", "A2 test login"]}
YOURS = {"entries": ["B1 write docs", "B2 publish"]}


@pytest.fixture
def journal() -> Any:
    with open_journal("memory:") as opened:
        yield opened


def a_plan(journal: Journal) -> BlockingPlanSession:
    one = BlockingPlanSession(journal, "s")
    assert "error" not in one.call("set_plan", MINE)
    return one


def texts(state: SessionState, plan_id: str = "main") -> list[str]:
    return [step.content for step in state.plans[plan_id].state.steps]


def test_a_plan_that_the_writer_never_read_is_refused_once_and_shown(journal: Journal) -> None:
    a_plan(journal)
    other = BlockingPlanSession(journal, "s")
    error = other.call("set_plan", YOURS)["error"]
    assert error["code"] == "plan_exists"
    assert [step["content"] for step in error["current"]["steps"]] == MINE["entries"]
    assert "update_plan" in error["hint"]
    assert "replace: true" in error["hint"]
    assert texts(other.refresh()) == MINE["entries"]
    assert other.call("set_plan", YOURS)["version"] == 2, "the refusal showed it"


@pytest.mark.parametrize("more", [{"replace": True}, {"replace": "true"}, {"plan_id": "b"}, {"expected_revision": 1}])
def test_a_writer_that_means_it_or_takes_another_name_goes_through(journal: Journal, more: dict[str, Any]) -> None:
    a_plan(journal)
    assert "error" not in BlockingPlanSession(journal, "s").call("set_plan", {**YOURS, **more})


@pytest.mark.parametrize("reading", ["get_plan", "brief", "context", "pending", "recap", "stale"])
def test_a_writer_that_has_read_the_plan_may_replace_it(journal: Journal, reading: str) -> None:
    a_plan(journal)
    other = BlockingPlanSession(journal, "s", by="bob")
    match reading:
        case "get_plan":
            other.call("get_plan")
        case "brief":
            other.call("get_plan", {"detail": "brief"})
        case "stale":
            assert other.call("update_plan", {"note": "n", "expected_revision": 7})["error"]["code"] == "stale_revision"
        case _:
            getattr(other, reading)()
    assert other.call("set_plan", YOURS)["version"] == 2


def test_what_does_not_show_the_plan_is_no_reading(journal: Journal) -> None:
    a_plan(journal)
    other = BlockingPlanSession(journal, "s")
    other.call("update_plan", {"note": "n"})
    other.call("get_plan", {"notes": True})
    other.call("get_plan", {"plan_id": "docs"})
    assert other.call("set_plan", YOURS)["error"]["code"] == "plan_exists"


def test_a_version_that_another_made_meanwhile_is_to_be_read_again(journal: Journal) -> None:
    one = a_plan(journal)
    other = BlockingPlanSession(journal, "s")
    other.call("get_plan")
    other.call("set_plan", YOURS)
    assert one.call("set_plan", {"entries": ["A3 ship login"]})["error"]["code"] == "plan_exists"
    other.call("update_plan", {"steps": {"s3": "in_progress"}})
    assert one.call("set_plan", {"entries": ["A3 ship login"]})["version"] == 3, "a change is no other plan"


@pytest.mark.parametrize("status", ["completed", "cancelled"])
def test_a_plan_without_work_left_may_be_replaced_by_anyone(journal: Journal, status: str) -> None:
    one = a_plan(journal)
    one.call("update_plan", {"steps": {"s1": "completed", "s2": status}})
    assert BlockingPlanSession(journal, "s").call("set_plan", YOURS)["version"] == 2


def test_a_plan_that_was_dismissed_or_is_the_same_is_in_nobodys_way(journal: Journal) -> None:
    one = a_plan(journal)
    assert BlockingPlanSession(journal, "s").call("set_plan", MINE)["unchanged"]
    one.call("remove_plan")
    assert BlockingPlanSession(journal, "s").call("set_plan", YOURS)["version"] == 2


def test_a_proposal_without_steps_is_not_replaced_unread(journal: Journal) -> None:
    BlockingPlanSession(journal, "s").call("set_plan", {"content": "# All in Rust"})
    assert BlockingPlanSession(journal, "s").call("set_plan", YOURS)["error"]["code"] == "plan_exists"


def test_a_session_that_is_opened_again_has_read_what_it_was_told(journal: Journal) -> None:
    one = a_plan(journal)
    steer(journal, "s", "main", Wanted("comment", text="never touch vendor/"), by="ann")
    assert one.pending()
    one.settle()
    assert BlockingPlanSession(journal, "s", by="bob").call("set_plan", YOURS)["error"]["code"] == "plan_exists"
    assert BlockingPlanSession(journal, "s").call("set_plan", YOURS)["version"] == 2


def test_a_comment_in_the_answer_of_a_tool_shows_no_plan_to_the_next_server(journal: Journal) -> None:
    one = a_plan(journal)
    steer(journal, "s", "main", Wanted("comment", text="never touch vendor/"), by="ann")
    assert one.call("update_plan", {"steps": {"s1": "in_progress"}})["people"]
    assert BlockingPlanSession(journal, "s").call("set_plan", YOURS)["error"]["code"] == "plan_exists"


def test_a_session_that_is_opened_again_has_read_what_its_own_chat_shows(journal: Journal) -> None:
    one = BlockingPlanSession(journal, "s")
    one.add({"role": "user", "content": "fix the login"})
    one.call("set_plan", MINE)
    assert BlockingPlanSession(journal, "s").call("set_plan", YOURS)["version"] == 2


def test_it_is_the_same_on_an_event_loop(journal: Journal) -> None:
    a_plan(journal)

    async def work() -> None:
        async with PlanSession.open(journal, "s") as plans:
            assert (await plans.call("set_plan", YOURS))["error"]["code"] == "plan_exists"
            await plans.pending()
            assert (await plans.call("set_plan", YOURS))["version"] == 2

    asyncio.run(work())
