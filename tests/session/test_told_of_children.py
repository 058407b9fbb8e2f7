"""What a lead's model is told of the plans below its steps: how far they are, and no more once they are over."""

import json

import pytest

from planwire import BlockingPlanSession
from planwire.journal import Journal


@pytest.fixture
def plans(journal: Journal) -> BlockingPlanSession:
    plans = BlockingPlanSession(journal, "s")
    plans.set(["find", "write"])
    return plans


def words(plans: BlockingPlanSession) -> str:
    return json.dumps(plans.recap())


def test_a_lead_reads_how_far_the_plans_below_its_steps_are(plans: BlockingPlanSession) -> None:
    child = plans.child("s1", "research")
    child.set(["read", "ask"])
    child.change(steps={"s1": "completed"})
    grandchild = child.child("s2", "experts")
    grandchild.set(["call Ann"])
    [find, write] = plans.call("get_plan")["plan"]["steps"]
    assert find["children"] == [{"plan_id": "research", "progress": "1 of 2 done"}]
    assert "children" not in write
    [told] = plans.recap()
    assert '<step id="s1" below="1 of 3 done">find</step>\n<step id="s2">write</step>' in told["content"]
    plans.note("half of it is known")
    plans.rebase()
    assert 'below=\\"1 of 3 done\\"' in json.dumps(plans.context())
    child.refresh()
    assert 'below=\\"0 of 1 done\\"' in words(child)


def test_a_text_names_what_is_below_its_checkboxes_in_its_index(plans: BlockingPlanSession) -> None:
    plans.set("# Trip\n\n- [ ] pack\n- [ ] go\n", plan_id="trip")
    plans.child("trip#s2", "go").set(["find the keys"])
    plans.refresh()
    assert '<index step=\\"s2\\" words=\\"go\\" below=\\"0 of 1 done\\"/>' in words(plans)


@pytest.mark.parametrize("own", [True, False], ids=["a child's own", "the lead's"])
def test_thirty_plans_that_are_over_make_nothing_longer(plans: BlockingPlanSession, own: bool) -> None:
    plans.change(steps={"s1": "completed"})
    plans.rebase()
    before = words(plans), json.dumps(plans.context())
    for number in range(30):
        name = f"part-{number}"
        writer = plans.child("s1", name) if own else plans
        writer.set(["do it"], plan_id=name, parent=None if own else "s1")
        writer.change(name, steps={"s1": "completed"})
    plans.refresh()
    after = words(plans)
    assert len(after) == len(before[0])
    plans.compact()
    assert "part-" not in json.dumps(plans.context())
    assert len(json.dumps(plans.context())) == len(before[1])
    assert plans.call("get_plan", {"plan_id": "part-7"})["plan"]["progress"] == "1 of 1 done"


def test_a_plan_that_is_over_is_told_again_once_something_of_it_is_open(plans: BlockingPlanSession) -> None:
    plans.set(["do it"], plan_id="part", parent="s1")
    plans.change("part", steps={"s1": "completed"})
    assert "part" not in words(plans)
    plans.change("part", add="and again")
    assert "and again" in words(plans)
