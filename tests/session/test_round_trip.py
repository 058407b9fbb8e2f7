"""A chat that is exported and added to another session: it goes on there as it would have here."""

import copy
import json
import random
import re
import xml.etree.ElementTree as ET
from collections import Counter
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planwire import BlockingPlanSession, open_journal
from planwire.chat import read_stream
from planwire.chat.belonging import belonging
from planwire.errors import BadMessage
from planwire.journal import Journal
from planwire.model.plan import Fields, MarkdownPlan
from planwire.session.options import ProviderFormat
from planwire.session.steering import steer
from planwire.steering.wanted import Wanted
from tests.session.model_reader import assert_reads_as, blocks, read_plans
from tests.session.random_life import RandomLife

FORMATS = get_args(ProviderFormat)


def counted(message: Fields) -> int:
    """A counter to which all numbers are alike: those of events differ from journal to journal."""
    return len(re.sub(r"\d+", "0", json.dumps(message)))


def as_told(context: list[Fields], *, remarks: bool = True) -> list[str]:
    """A context without the numbers of events, and perhaps without what people said."""
    lines = (re.sub(r'(revision|said_in)(\\*"?[=:] ?\\*")[a-z-]*\d+', r"\1\2N", json.dumps(each)) for each in context)
    lines = (re.sub(r'(revision\\*"?[=:] ?)\d+', r"\1N", each) for each in lines)
    lines = (re.sub(r'\\"verdict\\":{[^}]*\\"stale\\":true},', "", each) for each in lines)  # those stay behind
    return [each for each in lines if remarks or "<plan-remarks>" not in each]


def lived(form: ProviderFormat, seed: int, moves: int) -> RandomLife:
    """A session with a past."""
    life = RandomLife(form, random.Random(seed))
    acts = (life.chat, life.chat, life.chat, life.work, life.work, life.work, life.say, life.act, life.request_now)
    for _ in range(moves):
        life.luck.choice((*acts, life.compact, life.rebase))()
    return life


def moved(life: RandomLife) -> RandomLife:
    """The same life after it was carried over into another journal."""
    other = copy.copy(life)
    other.journal, other.session = open_journal("memory:"), "another"
    other.minds, other.bridges = copy.deepcopy(life.minds), {}
    other.plans = other.opened()
    other.plans.add(*json.loads(life.plans.export()))
    return other


def go_on(life: RandomLife, seed: int, moves: int) -> list[Fields]:
    """More work, and a compaction."""
    life.luck = random.Random(seed)
    life.any_name = lambda: f"own {life.number}"  # type: ignore[method-assign]
    for _ in range(moves):
        life.luck.choice((life.chat, life.chat, life.work, life.work, life.work))()
    if life.luck.random() < 0.5:
        life.plans.context()
    budget = life.luck.choice((None, 1, 1_500, 6_000, 20_000))
    life.plans.compact(budget, tail=life.luck.randrange(6), count=counted, rebase=life.luck.random() < 0.3)
    return life.plans.context()


def assert_the_same(there: list[Fields], here: list[Fields]) -> None:
    """What people said stands at the end of a chat that was carried over, and the same is said."""
    assert as_told(there, remarks=False) == as_told(here, remarks=False)
    told = [Counter(items(context)) for context in (there, here)]
    assert told[0] == told[1]


def carried(export: bytes) -> list[Fields]:
    """An export without the name of its last message and of its session, where people's words are from, and with the
    steps of each message, whether it names them or the plans before it do."""
    messages: list[Fields] = json.loads(export)
    for each, steps in zip(messages, belonging(read_stream(export)).steps, strict=True):
        envelope = each.setdefault("extra", {}).setdefault("planwire", {})
        envelope["steps"] = steps
        match each:
            case {"extra": {"event": {"subkind": "remark", "payload": payload}}}:
                del each["message_id"], payload["session"]
                payload["items"] = [{**item, "revision": 0} for item in payload["items"]]
    return messages


def items(context: list[Fields]) -> list[str]:
    """Each thing that people said, as it is told."""
    found = [ET.tostring(each).decode().strip() for told in blocks(context, "plan-remarks") for each in told]
    return [re.sub(r' revision="\d+"', "", each) for each in found]


@pytest.mark.parametrize("form", FORMATS)
@settings(max_examples=max(1, settings().max_examples // 25))
@given(seed=st.integers(0, 2**32), moves=st.integers(3, 30))
def test_a_chat_that_was_carried_over_goes_on_as_if_it_had_stayed(form: ProviderFormat, seed: int, moves: int) -> None:
    here = lived(form, seed, moves)
    here.bridges = {}
    before = here.plans.context()
    there = moved(here)
    assert carried(there.plans.export()) == carried(here.plans.export())
    assert as_told(there.plans.context(), remarks=False) == as_told(before, remarks=False)
    assert there.plans.state.plans.keys() == here.plans.state.plans.keys()
    assert_the_same(go_on(there, seed, moves), go_on(here, seed, moves))


def test_a_chat_that_was_carried_over_marks_the_right_step_as_done() -> None:
    with open_journal("memory:") as journal:
        here, there = BlockingPlanSession(journal, "here"), BlockingPlanSession(journal, "there")
        here.add({"role": "user", "content": "go"})
        here.call("set_plan", {"entries": ["read config", "write parser", "run tests"]})
        here.call("set_plan", {"entries": ["write parser", "run tests", "ship"]})
        here.compact(tail=0)
        here.call("update_plan", {"steps": {"s2": "completed"}, "note": "parser done"})
        there.add(*json.loads(here.export()))
        for each in (here, there):
            record = each.state.plans["main"]
            steps = [(step.id, step.content, step.status) for step in record.state.steps]
            assert steps[0] == ("s2", "write parser", "completed")
            assert [step[0] for step in steps] == ["s2", "s3", "s4"]
            assert (record.version, record.numbered) == (2, 1)
        messages = {each["message_id"]: each for each in json.loads(there.export())}
        [supersedes] = [each["extra"]["plan"]["supersedes"] for each in messages.values() if "s4" in each["content"]]
        assert "read config" in messages[supersedes]["content"], "what a version supersedes is there"


def test_a_chat_is_added_to_a_session_with_plans_and_messages_of_its_own() -> None:
    with open_journal("memory:") as journal:
        here, there = BlockingPlanSession(journal, "here"), BlockingPlanSession(journal, "there")
        for each, words in ((here, "from here"), (there, "of its own")):
            each.add({"role": "user", "content": words})
            each.call("set_plan", {"entries": [f"step {words}"]})
            each.call("set_plan", {"entries": ["x"], "plan_id": each.id})
            each.call("update_plan", {"note": f"note {words}"})
        there.add(*json.loads(here.export()))
        there.compact(tail=0)
        told = str(there.context())
        for words in ("from here", "of its own"):
            assert told.count(f"'{words}'") == 1, "no message is lost"
        main = there.state.plans["main"]
        assert [step.content for step in main.state.steps] == ["step from here"]
        assert main.version == 2, "it is the next version of the plan that was there"
        assert main.state.steps[0].id == "s1", "the changes that follow name it so"
        assert [each.text for each in main.notes] == ["note of its own", "note from here"]
        assert {*there.state.live()} == {"main", "here", "there"}
        assert_reads_as(read_plans(there.context())["main"], main)


def carried_over(here: BlockingPlanSession) -> BlockingPlanSession:
    """Another session with the chat of this one."""
    there = BlockingPlanSession(here.journal, f"copy of {here.id}")
    there.add(*json.loads(here.export()))
    return there


@pytest.fixture
def here(journal: Journal) -> BlockingPlanSession:
    """A session with three plans, of which compactions have taken some messages out of the chat."""
    here = BlockingPlanSession(journal, "here")
    for name in ("main", "second", "third"):
        here.set(["read", "write"], plan_id=name)
    here.change("second", steps={"s1": "completed"}, add="test", note="so far")
    return here


def test_a_plan_that_was_told_anew_has_the_version_the_changes_and_the_notes_that_it_had(
    here: BlockingPlanSession,
) -> None:
    here.rebase()
    here.note("more", plan_id="second")
    there = carried_over(here)
    for name in ("main", "second", "third"):
        old, new = here.state.plans[name], there.state.plans[name]
        assert (new.version, new.numbered, len(new.deltas)) == (old.version, old.numbered, len(old.deltas))
        assert (new.state, new.notes, new.message) == (old.state, old.notes, old.message)
    assert as_told([here.call("get_plan", {"plan_id": "second"})]) == as_told(
        [there.call("get_plan", {"plan_id": "second"})]
    )


def test_plans_are_carried_over_in_the_order_in_which_they_were_made(here: BlockingPlanSession) -> None:
    here.set(["another"], plan_id="second")
    here.compact(tail=0)  # takes the first version of the second plan out of the chat, and leaves the first plan there
    there = carried_over(here)
    assert [*there.state.plans] == [*here.state.plans] == ["main", "second", "third"]
    there.rebase()
    here.rebase()
    assert_the_same(there.context(), here.context())


def test_what_people_said_of_a_plan_that_was_dismissed_is_carried_over_as_theirs(here: BlockingPlanSession) -> None:
    here.remove("third")
    steer(here.journal, "here", "third", Wanted("comment", text="a pity"), by="ann")
    there = carried_over(here)
    assert [each.text for each in there.state.plans["third"].open_remarks] == ["a pity"]
    assert_the_same(there.context(), here.context())


def test_an_export_says_of_no_word_that_was_sent_that_it_may_have_been_said(here: BlockingPlanSession) -> None:
    steer(here.journal, "here", "main", Wanted("comment", text="never touch vendor/"), by="ann")
    assert "never touch vendor/" in str(here.context())
    assert "said_before" not in here.export().decode()


#: A plan as Refact cuts it: 96 Ki characters, and a marker that it does not count.
CUT = "x" * 98_304 + "\n\n[truncated: kept 98304 of 99000 chars]"


@pytest.mark.parametrize("content", ["字" * 40_000, CUT])
def test_a_plan_at_the_caps_of_another_program_is_the_plan_of_the_session(content: str) -> None:
    base = {"message_id": "p", "role": "plan", "content": content, "plan": {"version": 1, "supersedes": None}}
    event = {"subkind": "plan_delta", "source": "tool.update_plan", "payload": {"seq": 1, "summary": None}}
    note = {"message_id": "d", "role": "event", "content": "注" * 16_000, "event": event}
    with BlockingPlanSession.open("memory:", "a", oversize="truncate") as plans:
        plans.add(base, note)
        shown = plans.call("get_plan")
        assert (shown["plan"]["version"], shown["plan"]["deltas"]) == (1, 1)
        assert plans.state.plans["main"].state.plan == MarkdownPlan("main", content)
        assert [each.text for each in plans.state.plans["main"].notes] == ["注" * 16_000]
        assert "error" not in plans.call("update_plan", {"note": "more"})
        assert "error" not in plans.call("set_plan", {"entries": ["ship"], "replace": True})
        plans.compact(tail=0)
        assert str(plans.context()).count("<plan id=") == 1
        assert "注" * 1_000 in str(plans.call("get_plan", {"notes": True}))
        assert json.loads(BlockingPlanSession(plans.journal, "a").export())[1] == base


def test_a_note_whose_number_is_taken_or_missing_keeps_all_else_that_its_program_said_of_it() -> None:
    plan: Fields = {"message_id": "p", "role": "plan", "content": "1. find", "plan": {"version": 1, "supersedes": None}}
    cut = {"summary": "short", "truncated": True, "original_chars": 20_000, "kept_chars": 16_384}
    payloads = [{"seq": 1, **cut}, {"seq": 1, **cut}, {"value": 7, **cut}]
    notes: list[Fields] = [
        {
            "message_id": f"n{number}",
            "role": "event",
            "content": f"note {number}",
            "event": {"subkind": "plan_delta", "source": "tool.update_plan", "payload": payload},
            "preserve": True,
        }
        for number, payload in enumerate(payloads, start=1)
    ]
    with BlockingPlanSession.open("memory:", "a") as plans:
        plans.add(plan, *notes)
        written = json.loads(plans.export())
        assert written[:2] == [plan, notes[0]]
        for before, after in zip(notes[1:], written[2:], strict=True):
            assert after["event"]["payload"].items() >= {**cut, "seq": int(before["message_id"][1:])}.items()
            assert {**after, "event": 0} == {**before, "event": 0}
            assert after["event"]["subkind"] == "plan_delta"


def test_a_plan_that_no_program_makes_is_refused_aloud() -> None:
    with BlockingPlanSession.open("memory:", "a") as plans:
        with pytest.raises(BadMessage, match="the plan has 600,000 bytes, and at most 524,288 can be imported"):
            plans.add({"role": "plan", "content": "x" * 600_000, "plan": {"version": 1}})
        assert plans.state.plans == {}


def test_the_plan_of_a_session_follows_one_that_was_too_large_for_its_calls() -> None:
    with BlockingPlanSession.open("memory:", "a") as one, BlockingPlanSession.open("memory:", "a") as other:
        huge = {"role": "plan", "content": "z" * 100_000, "plan": {"id": "main", "version": 3}}
        one.add({"role": "user", "content": "go"}, huge)
        one.call("set_plan", {"entries": ["ship"], "replace": True})
        one.compact(tail=0)
        other.add(*json.loads(one.export()))
        for session in (one, other):
            session.compact(tail=0)
            assert [each["content"][:5] for each in session.context()] == ["go", "<plan"]
            assert "ship" in str(session.context())
