"""A connection that mentions very many sessions: those that nobody works in don't stay in memory, and none loses a
record."""

import gc
import json

import pytest

from planwire.journal import Journal
from planwire.model.events import PlanSet
from planwire.model.plan import Entry, ItemsPlan
from planwire.relay import openings
from planwire.relay.wire_session import WireSession
from tests import deciding
from tests.agents.driving import JournalledTalk
from tests.wire import entry, plan

FEW = 20


@pytest.fixture
def talk(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> JournalledTalk:
    monkeypatch.setattr(openings, "MOST_SESSIONS", FEW)
    return JournalledTalk(journal)


def kept() -> set[str]:
    gc.collect()
    return {each.id for each in gc.get_objects() if isinstance(each, WireSession)}


def mention(talk: JournalledTalk, session: str, word: str = "Read") -> bytes:
    [sent] = talk.agent(plan(entry(word), session=session))
    return sent


def test_ids_that_never_come_back_cost_no_memory_and_no_lease(talk: JournalledTalk, journal: Journal) -> None:
    before = kept()
    for number in range(10 * FEW):
        mention(talk, f"many {number}")
    assert len(kept() - before) <= FEW
    assert len([each for each in journal.leases() if each.is_held]) <= FEW
    for number in range(10 * FEW):
        assert [each for each in deciding.made(journal, f"many {number}") if isinstance(each, PlanSet)]


def test_a_session_that_comes_back_goes_on_where_it_was(talk: JournalledTalk, journal: Journal) -> None:
    mention(talk, "one", "Read")
    for number in range(2 * FEW):
        mention(talk, f"many {number}")
    assert "one" not in kept()
    line = plan(entry("Write"), session="one")
    assert talk.agent(line) == [line]
    talk.catch_up()
    plans = [each.plan for each in deciding.made(journal, "one") if isinstance(each, PlanSet)]
    assert plans == [ItemsPlan(None, (Entry(word, "medium", "pending"),)) for word in ("Read", "Write")]
    assert [each.id for each in journal.sessions() if each.id.startswith("one")] == ["one"]


def test_a_session_at_work_stays_however_many_others_come(talk: JournalledTalk) -> None:
    talk.prompt(session="at work")
    for number in range(3 * FEW):
        mention(talk, f"many {number}")
    assert "at work" in kept()


def test_the_turn_that_a_left_session_was_in_is_over(talk: JournalledTalk, journal: Journal) -> None:
    for number in range(2 * FEW):
        mention(talk, f"many {number}")
    events = [type(each).__name__ for each in deciding.made(journal, "many 0")]
    assert events[-1] == "TurnEnded"
    assert json.loads(mention(talk, "many 0", "more"))["params"]["sessionId"] == "many 0"
