"""Forks: sessions that begin with another one's past, know each other, and go their own ways."""

import asyncio
from typing import Any

import pytest

from planwire import BlockingPlanSession, PlanSession, open_journal
from planwire.errors import Refused
from planwire.journal import Journal
from planwire.model.events import Origin
from planwire.session.steering import steer
from planwire.steering.wanted import Wanted
from tests.chats import by_fours


@pytest.fixture
def plans(journal: Journal) -> BlockingPlanSession:
    """A session with a plan, a chat, and a remark that is open."""
    plans = BlockingPlanSession(journal, "s")
    plans.add({"role": "user", "content": "Port the parser"})
    plans.call("set_plan", {"entries": ["read", "write", "test"]})
    plans.call("set_plan", {"entries": ["write", "test", "ship"]})
    plans.call("update_plan", {"steps": {"s2": "completed"}, "note": "the key rotates daily"})
    steer(journal, "s", "main", Wanted("comment", text="never touch vendor/"), by="ann")
    plans.context()
    return plans


def steps(plans: BlockingPlanSession) -> list[tuple[str, str, str]]:
    return [(each.id, each.content, each.status) for each in plans.refresh().plans["main"].state.steps]


def test_a_fork_begins_with_the_same_plans_step_ids_open_remarks_and_chat(plans: BlockingPlanSession) -> None:
    fork = plans.fork("f")
    assert fork.context() == plans.context()
    assert (
        steps(fork)
        == steps(plans)
        == [("s2", "write", "completed"), ("s3", "test", "pending"), ("s4", "ship", "pending")]
    )
    here, there = plans.state.plans["main"], fork.state.plans["main"]
    assert there == here
    assert [each.text for each in there.open_remarks] == ["never touch vendor/"]
    assert fork.export() != b"[]\n"


def test_a_fork_and_its_parent_know_each_other(plans: BlockingPlanSession) -> None:
    plans.settle()
    seq = plans.state.seq
    fork = plans.fork()
    assert fork.id.startswith("s-")
    assert fork.state.opened
    assert fork.state.opened.forked == Origin("s", seq)
    assert [(each.session, each.seq) for each in plans.refresh().forks] == [(fork.id, seq)]


def test_what_happens_to_one_of_them_the_other_does_not_hear(journal: Journal, plans: BlockingPlanSession) -> None:
    fork = plans.fork("f")
    before = plans.context()
    fork.add({"role": "user", "content": "another way"})
    fork.call("update_plan", {"steps": {"s3": "completed"}, "add": ["rest"]})
    steer(journal, "f", "main", Wanted("withdraw", "r1"), by="ann")
    assert plans.context() == before
    assert steps(plans)[1] == ("s3", "test", "pending")
    plans.call("update_plan", {"add": ["celebrate"]})
    assert steps(fork)[-1] == ("s5", "rest", "pending")
    assert steps(plans)[-1] == ("s5", "celebrate", "pending")
    assert plans.state.plans["main"].open_remarks
    assert not fork.refresh().plans["main"].open_remarks
    fork.compact(1, tail=0)
    assert "Port the parser" in str(plans.context())


def test_going_back_to_a_checkpoint_is_a_fork_at_its_event(plans: BlockingPlanSession) -> None:
    fork = plans.fork("back", at=3)
    assert [step[1] for step in steps(fork)] == ["read", "write", "test"]
    assert not fork.state.plans["main"].remarks
    assert "never touch" not in str(fork.context())
    with pytest.raises(Refused, match="has no event 9999: its last one is"):
        plans.fork("later", at=9_999)


def test_a_fork_can_be_forked(plans: BlockingPlanSession) -> None:
    first = plans.fork("f")
    first.call("update_plan", {"steps": {"s3": "in_progress"}})
    second = first.fork("g")
    assert steps(second) == steps(first)
    assert second.context() == first.context()
    assert second.state.opened
    assert second.state.opened.forked
    assert second.state.opened.forked.session == "f"
    assert [each.session for each in first.refresh().forks] == ["g"]
    assert [each.session for each in second.state.forks] == [], "the forks of the parent are not its own"


def test_nobody_waits_for_a_word_in_a_fork_and_the_parent_still_does(journal: Journal) -> None:
    """Who asked goes on in the parent."""
    asking = BlockingPlanSession(journal, "s", wait_seconds=0)
    asking.call("set_plan", {"content": "# Plan\n\nall of it"})
    assert asking.call("get_plan", {"wait": "review"})["still_waiting"]
    fork = asking.fork("f")
    assert fork.state.plans["main"].asked is None
    steer(journal, "f", "main", Wanted("review", verdict="approved"), by="ann")
    assert fork.call("get_plan", {"wait": "review"})["plan"]["verdict"]["verdict"] == "approved"
    assert asking.refresh().plans["main"].asked
    assert "verdict" not in asking.call("get_plan")["plan"]


def test_a_compacted_session_is_forked_with_its_compacted_chat(plans: BlockingPlanSession) -> None:
    for number in range(8):
        plans.add({"role": "assistant", "content": f"chatter {number} " * 20})
    plans.compact(400, tail=1, count=by_fours)
    fork = plans.fork("f")
    assert fork.context() == plans.context()
    assert "chatter 0" not in str(fork.context())
    for each in (plans, fork):
        each.add({"role": "user", "content": "Go on"})
        each.call("update_plan", {"note": "so far"})
        each.compact(300, tail=1, count=by_fours)
    told = [
        str(each.context()).replace(f'revision="{each.state.plans["main"].revision}"', "") for each in (plans, fork)
    ]
    assert told[0] == told[1]


def test_a_child_of_a_fork_is_the_same_child_and_is_told_its_step_once(plans: BlockingPlanSession) -> None:
    child = plans.child("s3")
    child.call("set_plan", {"entries": ["unit tests"]})
    again = plans.fork("f").child("s3")
    assert again.context() == child.context()
    assert str(again.context()).count('source="planwire.parent"') == 1


@pytest.mark.parametrize("at", [0, -1, True, "3", 10**9])
def test_an_event_that_is_not_there_can_not_be_gone_back_to(plans: BlockingPlanSession, at: Any) -> None:
    with pytest.raises(Refused, match=f"the session 's' has no event {at!r}: its last one is "):
        plans.fork("f", at=at)
    assert plans.refresh().forks == ()


def test_two_forks_can_not_have_one_name(plans: BlockingPlanSession) -> None:
    plans.fork("f")
    with pytest.raises(Refused, match="there is a session 'f' already: fork under another id"):
        plans.fork("f")
    with pytest.raises(Refused, match="there is a session 's' already"):
        plans.fork("s")
    assert len(plans.refresh().forks) == 1


def test_it_is_the_same_on_an_event_loop() -> None:
    async def main() -> None:
        with open_journal("memory:") as journal:
            async with PlanSession.open(journal, "s") as plans:
                await plans.call("set_plan", {"entries": ["read"]})
                async with plans.fork("f") as fork:
                    assert await fork.context() == await plans.context()
                assert (await plans.refresh()).forks
                with pytest.raises(Refused):
                    await plans.fork("f")

    asyncio.run(main())
