"""What a person chose is about what they read, all the way: from the agent's list to the model, and to people."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from planwire.journal import Journal, open_journal
from planwire.session.blocking import BlockingPlanSession
from planwire.session.steering import steer
from planwire.steering.wanted import Wanted
from tests.agents.driving import JournalledTalk
from tests.cli.answers import answer
from tests.wire import entry, plan

STAGING = "Delete the staging database"
PRODUCTION = "Delete the production database"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.db"


@pytest.fixture
def journal(path: Path) -> Iterator[Journal]:
    with open_journal(path) as journal:
        yield journal


def test_an_order_about_one_thing_never_reaches_an_agent_behind_the_relay_as_an_order_about_another(
    journal: Journal, path: Path
) -> None:
    talk = JournalledTalk(journal)
    talk.agent(plan(entry("Back up"), entry(STAGING)))
    talk.say("select", steps=("s2",), by="ann")
    talk.agent(plan(entry("Back up"), entry(PRODUCTION)))
    told = talk.told()
    assert f">{STAGING}</stale>" in told
    assert "do neither a stale one nor any that was not chosen" in told
    printed = answer("show", "s1", "--journal", str(path)).out
    assert f"“{STAGING}” is not in the plan any more: choose again." in " ".join(printed.split())
    assert "to run" not in next(line for line in printed.splitlines() if PRODUCTION in line)


@pytest.mark.parametrize("again", ["set_plan", "update_plan"])
def test_nor_by_the_tools_whose_very_answer_says_that_the_choice_is_stale(journal: Journal, again: str) -> None:
    with BlockingPlanSession(journal, "s") as session:
        session.call("set_plan", {"entries": ["Back up", STAGING]})
        steer(journal, "s", "main", Wanted("select", steps=("s2",)), "ann")
        [choice] = session.call("get_plan", {})["remarks"]
        assert choice["steps"] == ["s2"]
        if again == "set_plan":
            called = session.call("set_plan", {"entries": ["Back up", PRODUCTION]})
        else:
            called = session.call("update_plan", {"reword": {"s2": PRODUCTION}})
        [said] = called["people"]
        assert said["stale"][0]["was"] == STAGING
        assert "steps" not in said
        assert "ask" in said["means"]


def test_people_are_asked_to_choose_again_and_the_new_choice_counts(journal: Journal, path: Path) -> None:
    with BlockingPlanSession(journal, "s") as session:
        session.call("set_plan", {"entries": ["Back up", STAGING]})
        steer(journal, "s", "main", Wanted("select", steps=("s2",)), "ann")
        session.call("update_plan", {"reword": {"s2": PRODUCTION}})
        printed = " ".join(answer("show", "s", "--journal", str(path)).out.split())
        assert f"“{STAGING}” now reads “{PRODUCTION}”: choose again." in printed
        steer(journal, "s", "main", Wanted("select", steps=("s2",)), "ann")
        [said] = [each for each in session.call("get_plan", {})["remarks"] if each["said"] == "selection"]
        assert said["steps"] == ["s2"]
        assert "stale" not in said
