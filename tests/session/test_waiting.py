"""Waiting for a word of a person, in both kinds of session, and which verdicts an agent has been told of."""

import asyncio
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from planwire import BlockingPlanSession, PlanSession, open_journal
from planwire.journal import Journal, Stamped
from planwire.model.events import (
    APPROVED,
    CHANGES_REQUESTED,
    Event,
    PlanChanged,
    PlanRemoved,
    PlanReviewed,
    Remarked,
    ReviewAsked,
    TurnEnded,
)
from tests import deciding
from tests.waiting import eventually, until

WAIT = {"wait": "review"}


@pytest.fixture
def plans(journal: Journal) -> BlockingPlanSession:
    plans = BlockingPlanSession(journal, "s", wait_seconds=0.05)
    plans.call("set_plan", {"entries": ["read", "write"]})
    return plans


def happen(journal: Journal, event: Event) -> None:
    deciding.write(journal, "s", Stamped(1, "user", event))


def verdict(answer: Any) -> str | None:
    """What a verdict says, or None where the agent is still waiting for one."""
    return None if "still_waiting" in answer else answer["plan"]["verdict"]["verdict"]


def reviewed(verdict: str, revision: int = 1, plan_id: str = "main") -> PlanReviewed:
    """A person's verdict, given on the board."""
    return PlanReviewed(plan_id, revision, verdict, via="planwire")


def test_waiting_ends_after_a_while_and_says_so(plans: BlockingPlanSession) -> None:
    answer = plans.call("get_plan", WAIT)
    assert (answer["still_waiting"], answer["plan_id"], answer["revision"]) == (True, "main", 1)
    assert not answer.is_error
    assert plans.state.plans["main"].revision == 1


def test_waiting_ends_in_time_however_much_else_happens(journal: Journal, plans: BlockingPlanSession) -> None:
    """Whenever the session reads an event there is another one."""
    plans.on_change(lambda _: happen(journal, PlanChanged("main", "and another thing")))
    happen(journal, PlanChanged("main", "one thing"))
    assert plans.call("get_plan", WAIT)["still_waiting"]
    assert plans.state.seq > 3


def test_a_review_that_was_told_is_not_told_again(journal: Journal, plans: BlockingPlanSession) -> None:
    happen(journal, reviewed(CHANGES_REQUESTED))
    assert verdict(plans.call("get_plan", WAIT)) == CHANGES_REQUESTED
    assert verdict(plans.call("get_plan", WAIT)) is None
    happen(journal, reviewed(APPROVED))
    assert verdict(plans.call("get_plan")) == APPROVED
    assert verdict(plans.call("get_plan", WAIT)) is None


def test_a_verdict_that_came_while_the_agent_worked_on_is_in_its_next_answer(
    journal: Journal, plans: BlockingPlanSession
) -> None:
    happen(journal, reviewed(CHANGES_REQUESTED))
    [said] = plans.call("update_plan", {"steps": {"s1": "completed"}})["people"]
    assert (said["said"], said["by"], said["verdict"]) == ("verdict", "user", CHANGES_REQUESTED)
    assert plans.call("get_plan", WAIT).is_waiting
    answer = plans.call("get_plan")
    assert verdict(answer) == CHANGES_REQUESTED
    assert not answer["plan"]["verdict"]["stale"], "a status makes no verdict stale"


@pytest.mark.parametrize("how", ["pending", "recap", "context"])
def test_a_review_in_the_context_counts_as_told(journal: Journal, plans: BlockingPlanSession, how: str) -> None:
    happen(journal, reviewed(CHANGES_REQUESTED))
    getattr(plans, how)()
    assert verdict(plans.call("get_plan", WAIT)) is None


def test_reviews_of_other_plans_are_not_waited_for(journal: Journal, plans: BlockingPlanSession) -> None:
    plans.call("set_plan", {"content": "# Other", "plan_id": "other"})
    happen(journal, reviewed(APPROVED, 2, "other"))
    assert verdict(plans.call("get_plan", WAIT)) is None
    assert verdict(plans.call("get_plan", {**WAIT, "plan_id": "other"})) == APPROVED


def test_a_process_that_takes_over_tells_what_the_agent_has_not_answered(journal: Journal) -> None:
    def again() -> BlockingPlanSession:
        return BlockingPlanSession(journal, "s", wait_seconds=0.05)

    again().call("set_plan", {"entries": ["read"]})
    happen(journal, reviewed(CHANGES_REQUESTED))
    assert verdict(again().call("get_plan", WAIT)) == CHANGES_REQUESTED
    again().call("set_plan", {"entries": ["read", "write"]})
    assert verdict(again().call("get_plan", WAIT)) is None
    happen(journal, reviewed(APPROVED, 3))
    happen(journal, PlanChanged("main", "a person's note"))
    assert verdict(again().call("get_plan", WAIT)) == APPROVED


def test_a_plan_that_is_not_there_or_goes_away_is_not_waited_for(journal: Journal, plans: BlockingPlanSession) -> None:
    assert plans.call("get_plan", {**WAIT, "plan_id": "other"})["error"]["code"] == "no_plan"
    happen(journal, PlanRemoved("main"))
    assert plans.call("get_plan", WAIT)["error"]["code"] == "no_plan"


def test_a_session_that_was_forgotten_and_began_anew_can_be_reviewed_again(
    journal: Journal, plans: BlockingPlanSession
) -> None:
    plans.call("update_plan", {"note": "n"})
    happen(journal, reviewed(APPROVED, 2))
    assert verdict(plans.call("get_plan", WAIT)) == APPROVED
    journal.forget("s")
    plans.call("set_plan", {"entries": ["anew"]})
    happen(journal, reviewed(CHANGES_REQUESTED))
    assert verdict(plans.call("get_plan", WAIT)) == CHANGES_REQUESTED


def test_a_thread_that_waits_is_woken_by_another_process(tmp_path: Path) -> None:
    answers: list[Any] = []
    with open_journal(tmp_path / "plans.db") as mine, open_journal(tmp_path / "plans.db") as theirs:
        plans = BlockingPlanSession(mine, "s")
        plans.call("set_plan", {"entries": ["read"]})
        threads = [Thread(target=lambda: answers.append(plans.call("get_plan", WAIT))) for _ in range(3)]
        for thread in threads:
            thread.start()
        changed = plans.call("update_plan", {"note": "nobody is held up"})
        happen(theirs, reviewed(APPROVED, changed["revision"]))
        until(lambda: len(answers) == 3)
        for thread in threads:
            thread.join()
    assert {verdict(answer) for answer in answers} == {APPROVED}


def test_many_tasks_may_wait_and_none_holds_up_the_others(tmp_path: Path) -> None:
    async def main() -> None:
        async with PlanSession.open(tmp_path / "plans.db", "s") as plans:
            await plans.call("set_plan", {"entries": ["read"]})
            waiting = [asyncio.create_task(plans.call("get_plan", WAIT)) for _ in range(50)]
            for number in range(20):
                changed = await plans.call("update_plan", {"note": f"{number}"})
                assert plans.state.plans["main"].numbered == number + 1
            assert not any(task.done() for task in waiting)
            with open_journal(tmp_path / "plans.db") as theirs:
                happen(theirs, reviewed(APPROVED, changed["revision"]))
            async with asyncio.timeout(20):
                assert {verdict(answer) for answer in await asyncio.gather(*waiting)} == {APPROVED}

    asyncio.run(main())


def test_a_task_that_waits_in_vain_says_so(tmp_path: Path) -> None:
    async def main() -> None:
        async with PlanSession.open(tmp_path / "plans.db", "s", wait_seconds=0.05) as plans:
            await plans.call("set_plan", {"entries": ["read"]})
            assert (await plans.call("get_plan", WAIT)).is_waiting
            known = plans.state.seq
            waiting = asyncio.create_task(plans.changed(known))
            await plans.call("update_plan", {"note": "n"})
            assert (await waiting).seq == known + 1

    asyncio.run(main())


# -- that it waits is said


def asked(journal: Journal) -> list[tuple[int, str, Event]]:
    """The questions in the journal, and by whom they are."""
    found = [(each.seq, each.by, each.event) for each in journal.read("s")]
    return [each for each in found if isinstance(each[2], ReviewAsked)]


def test_an_agent_that_waits_says_so_once(journal: Journal, plans: BlockingPlanSession) -> None:
    for _ in range(3):
        assert verdict(plans.call("get_plan", WAIT)) is None
    assert asked(journal) == [(2, "agent", ReviewAsked("main"))]
    assert plans.state.plans["main"].asked is not None
    happen(journal, Remarked("main", "comment", "hm", 1))
    assert [each["text"] for each in plans.call("get_plan", WAIT)["remarks"]] == ["hm"]
    assert verdict(plans.call("get_plan", WAIT)) is None
    assert len(asked(journal)) == 1, "a comment is no verdict: it was still waiting"


@pytest.mark.parametrize("end", ["a verdict", "a change of its own", "the end of the turn"])
def test_an_agent_that_waits_again_after_that_says_so_again(
    journal: Journal, plans: BlockingPlanSession, end: str
) -> None:
    plans.call("get_plan", WAIT)
    match end:
        case "a verdict":
            happen(journal, reviewed(APPROVED))
            assert verdict(plans.call("get_plan", WAIT)) == APPROVED
        case "a change of its own":
            plans.call("update_plan", {"note": "n"})
        case _:
            happen(journal, TurnEnded("end_turn"))
    assert plans.refresh().plans["main"].asked is None
    assert verdict(plans.call("get_plan", WAIT)) is None
    second = 6 if end == "a verdict" else 4  # the verdict, and two events that it was told
    assert [seq for seq, _, _ in asked(journal)] == [2, second]


def test_what_people_change_meanwhile_does_not_make_it_ask_again(journal: Journal, plans: BlockingPlanSession) -> None:
    plans.call("get_plan", WAIT)
    happen(journal, PlanChanged("main", "a person's note"))
    plans.call("get_plan", WAIT)
    assert len(asked(journal)) == 1


def test_an_agent_that_is_answered_at_once_asks_for_nothing(journal: Journal, plans: BlockingPlanSession) -> None:
    happen(journal, reviewed(APPROVED))
    assert verdict(plans.call("get_plan", WAIT)) == APPROVED
    plans.call("get_plan")
    plans.call("get_plan", {**WAIT, "plan_id": "other"})
    plans.call("get_plan", {"wait": "forever"})
    assert asked(journal) == []


def test_the_question_changes_nothing_of_the_plan_and_the_model_is_not_told_of_it(
    journal: Journal, plans: BlockingPlanSession
) -> None:
    plans.add({"role": "user", "content": "Plan it."})
    context, told = plans.context(), plans.pending()
    assert told
    before = plans.call("get_plan")
    plans.call("get_plan", WAIT)
    assert len(asked(journal)) == 1
    assert plans.call("get_plan") == before
    assert plans.pending() == []
    assert plans.context() == context
    assert plans.call("update_plan", {"note": "n", "expected_revision": 1})["version"] == 1


def test_many_who_wait_at_once_ask_once(tmp_path: Path) -> None:
    async def main() -> None:
        with open_journal(tmp_path / "plans.db") as journal:
            async with PlanSession.open(journal, "s") as one, PlanSession.open(tmp_path / "plans.db", "s") as other:
                await one.call("set_plan", {"entries": ["read"]})
                waiting = [asyncio.create_task(each.call("get_plan", WAIT)) for each in (one, other) for _ in range(10)]
                await eventually(lambda: len(asked(journal)) == 1)
                changed = await one.call("update_plan", {"note": "n"})
                await eventually(lambda: len(asked(journal)) == 2)
                happen(journal, reviewed(APPROVED, changed["revision"]))
                async with asyncio.timeout(20):
                    assert {verdict(answer) for answer in await asyncio.gather(*waiting)} == {APPROVED}
                assert len(asked(journal)) == 2

    asyncio.run(main())
