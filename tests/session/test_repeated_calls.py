"""A call with an id is made once, however often it is sent."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from planwire import BlockingPlanSession, PlanSession, open_journal
from planwire.journal import Journal

PLAN = {"entries": ["Read", "Write"], "summary": "why"}


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with open_journal(tmp_path / "plans.db") as opened:
        yield opened


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("set_plan", {"entries": ["Write", "Ship"]}),
        ("update_plan", {"add": ["Test"], "steps": {"s1": "completed"}}),
        ("update_plan", {"note": "it is TOML"}),
        ("remove_plan", {"reason": "done"}),
    ],
)
def test_a_repeated_call_changes_nothing_and_is_answered_alike(
    journal: Journal, tool: str, arguments: dict[str, Any]
) -> None:
    session = BlockingPlanSession(journal, "s")
    session.call("set_plan", PLAN, "call-1")
    answer = session.call(tool, arguments, "call-2")
    assert "error" not in answer
    seq = journal.last_seq("s")
    assert session.call(tool, arguments, "call-2") == answer
    assert journal.last_seq("s") == seq
    session.call("set_plan", {"entries": ["Something else"], "replace": True}, "call-3")
    seq = journal.last_seq("s")
    for again in (session, BlockingPlanSession(journal, "s")):
        assert again.call(tool, arguments, "call-2") == answer, "whatever came since, and in another process"
    assert journal.last_seq("s") == seq


def test_another_id_another_author_or_no_id_is_another_call(journal: Journal) -> None:
    session = BlockingPlanSession(journal, "s")
    session.call("set_plan", PLAN, "call-1")
    for call_id in ("call-2", "call-3", None, None):
        session.call("update_plan", {"note": "n"}, call_id)
    BlockingPlanSession(journal, "s", by="bob").call("update_plan", {"note": "n"}, "call-2")
    assert session.refresh().plans["main"].noted == 5


def test_a_call_that_was_refused_may_be_made_again(journal: Journal) -> None:
    session = BlockingPlanSession(journal, "s")
    assert session.call("update_plan", {"note": "n"}, "call-1")["error"]["code"] == "no_plan"
    session.call("set_plan", PLAN, "call-2")
    assert session.call("update_plan", {"note": "n"}, "call-1")["revision"] == 2


def test_a_call_that_two_send_at_once_is_made_once(journal: Journal) -> None:
    sessions = [BlockingPlanSession(journal, "s") for _ in range(4)]
    sessions[0].call("set_plan", PLAN)
    with ThreadPoolExecutor(len(sessions)) as pool:
        for number in range(10):
            answers = pool.map(lambda each, n=number: each.call("update_plan", {"add": [f"{n}"]}, f"c{n}"), sessions)
            assert len({str(answer) for answer in answers}) == 1
    assert len(sessions[0].refresh().plans["main"].state.steps) == 12


def test_it_is_the_same_on_an_event_loop(journal: Journal) -> None:
    async def work() -> None:
        async with PlanSession.open(journal, "s") as plans:
            answer = await plans.call("set_plan", PLAN, call_id="call-1")
            assert await plans.call("set_plan", PLAN, call_id="call-1") == answer

    asyncio.run(work())
    assert journal.last_seq("s") == 1


def test_older_notes_come_from_the_journal_newest_first(journal: Journal) -> None:
    session = BlockingPlanSession(journal, "s")
    session.call("set_plan", PLAN)
    for number in range(30):
        session.call("update_plan", {"note": f"{number} {'x' * 6_000}"})
        if number == 10:
            session.call("set_plan", {"entries": ["Read"]})
    plan = session.call("get_plan")["plan"]
    assert plan["older_notes"] == "28 more: get_plan with notes: true shows all"
    texts: list[str] = []
    for page in (1, 2):
        answer = session.call("get_plan", {"notes": True, "page": page})
        assert (answer["noted"], answer["pages"]) == (30, 2)
        texts += [note["text"].split()[0] for note in answer["notes"]]
    assert texts == [str(number) for number in reversed(range(30))]


def test_the_id_of_a_call_may_be_any_text(journal: Journal) -> None:
    session = BlockingPlanSession(journal, "s")
    session.call("set_plan", PLAN)
    answers = [session.call("update_plan", {"add": ["Test"]}, "half \ud800") for _ in range(2)]
    assert answers[0]["new_steps"] == answers[1]["new_steps"] == ["s3"]
