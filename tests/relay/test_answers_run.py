"""Answers and words from elsewhere through a relay that runs: a process, its journal, and an agent that asks."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from planwire.errors import NothingChanges, PlanError
from planwire.journal import Journal, load_state, open_journal
from planwire.model.events import APPROVED, CHANGES_REQUESTED, Event, Told, TurnEnded
from planwire.model.records import ANSWER, PlanRecord
from planwire.session.reach import session_reach
from planwire.session.steering import steer
from planwire.steering.wanted import Wanted
from tests.agents.driving import Relayed
from tests.waiting import until
from tests.wire import JSON, request

MODE = "plan-mode"


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return tmp_path / "notes.jsonl"


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with open_journal(tmp_path / "journal.db") as journal:
        yield journal


def relayed(notes: Path, *more: str, options: tuple[str, ...] = ()) -> Relayed:
    return Relayed("asks.py", str(notes), *more, journal=notes.with_name("journal.db"), options=options)


def ask(relay: Relayed, journal: Journal, *, is_answerable: bool = True) -> None:
    """Prompt the agent, which asks, until people can answer."""
    relay.begin()
    relay.write(request("session/prompt", 9, sessionId="s", prompt=[{"type": "text", "text": "Plan it"}]) + b"\n")
    assert json.loads(relay.line())["method"] == "session/request_permission"
    until(lambda: plan(journal) is not None and ("answer" in session_reach(journal, "s").can) == is_answerable)


def plan(journal: Journal) -> PlanRecord | None:
    record = load_state(journal, "s").plans.get(MODE)
    return record if record and (record.asked or record.reviews) else None


def judged(journal: Journal) -> PlanRecord:
    record = plan(journal)
    assert record is not None
    return record


def decide(journal: Journal, act: str = "review", **arguments: str) -> str:
    return steer(journal, "s", MODE, Wanted(act, **arguments), "ana").words  # type: ignore[arg-type]


def heard(notes: Path) -> list[JSON]:
    """What the agent got, after the client's prompt."""
    lines = [json.loads(line) for line in notes.read_text().splitlines()]
    return lines[3:]


def events(journal: Journal, kind: type[Event]) -> list[Event]:
    return [each.event for each in journal.read("s") if isinstance(each.event, kind)]


def answers(journal: Journal) -> list[Event]:
    return [each for each in events(journal, Told) if isinstance(each, Told) and each.way == ANSWER]


@pytest.mark.parametrize(("verdict", "option"), [(APPROVED, "yes"), (CHANGES_REQUESTED, "no")])
def test_an_answer_from_elsewhere_reaches_the_agent_and_the_client_hears_of_it(
    notes: Path, journal: Journal, verdict: str, option: str
) -> None:
    with relayed(notes) as relay:
        ask(relay, journal)
        assert "Queued for the agent" in decide(journal, verdict=verdict)
        lines = [json.loads(relay.line()) for _ in range(2)]
        taken_back = {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 0}}
        ended = {"jsonrpc": "2.0", "id": 9, "result": {"stopReason": "end_turn"}}
        assert sorted(lines, key=str) == sorted((taken_back, ended), key=str)
        outcome = {"outcome": {"outcome": "selected", "optionId": option}}
        assert heard(notes) == [{"jsonrpc": "2.0", "id": 0, "result": outcome}]
        until(lambda: events(journal, TurnEnded))
        review = judged(journal).review
        assert review is not None
        assert (review.by, review.verdict, review.told is not None) == ("ana", verdict, True)
        with pytest.raises(PlanError, match="question is over"):
            decide(journal, verdict=verdict, question=review.question)
        relay.write(b'{"jsonrpc":"2.0","id":0,"result":{"outcome":{"outcome":"cancelled"}}}\n')
        assert relay.end()[0] == 0
    assert len(heard(notes)) == 1
    assert len(answers(journal)) == 1


@pytest.mark.parametrize(("variable", "author"), [("", "client"), ("1", "client (below an agent)")])
def test_what_the_client_of_a_relay_below_an_agent_answers_is_recorded_as_below_it(
    variable: str, author: str, notes: Path, journal: Journal
) -> None:
    """An agent that runs a relay of its own around a client of its own answers its own question."""
    machine = {"PLANWIRE_AGENT": variable}
    with Relayed("asks.py", str(notes), journal=notes.with_name("journal.db"), machine=machine) as relay:
        ask(relay, journal)
        relay.write(b'{"jsonrpc":"2.0","id":0,"result":{"outcome":{"outcome":"selected","optionId":"yes"}}}\n')
        until(lambda: judged(journal).review is not None)
        review = judged(journal).review
        assert review is not None
        assert (review.by, review.verdict) == (author, APPROVED)


def test_an_idle_agent_is_told_now_and_a_turn_is_stopped(notes: Path, journal: Journal) -> None:
    with relayed(notes) as relay:
        ask(relay, journal)
        assert decide(journal, "stop") == "The agent is told to stop."
        until(lambda: events(journal, TurnEnded) == [TurnEnded("cancelled")])
        with pytest.raises(NothingChanges):
            decide(journal, "stop")
        decide(journal, "tell", text="never touch vendor/")
        until(lambda: len(events(journal, TurnEnded)) == 2)
        prompt = heard(notes)[-1]
        assert prompt["method"] == "session/prompt"
        assert "never touch vendor/" in prompt["params"]["prompt"][0]["text"]
        relay.close_input()
        said = [json.loads(line) for line in relay.rest().splitlines()]
        shown = [each["params"]["update"]["content"]["text"] for each in said if each.get("method") == "session/update"]
        assert shown == ["ana (planwire): never touch vendor/"]
        assert [each["id"] for each in said if "id" in each] == [9]


def test_an_agent_that_is_gone_when_the_answer_comes_was_not_told(notes: Path, journal: Journal) -> None:
    with relayed(notes, "deaf") as relay:
        ask(relay, journal)
        decide(journal, verdict=APPROVED)
        until(lambda: not session_reach(journal, "s").can)
        notes.with_name("deaf").touch()
        relay.rest()
        assert relay.process.wait(20) == 0
    assert answers(journal) == []
    assert events(journal, TurnEnded) == [TurnEnded("disconnected")]
    record = judged(journal)
    assert record.asked is None
    assert record.review is not None
    assert (record.review.by, record.review.told, record.review.is_known) == ("ana", None, False)


def test_a_client_that_reads_no_more_keeps_no_answer_from_the_agent(notes: Path, journal: Journal) -> None:
    with relayed(notes) as relay:
        ask(relay, journal)
        relay.close_output()
        decide(journal, verdict=APPROVED)
        until(lambda: answers(journal))
        until(lambda: len(heard(notes)) == 1)
        relay.close_input()
        relay.process.wait(20)


def test_nobody_is_offered_to_answer_for_a_client_that_is_gone(notes: Path, journal: Journal) -> None:
    """Its end is the end of the agent's input."""
    with relayed(notes, "deaf") as relay:
        ask(relay, journal)
        relay.close_input()
        until(lambda: not session_reach(journal, "s").can)
        until(lambda: judged(journal).asked is None)
        with pytest.raises(PlanError, match="The answer was not sent: the agent asks nothing"):
            decide(journal, option="yes")
        notes.with_name("deaf").touch()
        relay.rest()
        relay.process.wait(20)
    assert events(journal, TurnEnded) == [TurnEnded("disconnected")]


def test_a_relay_that_is_told_so_leaves_answers_to_the_client(notes: Path, journal: Journal) -> None:
    with relayed(notes, options=("--no-answers",)) as relay:
        ask(relay, journal, is_answerable=False)
        assert "next prompt" in decide(journal, verdict=APPROVED)
        relay.write(b'{"jsonrpc":"2.0","id":0,"result":{"outcome":{"outcome":"selected","optionId":"no"}}}\n')
        assert json.loads(relay.line()) == {"jsonrpc": "2.0", "id": 9, "result": {"stopReason": "end_turn"}}
        relay.end()
    assert [each["result"]["outcome"]["optionId"] for each in heard(notes)] == ["no"]
    assert answers(journal) == []
