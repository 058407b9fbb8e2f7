"""Plans below plans, and forks, on the pages of the board."""

import re

from planwire.model.events import Event, PlanChanged, PlanSet, StepRef
from planwire.model.plan import Entry, ItemsPlan
from planwire.model.step_changes import SetStatus
from planwire.session.forks import fork_session
from tests.web.board import Running

__all__ = ["TREE"]


def a_plan(plan_id: str, *contents: str, below: str = "") -> PlanSet:
    lead, _, step = below.partition("#")
    parent = StepRef(lead, step) if below else None
    return PlanSet(ItemsPlan(plan_id, tuple(Entry(each, "medium", "pending") for each in contents)), parent=parent)


def done(plan_id: str, *steps: str) -> PlanChanged:
    return PlanChanged(plan_id, changes=tuple(SetStatus(each, "completed") for each in steps))


TREE: tuple[Event, ...] = (
    a_plan("main", "Find out", "Write it"),
    a_plan("research", "Read papers", "Ask experts", below="main#s1"),
    a_plan("experts", "Call Ann", below="research#s2"),
    a_plan("survey", "Count them", "Weigh them", below="main#s1"),
    done("survey", "s1", "s2"),
)


def test_plans_stand_below_the_plan_that_they_work_for_with_the_way_to_their_step(board: Running) -> None:
    board.write("s1", *TREE)
    page = board.page("/sessions/s1")
    assert re.findall(r'<h2 id="(p\d)-name">', page) == ["p0", "p1", "p2", "p3"]
    assert 'for <a href="#p1-s2"><bdi>Find out › Ask experts</bdi></a>' in page
    assert "2 of 5 below" in page
    assert '<a href="#p1-name"><bdi>research</bdi></a>' in page
    assert 'for <a href="/sessions/s1/plans/main#p0-s1">' in board.page("/sessions/s1/plans/research")


def test_forks_are_linked_both_ways(board: Running) -> None:
    board.write("s1", *TREE)
    fork_session(board.journal, "s1", "other", 2, "user")
    board.write("s1", a_plan("late", "x"))
    assert 'forks: <a href="/sessions/other">' in board.page("/sessions/s1")
    assert 'forked from <a href="/sessions/s1"><bdi>s1</bdi></a> at event 2' in board.page("/sessions/other")
