"""Compactions of a session's chat: what belongs to steps, pins, plans told anew, and summaries that were paid for."""

import json
import re
from typing import Any

import pytest

from planwire import BlockingPlanSession
from planwire.chat.compaction import Compaction
from planwire.journal import Journal, Stamped
from planwire.model.events import Event, MessagePinned, Remarked
from planwire.model.plan import BODY_CAP, PLANS_CAP
from planwire.session.live_history import SNAPSHOT_EVERY
from tests import deciding
from tests.chats import by_fours

WORDS = "words " * 40


@pytest.fixture
def plans(journal: Journal) -> BlockingPlanSession:
    return BlockingPlanSession(journal, "s")


def append(journal: Journal, event: Event) -> None:
    deciding.write(journal, "s", Stamped(1, "user", event))


def say(plans: BlockingPlanSession, *names: str, role: str = "assistant") -> None:
    plans.add(*({"message_id": name, "role": role, "content": f"{name} {WORDS}"} for name in names))


def worked(plans: BlockingPlanSession) -> None:
    """A session with chatter about two steps, of which the second one is open."""
    say(plans, "task", role="user")
    plans.call("set_plan", {"entries": ["one", "two"]})
    plans.call("update_plan", {"steps": {"s2": "in_progress"}})
    say(plans, "open-a", "open-b")
    plans.call("update_plan", {"steps": {"s1": "in_progress", "s2": "pending"}})
    say(plans, "done-a", "done-b")
    plans.call("update_plan", {"steps": {"s1": "completed"}})
    say(plans, "none-a", "none-b")


def left_out(plans: BlockingPlanSession, by: int) -> tuple[str, ...]:
    """What a compaction that has to save so many tokens leaves out."""
    return plans.compact(plans.compact(tail=0, count=by_fours).tokens_after - by, tail=0, count=by_fours).left_out


def test_what_belongs_to_finished_steps_goes_first_and_what_belongs_to_open_ones_last(
    plans: BlockingPlanSession,
) -> None:
    worked(plans)
    assert left_out(plans, 60) == ("done-a", "done-b")
    assert [each for each in left_out(plans, 100) if not each.startswith("summary:")] == ["none-a", "none-b"]


def test_what_a_message_belongs_to_outlives_changes_restarts_and_the_way_into_another_session(
    journal: Journal, plans: BlockingPlanSession
) -> None:
    worked(plans)
    plans.rebase()  # the changes that said when a step was in progress are gone
    for number in range(SNAPSHOT_EVERY):
        plans.call("update_plan", {"note": f"{number}"})
    plans.rebase()
    exported = json.loads(plans.export())
    envelopes = ((each["message_id"], each.get("extra", {}).get("planwire")) for each in exported)
    of_step = {name: envelope["steps"] for name, envelope in envelopes if envelope}
    assert of_step == {"open-a": ["main#s2"], "open-b": ["main#s2"], "done-a": ["main#s1"], "done-b": ["main#s1"]}
    other = BlockingPlanSession(journal, "other")
    other.add(*exported)
    for again in (BlockingPlanSession(journal, "s"), other):
        assert left_out(again, 60) == ("done-a", "done-b")


def test_a_pinned_message_goes_last_until_it_is_let_go(journal: Journal, plans: BlockingPlanSession) -> None:
    say(plans, "task", role="user")
    say(plans, "a", "b", "c", "d")
    append(journal, MessagePinned("a"))
    append(journal, MessagePinned("nobody"))
    plans.refresh()
    pinned = [each["message_id"] for each in json.loads(plans.export()) if "extra" in each]
    assert pinned == ["a"]
    assert BlockingPlanSession(journal, "s").context() == plans.context()
    assert left_out(plans, 20) == ("b", "c")
    append(journal, MessagePinned("a", is_pinned=False))
    assert left_out(plans, 10) == ("a", "summary:2:b")


def test_a_pin_is_in_the_snapshot(journal: Journal, plans: BlockingPlanSession) -> None:
    say(plans, "task", "a", role="user")
    append(journal, MessagePinned("a"))
    say(plans, *(f"m{number}" for number in range(SNAPSHOT_EVERY)))
    assert journal.snapshot("s", "session") is not None
    again = BlockingPlanSession(journal, "s")
    assert '"pinned":true' in again.export().decode()


# Plans told anew


def test_a_plan_that_outgrew_its_cap_is_told_anew_with_the_newest_notes(plans: BlockingPlanSession) -> None:
    plans.call("set_plan", {"entries": ["one", "two"]})
    for number in range(12):
        plans.call("update_plan", {"note": f"note {number} " + "x" * 9_000})
    before = plans.state.plans["main"]
    made = plans.compact(tail=0)
    assert len(made.retired) == 13
    [told] = plans.context()
    assert told["content"].count("<note") == len(before.notes)
    assert "note 11" in told["content"]
    assert f'<older-notes count="{12 - len(before.notes)}" means="get_plan' in told["content"]
    assert len(told["content"].encode()) < BODY_CAP
    plans.call("update_plan", {"steps": {"s1": "completed"}})
    assert len(plans.context()) == 2
    assert plans.compact(tail=0).left_out == ()


def test_a_plan_within_its_cap_is_told_anew_only_if_asked(plans: BlockingPlanSession) -> None:
    worked(plans)
    before = plans.context()
    assert plans.compact().left_out == ()
    made = plans.compact(rebase=True)
    after = plans.context()
    assert len(made.retired) == 4
    assert len(after) == len(before) - 3
    assert '<step id="s1" status="completed">one</step>' in after[-1]["content"]
    assert made.tokens_after < made.tokens_before
    assert plans.compact(rebase=True) == Compaction(made.messages, (), (), (), made.tokens_after, made.tokens_after)


# Summaries


def test_a_summary_is_not_asked_for_twice_if_another_compaction_was_faster(
    journal: Journal, plans: BlockingPlanSession
) -> None:
    plans.add({"role": "event", "content": "", "extra": {"event": {"subkind": "tick", "source": "x"}}})
    say(plans, "task", "a", "b", "c", "d", role="user")
    other = BlockingPlanSession(journal, "s")
    asked: list[int] = []

    def summarise(messages: Any) -> str:
        asked.append(len(messages))
        other.compact(tail=1)
        return "So."

    made = plans.compact(made_of(plans) - 60, tail=1, count=by_fours, summarise=summarise)
    assert plans.state.compacted > 0
    assert len(asked) == 1
    assert made.over_by == 0
    assert "So." in str(plans.context())


def made_of(plans: BlockingPlanSession) -> int:
    return sum(len(json.dumps(each)) // 4 for each in plans.context())


def test_a_budget_is_met_by_the_very_context_that_anthropic_gets_with_its_breakpoints(journal: Journal) -> None:
    plans = BlockingPlanSession(journal, "a", format="anthropic")
    plans.set(["one", "two"])
    plans.add(*({"role": "user", "content": f"{number} words"} for number in range(40)))

    def size(message: Any) -> int:
        return len(json.dumps(message))

    for budget in range(1_500, 900, -30):
        assert plans.compact(budget, tail=0, count=size).over_by == 0
        assert sum(map(size, plans.context())) <= budget


def test_a_session_says_how_many_of_the_newest_events_of_a_kind_stay(plans: BlockingPlanSession) -> None:
    for number in range(5):
        plans.event("cron_fire", f"fire {number}")
    plans.compact(recent=1)
    assert [message["content"].count("fire 4") for message in plans.context()] == [0, 1]


def test_all_plans_together_have_a_bound_on_what_the_model_is_told(
    journal: Journal, plans: BlockingPlanSession
) -> None:
    for number in range(12):
        plans.set(f"# Plan {number}\n\n- [ ] {'x' * 90_000}", plan_id=f"p{number}")
    append(journal, Remarked("p3", "comment", "keep it small"))
    for shown in (str(plans.recap()), _compacted(plans)):
        assert len(shown) <= PLANS_CAP + 12 * 300
        titled = re.findall(r"get_plan with plan_id (p[0-9]+) shows it", shown)
        assert sorted(titled, key=lambda each: int(each[1:])) == [
            f"p{number}" for number in range(12) if number not in (3, 11)
        ]
    assert plans.compact(budget=100_000, tail=0).over_by == 0


def _compacted(plans: BlockingPlanSession) -> str:
    plans.compact(tail=0)
    return str(plans.context())
