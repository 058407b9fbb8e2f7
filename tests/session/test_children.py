"""Children: sub-agents with a plan and a chat of their own, bound to a step of the plan that they work for."""

import asyncio
import json

import pytest

from planwire import BlockingPlanSession, PlanSession, open_journal
from planwire.errors import Refused, UnknownStep
from planwire.journal import Journal
from planwire.model.children import children_of, rolled_up
from planwire.model.events import StepRef
from planwire.model.steps import Progress
from planwire.session.steering import steer
from planwire.steering.wanted import Wanted

LINE = 'source="planwire.parent">\\n<parent plan="main" step="s1" by="agent">research</parent>'


@pytest.fixture
def lead(journal: Journal) -> BlockingPlanSession:
    lead = BlockingPlanSession(journal, "s")
    lead.add({"role": "user", "content": "Port the parser"})
    lead.call("set_plan", {"entries": ["research", "write"]})
    return lead


def statuses(plans: BlockingPlanSession, plan_id: str) -> list[str]:
    return [each.status for each in plans.refresh().plans[plan_id].state.steps]


def test_a_child_that_forgets_the_name_of_its_plan_means_its_own(lead: BlockingPlanSession) -> None:
    child = lead.child("s1", "research")
    child.call("set_plan", {"entries": ["ask", "read"]})
    assert child.call("update_plan", {"steps": {"s1": "completed"}})["plan_id"] == "research"
    assert statuses(lead, "main") == ["pending", "pending"]
    assert statuses(lead, "research") == ["completed", "pending"]
    assert rolled_up(children_of(lead.state), StepRef("main", "s1")) == Progress(1, 2)


def test_a_child_may_not_change_the_plan_that_it_works_for(lead: BlockingPlanSession) -> None:
    child = lead.child("s1")
    for name, arguments in (
        ("update_plan", {"steps": {"s1": "completed"}}),
        ("set_plan", {"entries": ["mine"], "replace": True}),
        ("remove_plan", {}),
    ):
        assert child.call(name, {"plan_id": "main", **arguments})["error"]["code"] == "not_yours"
    assert statuses(lead, "main") == ["pending", "pending"]


def test_a_child_knows_its_step_and_its_plan_and_nothing_else_of_the_session(lead: BlockingPlanSession) -> None:
    child = lead.child("s1")
    child.add({"role": "user", "content": "Find three parsers"})
    child.call("set_plan", {"entries": ["ask"]})
    told = str(child.context())
    assert told.count(LINE) == 1
    assert '<parent plan="main" step="s1"' in told
    for words in ("Port the parser", '<plan id="main"', "write"):
        assert words not in told
    for words in ("Find three parsers", "main/s1", "ask"):
        assert words not in str(lead.context())


def test_a_child_knows_its_step_whatever_is_compacted(lead: BlockingPlanSession) -> None:
    child = lead.child("s1")
    child.add(*({"role": "assistant", "content": f"chatter {number} " * 30} for number in range(9)))
    child.compact(1, tail=0)
    assert str(child.context()).count(LINE) == 1
    assert "chatter 0" not in str(child.context())


def test_a_child_is_told_once_that_its_step_has_other_words_and_a_compaction_leaves_those(
    lead: BlockingPlanSession,
) -> None:
    child = lead.child("s1")
    child.call("set_plan", {"entries": ["ask"]})
    assert "research</parent>" in child.pending_text()
    before = child.context()
    lead.change(reword={"s1": "look it up"})
    assert child.pending_text().count("look it up</parent>") == 1
    lead.change(reword={"s1": "find it"})
    after = child.context()
    assert after[: len(before)] == before
    assert str(after[len(before) :]).count("find it</parent>") == 1
    assert child.context() == after
    lead.change(remove=["s1"])
    child.compact(1, tail=0)
    assert str(child.context()).count("planwire.parent") == 1
    assert str(child.context()).count("find it</parent>") == 1
    assert child.pending_text().count("planwire.parent") <= 1


def test_what_people_say_of_a_childs_plan_the_child_hears_and_the_lead_once_nobody_works_on_it(
    journal: Journal, lead: BlockingPlanSession
) -> None:
    child = lead.child("s1")
    child.call("set_plan", {"entries": ["ask"]})
    steer(journal, "s", "main/s1", Wanted("comment", text="ask ann first"), by="ann")
    assert "ask ann first" not in str(lead.context())
    assert "ask ann first" in str(child.context())
    child.call("update_plan", {"steps": {"s1": "completed"}})
    steer(journal, "s", "main/s1", Wanted("comment", text="and bob"), by="ann")
    assert "and bob" in str(lead.context())


@pytest.mark.parametrize("over", [{"steps": {"s1": "completed"}}, {"remove": ["s1"]}], ids=["done", "gone"])
def test_the_lead_hears_what_people_say_of_a_plan_whose_step_is_over_though_its_child_left_steps_open(
    journal: Journal, lead: BlockingPlanSession, over: dict[str, object]
) -> None:
    lead.child("s1").call("set_plan", {"entries": ["ask"]})
    lead.call("update_plan", over)
    steer(journal, "s", "main/s1", Wanted("comment", text="ask ann first"), by="ann")
    assert "ask ann first" in str(lead.context())


def test_while_a_child_works_the_lead_hears_no_words_on_any_of_its_plans_and_once_its_step_is_done_on_those_below_too(
    journal: Journal, lead: BlockingPlanSession
) -> None:
    child = lead.child("s1")
    child.set(["ask"])
    child.set(["look"], plan_id="extra")
    child.child("s1").set(["call ann"])
    plans = ("main/s1", "extra", "main/s1/s1")
    for plan_id in plans:
        steer(journal, "s", plan_id, Wanted("comment", text=f"before {plan_id}."), by="ann")
    assert "before" not in str(lead.context())
    lead.change(steps={"s1": "completed"})
    for plan_id in plans:
        steer(journal, "s", plan_id, Wanted("comment", text=f"after {plan_id}."), by="ann")
        assert f"after {plan_id}." in str(lead.context())


def test_a_child_that_goes_on_hears_what_the_lead_was_told_in_its_place(
    journal: Journal, lead: BlockingPlanSession
) -> None:
    child = lead.child("s1")
    child.call("set_plan", {"entries": ["ask"]})
    child.call("update_plan", {"steps": {"s1": "completed"}})
    steer(journal, "s", "main/s1", Wanted("comment", text="and bob"), by="ann")
    assert "and bob" in str(lead.context())
    lead.settle()
    child.call("update_plan", {"add": ["ask again"]})
    assert str(child.context()).count("and bob") == 1
    assert str(child.context()).count("and bob") == 1


def test_the_chat_of_a_child_can_be_carried_over_and_keeps_its_step(
    journal: Journal, lead: BlockingPlanSession
) -> None:
    child = lead.child("s1")
    child.add({"role": "user", "content": "Find three parsers"})
    child.call("set_plan", {"entries": ["ask"]})
    child.call("update_plan", {"steps": {"s1": "completed"}})
    other = BlockingPlanSession(journal, "other")
    other.add(*json.loads(lead.export()))
    again = other.child("s1")
    again.add(*json.loads(child.export()))
    revisions = [str(each.refresh().plans["main/s1"].revision) for each in (child, again)]
    assert str(again.context()).replace(revisions[1], "N") == str(child.context()).replace(revisions[0], "N")
    below = rolled_up(children_of(other.refresh()), StepRef("main", "s1"))
    assert below is not None
    assert below.done == 1


def test_a_step_that_is_not_there_and_a_plan_of_another_step_are_refused(lead: BlockingPlanSession) -> None:
    with pytest.raises(UnknownStep, match="has no step 's9' that a child could work for: s1, s2"):
        lead.child("s9")
    lead.child("s1", "research").call("set_plan", {"entries": ["ask"]})
    with pytest.raises(Refused, match="'research' does not work for s2: give the child another plan_id"):
        lead.child("s2", "research")


def test_it_is_the_same_on_an_event_loop() -> None:
    async def main() -> None:
        with open_journal("memory:") as journal:
            async with PlanSession.open(journal, "s") as lead:
                await lead.set(["research"])
                async with lead.child("s1") as child:
                    await child.set(["ask"])
                    await child.change(steps={"s1": "completed"})
                    assert child.plan_id == "main/s1"
                state = await lead.refresh()
                assert [each.status for each in state.plans["main"].state.steps] == ["pending"]
                assert state.plans["main/s1"].parent == StepRef("main", "s1")

    asyncio.run(main())
