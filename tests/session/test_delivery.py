"""What people said reaches the agent: at least once, and twice only where nobody can know whether it did."""

import asyncio
import json
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from threading import Barrier, Thread
from typing import Any

import pytest

from planwire import BlockingPlanSession, PlanSession, open_journal
from planwire.chat import block, said_in
from planwire.errors import JournalUnavailable
from planwire.journal import Journal, Stamped
from planwire.model.events import APPROVED, TOLD, Recorded, Told
from planwire.session.delivery import Handing
from planwire.session.steering import steer
from planwire.steering.wanted import Wanted
from tests.waiting import until

WAIT = {"wait": "review"}
#: Times that a matter of luck is tried.
TRIES = 50


@pytest.fixture
def plans(journal: Journal) -> BlockingPlanSession:
    plans = BlockingPlanSession(journal, "s", wait_seconds=0.05)
    plans.call("set_plan", {"entries": ["read", "write", "test"]})
    plans.pending()
    return plans


def say(journal: Journal, text: str, by: str = "ann", **more: Any) -> None:
    steer(journal, "s", "main", Wanted("comment", text=text, **more), by=by)


def words(messages: list[Any]) -> list[str]:
    """What people said in messages, in the format `openai-chat`."""
    said = [each for message in messages for each in said_in(message["content"])]
    return [each.text for each in said if each.author in ("ann", "bob")]


def people(answer: Any) -> list[str]:
    return [each.get("text", each["said"]) for each in answer.get("people", ())]


def said_of_people(plans: BlockingPlanSession) -> list[str]:
    """What people said in the chat that the session keeps, in messages of planwire's."""
    return words([each for each in plans.context() if str(each.get("content")).startswith("<plan-remarks>")])


def told(answer: Any) -> list[str]:
    return [*people(answer), *(each["text"] for each in answer.get("remarks", ()))]


def is_told(plans: BlockingPlanSession, remark: str = "r1") -> bool:
    found = plans.refresh().remark(remark)
    assert found is not None
    return found.told is not None


# -- lists of messages


def test_what_a_list_told_is_told_once_and_settled_by_the_next_call(
    journal: Journal, plans: BlockingPlanSession
) -> None:
    say(journal, "one")
    assert words(plans.pending()) == ["one"]
    assert not is_told(plans), "the list may still be lost"
    assert plans.pending() == []
    assert is_told(plans)
    assert people(plans.call("get_plan")) == []


CALLS: dict[str, Callable[[BlockingPlanSession], object]] = {
    "pending": lambda plans: plans.pending(),
    "recap": lambda plans: plans.recap(),
    "call": lambda plans: plans.call("get_plan"),
    "a call that fails": lambda plans: plans.call("update_plan"),
    "add": lambda plans: plans.add({"role": "user", "content": "go on"}),
    "context": lambda plans: plans.context(),
    "compact": lambda plans: plans.compact(),
    "rebase": lambda plans: plans.rebase(),
    "end_turn": lambda plans: plans.end_turn(),
    "settle": lambda plans: plans.settle(),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("first", ["pending", "recap", "context"])
def test_the_next_call_of_any_kind_settles_what_a_list_told(
    journal: Journal, plans: BlockingPlanSession, first: str, name: str
) -> None:
    say(journal, "one")
    assert words(getattr(plans, first)()) == ["one"]
    assert not is_told(plans)
    CALLS[name](plans)
    assert is_told(plans)


def test_a_list_is_given_again_for_a_request_that_failed(journal: Journal, plans: BlockingPlanSession) -> None:
    say(journal, "one")
    plans.call("update_plan", {"note": "a note"})
    steer(journal, "s", "main", Wanted("tick", "s1"), by="ann")
    say(journal, "two")
    first = plans.pending()
    say(journal, "three")
    assert plans.pending(again=True) == plans.pending(again=True) == first
    assert not is_told(plans, "r2")
    assert words(plans.pending()) == ["three"]
    assert is_told(plans, "r2")
    assert words(plans.pending(again=True)) == ["three"]
    plans.settle()
    assert plans.pending(again=True) == [], "it is settled: what comes now is news"


def test_a_recap_is_given_again_too(journal: Journal, plans: BlockingPlanSession) -> None:
    say(journal, "one")
    again = BlockingPlanSession(journal, "s")
    first = again.pending()
    assert words(first) == ["one"]
    assert again.pending(again=True) == first
    assert again.pending() == []


# -- cancelled calls


def cancelled(act: Callable[[PlanSession], Coroutine[Any, Any, Any]], then: str) -> Counter[str]:
    """What a session tells after a call of it was cancelled at one moment or another: how often each word came."""
    found = Counter[str]()

    async def once(number: int) -> None:
        with open_journal("memory:") as journal:
            async with PlanSession.open(journal, "s") as plans:
                await plans.call("set_plan", {"entries": ["read"]})
                await plans.pending()
                say(journal, "STOP")
                task = asyncio.create_task(act(plans))
                for _ in range(number % 5):
                    await asyncio.sleep(0)
                task.cancel()
                try:
                    answer = await task
                except asyncio.CancelledError:
                    answer = []
                got = Counter(told(answer) if isinstance(answer, dict) else words(answer))
                if then == "pending":
                    got += Counter(words(await plans.pending()))
                else:
                    got += Counter(people(await plans.call("update_plan", {"note": "x"})))
                messages = await plans.pending()
                assert "said-before" not in str(messages)
                got += Counter(words(messages))
                assert got["STOP"] == 1, number
                found.update(got)

    async def main() -> None:
        for number in range(TRIES):
            await once(number)

    asyncio.run(main())
    return found


@pytest.mark.parametrize(
    ("act", "then"),
    [
        (lambda plans: plans.pending(), "pending"),
        (lambda plans: plans.pending(), "call"),
        (lambda plans: plans.recap(), "pending"),
        (lambda plans: plans.call("get_plan"), "pending"),
        (lambda plans: plans.call("get_plan"), "call"),
        (lambda plans: plans.call("update_plan", {}), "pending"),
        (lambda plans: plans.call("update_plan", {}), "call"),
    ],
    ids=["pending", "pending-call", "recap", "call", "call-call", "error", "error-call"],
)
def test_a_call_that_is_cancelled_has_told_nothing_and_nothing_is_lost_or_told_twice(
    act: Callable[[PlanSession], Coroutine[Any, Any, Any]], then: str
) -> None:
    assert cancelled(act, then)["STOP"] == TRIES


def test_a_recap_that_was_cancelled_comes_with_the_next_list(journal: Journal, plans: BlockingPlanSession) -> None:
    say(journal, "one")
    handing = Handing()
    assert words(plans.as_messages(plans.hand_recap(handing))) == ["one"]
    handing.lose()
    again = plans.pending()
    assert words(again) == ["one"]
    assert '<plan id="main"' in again[0]["content"]
    assert "said-before" not in str(again), "the session knows that it did not arrive"


# -- answers of tools


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("set_plan", {"entries": ["read", "write"]}),
        ("set_plan", {"entries": ["read", "write", "test"]}),
        ("set_plan", {}),
        ("update_plan", {"note": "n"}),
        ("update_plan", {"steps": {"s9": "completed"}}),
        ("update_plan", "{"),
        ("update_plan", {"note": "n", "expected_revision": 77}),
        ("get_plan", {"plan_id": "none", **WAIT}),
        ("drop_plan", {}),
    ],
)
def test_every_answer_says_what_people_said_since_and_once(
    journal: Journal, plans: BlockingPlanSession, name: str, arguments: Any
) -> None:
    say(journal, "one")
    say(journal, "two", by="bob", target="s2")
    steer(journal, "s", "main", Wanted("review", verdict=APPROVED), by="ann")
    steer(journal, "s", "main", Wanted("tick", "s3"), by="bob")
    answer = plans.call(name, arguments)
    said = [(each["said"], each["by"]) for each in answer["people"]]
    assert said[:3] == [("comment", "ann"), ("comment", "bob"), ("verdict", "ann")]
    assert said[3:] == [("edit", "bob")], "also where the call replaced what he changed"
    assert json.loads(str(answer)) == answer
    assert is_told(plans, "r1")
    assert is_told(plans, "r2")
    assert "people" not in plans.call(name, arguments)
    assert words(plans.pending()) == ["completed"], "the change itself; what was said is in the answer"


def test_reading_a_plan_gives_all_that_holds_and_repeats_nothing(journal: Journal, plans: BlockingPlanSession) -> None:
    say(journal, "one")
    plans.call("update_plan", {"note": "n"})
    say(journal, "two")
    for _ in range(2):
        answer = plans.call("get_plan")
        assert [each["text"] for each in answer["remarks"]] == ["one", "two"]
        assert "people" not in answer
    steer(journal, "s", "main", Wanted("withdraw", "r1", text="never mind"), by="ann")
    answer = plans.call("get_plan")
    assert [each["text"] for each in answer["remarks"]] == ["two"]
    assert [(each["said"], each["id"], each["text"]) for each in answer["people"]] == [("closed", "r1", "never mind")]


def test_an_answer_of_the_agent_ends_a_comment_on_a_step_for_good(journal: Journal, plans: BlockingPlanSession) -> None:
    say(journal, "which file?", target="s1")
    assert people(plans.call("get_plan")) == []
    plans.call("update_plan", {"answers": {"r1": "parser.py"}})
    assert "remarks" not in plans.call("get_plan")
    assert words(plans.recap()) == []
    steer(journal, "s", "main", Wanted("reopen", "r1"), by="ann")
    assert people(plans.call("update_plan", {"note": "n"})) == ["which file?"]


def test_what_many_calls_could_tell_one_of_them_tells(tmp_path: Path) -> None:
    answers: list[Any] = []
    with open_journal(tmp_path / "plans.db") as journal:
        plans = BlockingPlanSession(journal, "s")
        plans.call("set_plan", {"entries": ["read"]})
        for number in range(10):
            say(journal, f"{number}")
        start = Barrier(8)

        def call() -> None:
            start.wait(20)
            answers.append(plans.call("update_plan", {"note": "n"}))

        threads = [Thread(target=call) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
    assert sorted(said for answer in answers for said in people(answer)) == sorted(map(str, range(10)))


def test_tasks_that_call_at_once_are_not_told_the_same(tmp_path: Path) -> None:
    async def main() -> None:
        with open_journal(tmp_path / "plans.db") as journal:
            async with PlanSession.open(journal, "s") as plans:
                await plans.call("set_plan", {"entries": ["read"]})
                await plans.pending()
                for number in range(10):
                    say(journal, f"{number}")
                    called = [plans.call("update_plan", {"note": "n"}) for _ in range(3)]
                    listed = asyncio.create_task(plans.pending())
                    said = [each for answer in await asyncio.gather(*called) for each in people(answer)]
                    said += words(await listed) + words(await plans.pending())
                    assert said == [f"{number}"]

    asyncio.run(main())


def test_a_session_that_closes_right_after_a_call_has_told_what_the_answer_said(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"

    async def call_and_close(number: int) -> None:
        async with PlanSession.open(path, "s") as plans:
            say(journal, f"word {number}")
            assert people(await plans.call("update_plan", {"note": f"note {number}"})) == [f"word {number}"]

    with open_journal(path) as journal:
        plans = BlockingPlanSession(journal, "s")
        plans.call("set_plan", {"entries": ["read"]})
        for number in range(TRIES):
            asyncio.run(call_and_close(number))
            assert is_told(plans, f"r{number + 1}")


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (Wanted("comment", text="hm"), "comment"),
        (Wanted("comment", "s2", text="hm"), "comment"),
        (Wanted("review", verdict=APPROVED), "verdict"),
        (Wanted("review", verdict="changes_requested", text="smaller"), "request"),
        (Wanted("select", steps=("s1",)), "selection"),
    ],
)
def test_any_word_of_a_person_ends_the_waiting(tmp_path: Path, wanted: Wanted, said: str) -> None:
    answers: list[Any] = []
    with open_journal(tmp_path / "plans.db") as mine, open_journal(tmp_path / "plans.db") as theirs:
        plans = BlockingPlanSession(mine, "s")
        plans.call("set_plan", {"entries": ["read", "write"]})
        thread = Thread(target=lambda: answers.append(plans.call("get_plan", WAIT)))
        thread.start()
        until(lambda: plans.refresh().plans["main"].asked is not None)
        steer(theirs, "s", "main", wanted, by="ann")
        thread.join(20)
    assert said in [each["said"] for each in answers[0]["remarks"]]


# -- compactions


def test_a_compaction_leaves_a_chat_alone_that_shows_all_that_holds(
    journal: Journal, plans: BlockingPlanSession
) -> None:
    plans.add({"role": "user", "content": "hello"})
    for text in ("one", "two"):
        say(journal, text)
        context = plans.context()
    plans.settle()
    seq = plans.state.seq
    made = plans.compact(10_000)
    assert (made.left_out, made.written, made.tokens_before) == ((), (), made.tokens_after)
    assert (plans.state.seq, plans.context()) == (seq, context), "the provider's cache holds"
    steer(journal, "s", "main", Wanted("withdraw", "r1"), by="ann")
    assert len(plans.context()) == len(context) + 1
    made = plans.compact(10_000)
    assert len(made.left_out) == 3
    assert words(plans.context()[-1:]) == ["two"]
    assert [each["content"] for each in plans.context()[-1:]] == [block(made.messages[-1])]
    seq = plans.state.seq
    plans.compact(10_000)
    plans.rebase()
    assert plans.state.seq == seq


def test_what_an_answer_told_gets_a_message_when_that_answer_goes(journal: Journal, plans: BlockingPlanSession) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "update_plan", "arguments": "{}"}}
    say(journal, "one")
    plans.add({"role": "assistant", "tool_calls": [call]})
    answer = plans.call("update_plan", {"note": "n"})
    plans.add({"role": "tool", "tool_call_id": "c", "content": str(answer)})
    plans.add({"role": "assistant", "tool_calls": [{**call, "id": "d"}]})
    plans.add({"role": "tool", "tool_call_id": "d", "content": f"{answer['said_in']} and r1 are only spoken of here"})
    for number in range(6):
        plans.add({"role": "user", "content": f"{number} " * 99})
    assert said_of_people(plans) == []
    plans.compact(3_000, tail=9)
    assert said_of_people(plans) == [], "the answer is still there"
    plans.compact(1, tail=8)
    assert len([each for each in plans.context() if each["role"] == "tool"]) == 1
    assert said_of_people(plans) == ["one"]


def test_the_end_of_a_remark_is_told_for_as_long_as_an_answer_shows_it(
    journal: Journal, plans: BlockingPlanSession
) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "update_plan", "arguments": "{}"}}
    say(journal, "one")
    plans.add({"role": "assistant", "tool_calls": [call]})
    plans.add({"role": "tool", "tool_call_id": "c", "content": str(plans.call("update_plan", {"note": "n"}))})
    steer(journal, "s", "main", Wanted("withdraw", "r1", text="never mind"), by="bob")
    assert said_of_people(plans) == ["never mind"]
    plans.add({"role": "event", "content": "", "extra": {"event": {"subkind": "tick", "source": "x"}}})
    plans.compact(tail=0)
    assert said_of_people(plans) == ["never mind"]
    plans.compact(1, tail=0)
    assert said_of_people(plans) == []


def test_a_compaction_that_another_was_faster_than_tells_nothing(journal: Journal, plans: BlockingPlanSession) -> None:
    plans.add(*({"role": "user", "content": f"{number} " * 99} for number in range(9)))
    other = BlockingPlanSession(journal, "s")
    turns: list[int] = []

    def summarise(messages: Any) -> str:
        turns.append(len(messages))
        if len(turns) == 1:
            other.compact(300, tail=2)
            say(journal, "meanwhile")
        return "summed up"

    plans.compact(200, tail=1, summarise=summarise)
    assert len(turns) > 1
    assert said_of_people(plans) == ["meanwhile"]


# -- others on the same session


def test_a_session_under_another_name_takes_nothing_away_from_the_agent(
    journal: Journal, plans: BlockingPlanSession
) -> None:
    say(journal, "one")
    bob = BlockingPlanSession(journal, "s", by="bob")
    assert words(bob.pending()) == ["one"], "who opens a session may read all of it"
    bob.add({"role": "user", "content": "hello"})
    for _ in range(2):
        assert "people" not in bob.call("update_plan", {"note": "n"})
        assert [each["text"] for each in bob.call("get_plan")["remarks"]] == ["one"]
        bob.pending()
        bob.context()
        bob.compact(1, tail=0)
        bob.rebase()
        bob.end_turn()
    assert not any(isinstance(each.event, Told) for each in journal.read("s"))
    answer = plans.call("get_plan", {"plan_id": "none", **WAIT})
    assert "one" in people(answer)


def test_a_session_that_was_forgotten_owes_nothing_of_its_former_life(
    journal: Journal, plans: BlockingPlanSession
) -> None:
    for number in range(9):
        say(journal, f"{number}")
    assert len(words(plans.pending())) == 9
    journal.forget("s")
    BlockingPlanSession(journal, "s").call("set_plan", {"entries": ["anew"]})
    steer(journal, "s", "main", Wanted("review", verdict=APPROVED), by="ann")
    assert people(plans.call("get_plan", {"plan_id": "none", **WAIT})) == ["verdict"]


# -- a process that is killed

_KILLED = """
import os, signal, sys
from planwire import BlockingPlanSession
from planwire.session.delivery import Handing
with BlockingPlanSession.open(sys.argv[1], "s") as plans:
    if sys.argv[2] == "recap":
        plans.recap()
    elif sys.argv[2] == "context":
        plans.add({"role": "user", "content": "hello"})
        plans.context()
    else:
        handing = Handing()
        plans.call_now("update_plan", {"note": "n"}, handing=handing)
        handing.hand_over()
    print("handed over", flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("how", ["recap", "context", "call"])
@pytest.mark.parametrize("then", ["pending", "call"])
def test_after_a_kill_between_handing_over_and_recording_it_is_said_again_and_marked(
    tmp_path: Path, how: str, then: str
) -> None:
    path = tmp_path / "plans.db"
    with BlockingPlanSession.open(path, "s") as before:
        before.call("set_plan", {"entries": ["read"]})
        say(before.journal, "STOP")
    killed = subprocess.run([sys.executable, "-c", _KILLED, path, how], capture_output=True, check=False, text=True)
    assert (killed.returncode, killed.stdout) == (-signal.SIGKILL, "handed over\n"), killed.stderr
    with BlockingPlanSession.open(path, "s") as after:
        if then == "call":
            answer = after.call("update_plan", {"note": "m"})
            assert [(each["text"], each["said_before"]) for each in answer["people"]] == [("STOP", "perhaps")]
        else:
            assert words(messages := after.pending()) == ["STOP"]
            assert 'said-before="perhaps"' in messages[-1]["content"]
        after.settle()
        assert is_told(after)
        assert "people" not in after.call("update_plan", {"note": "o"})


def test_a_chat_that_was_sent_before_a_kill_holds_what_people_said_once(tmp_path: Path) -> None:
    path = tmp_path / "plans.db"
    with BlockingPlanSession.open(path, "s") as before:
        before.call("set_plan", {"entries": ["read"]})
        say(before.journal, "STOP")
    subprocess.run([sys.executable, "-c", _KILLED, path, "context"], capture_output=True, check=False)
    with BlockingPlanSession.open(path, "s") as after:
        assert words([each for each in after.context() if each["content"].startswith("<")]) == ["STOP"]
        assert "people" not in after.call("update_plan", {"note": "m"}), "the chat that was just sent has it"


def test_a_journal_that_fails_right_after_an_answer_was_made_costs_no_word(
    journal: Journal, plans: BlockingPlanSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(journal, "one")
    write = journal.append

    def fails_to_record(session: str, events: Sequence[Stamped], *rest: Any, **more: Any) -> tuple[Recorded, ...]:
        if any(isinstance(each.event, Told) and each.event.stage == TOLD for each in events):
            raise JournalUnavailable("busy")
        return write(session, events, *rest, **more)

    monkeypatch.setattr(journal, "append", fails_to_record)
    answer = plans.call("update_plan", {"note": "n"})
    assert [each["text"] for each in answer["people"]] == ["one"]
    monkeypatch.undo()
    assert "people" not in plans.call("get_plan")
    assert is_told(plans, "r1")


def test_what_an_answer_told_that_never_came_into_the_chat_is_told_there(
    journal: Journal, plans: BlockingPlanSession
) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "update_plan", "arguments": "{}"}}
    plans.add({"role": "user", "content": "go"}, {"role": "assistant", "content": None, "tool_calls": [call]})
    say(journal, "one")
    assert plans.call("update_plan", {"note": "n"})["people"]
    again = BlockingPlanSession(journal, "s")
    assert str(again.context()).count(">one<") == 1
    assert str(again.context()).count(">one<") == 1


def test_an_interrupted_list_is_there_for_the_next_call(
    journal: Journal, plans: BlockingPlanSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(journal, "one")
    monkeypatch.setattr("planwire.session.briefing.block", _interrupted)
    with pytest.raises(KeyboardInterrupt):
        plans.pending()
    monkeypatch.undo()
    assert str(plans.pending()).count(">one<") == 1


def _interrupted(_: object) -> str:
    raise KeyboardInterrupt
