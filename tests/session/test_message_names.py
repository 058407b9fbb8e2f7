"""The names of messages: whoever gives one, a compaction never takes one message for another."""

import json
from typing import Any

import pytest

from planwire import BlockingPlanSession
from planwire.errors import BadMessage
from planwire.journal import Journal
from planwire.session import writer
from planwire.session.steering import steer
from planwire.steering.wanted import Wanted


@pytest.fixture
def plans(journal: Journal) -> BlockingPlanSession:
    return BlockingPlanSession(journal, "s")


def user(text: str, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": text, **more}


def contents(plans: BlockingPlanSession) -> list[str]:
    return [each["content"] for each in plans.context()]


def test_a_name_like_those_that_planwire_gave_once_swaps_nothing(plans: BlockingPlanSession) -> None:
    plans.add(user("FIRST: never delete prod", message_id="m3"), user("second"))
    plans.event("tick")
    plans.add(user("third"))
    left = plans.compact(tail=1).left_out
    assert len(left) == 1
    assert contents(plans) == ["FIRST: never delete prod", "second", "third"]


@pytest.mark.parametrize("name", ["plan-3", "delta-4", "rebase-5", "remarks-5", "told-4"])
def test_a_message_named_like_a_plan_is_not_replaced_by_one(plans: BlockingPlanSession, name: str) -> None:
    plans.add(user("mine", message_id=name))
    plans.call("set_plan", {"entries": ["read"]})
    plans.call("update_plan", {"note": "so"})
    plans.event("tick")
    plans.add(user("more"))
    for again in range(3):
        plans.compact(tail=1, rebase=again == 2)
        assert contents(plans).count("mine") == 1
        assert str(contents(plans)).count("<plan ") == 1


def test_a_message_named_like_a_marker_outlives_the_marker(plans: BlockingPlanSession) -> None:
    plans.add(*(user(f"chatter {number} " * 30, message_id=f"c{number}") for number in range(4)))
    plans.add(user("mine", message_id="summary:3:c1"), user("last"))
    assert plans.compact(220, tail=2).left_out == ("c1", "c2", "c3")
    assert contents(plans)[-2:] == ["mine", "last"]
    assert "3 earlier messages" in contents(plans)[1]


def test_an_export_names_nothing_as_an_author_did(journal: Journal, plans: BlockingPlanSession) -> None:
    plans.call("set_plan", {"entries": ["read"]})
    plans.rebase()
    plans.call("update_plan", {"note": "so"})
    plans.rebase()
    steer(journal, "s", "main", Wanted("comment", text="never touch vendor/"), by="ann")
    plans.add(user("mine", message_id="retired-plans"))
    plans.add(user("mine too", message_id=f"remarks-{plans.state.seq + 1}"))
    names = [each["message_id"] for each in json.loads(plans.export())]
    assert len(names) == len({*names})
    other = BlockingPlanSession(journal, "other")
    other.add(*json.loads(plans.export()))
    assert {"mine", "mine too"} < {*contents(other)}


def test_a_message_under_the_name_of_words_that_were_carried_over_is_not_lost(
    journal: Journal, plans: BlockingPlanSession
) -> None:
    plans.call("set_plan", {"entries": ["read"]})
    steer(journal, "s", "main", Wanted("comment", text="never touch vendor/"), by="ann")
    [*_, words] = exported = json.loads(plans.export())
    other = BlockingPlanSession(journal, "other")
    other.add(*exported)
    with pytest.raises(BadMessage, match="already has a message with the `message_id`"):
        other.add(user("mine", message_id=words["message_id"]))
    other.add(*exported)
    assert len(other.refresh().plans["main"].remarks) == 1, "words are carried over once, however often that is done"


def test_the_name_that_adding_returns_is_the_one_that_the_message_has(
    plans: BlockingPlanSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "time_ns", lambda: 42_000_000)  # all within one millisecond
    [name] = plans.add(user("one"))
    kind, number, time = name.split("-")
    taken = f"{kind}-{int(number) + 2}-{time}"
    plans.add(user("two", message_id=taken))
    [third] = plans.add(user("three"))
    assert third == f"{taken}'"
    stored = {each["message_id"]: each["content"] for each in json.loads(plans.export())}
    assert [stored[each] for each in (name, taken, third)] == ["one", "two", "three"]
    plans.pin(third)


def test_a_chat_with_names_from_another_session_is_compacted_without_a_swap(
    journal: Journal, plans: BlockingPlanSession
) -> None:
    """Both sessions have messages 3, 4 and so on."""
    plans.add(user("task"))
    plans.call("set_plan", {"entries": ["read"]})
    plans.add(*(user(f"message {number}") for number in range(40)))
    plans.compact(300, tail=6)
    other = BlockingPlanSession(journal, "other")
    other.add(*json.loads(plans.export()))
    other.add(*(user(f"new {number}") for number in range(45)))
    other.event("tick")
    other.add(*(user(f"newer {number}") for number in range(6)))
    before = contents(other)
    left = other.compact(tail=2).left_out
    assert len(left) == 1
    assert contents(other) == [each for each in before if "tick" not in each]
