"""A person at the board and one at the client answer the same question at the same moment, again and again."""

import json
import random
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Barrier

import pytest

from planwire.errors import PlanError
from planwire.journal import load_state, open_journal
from planwire.model.events import APPROVED, CHANGES_REQUESTED, PlanReviewed
from planwire.session.steering import steer
from planwire.steering.wanted import Wanted
from tests.agents.driving import Relayed
from tests.waiting import until
from tests.wire import JSON, request

MODE = "plan-mode"
SOON = 20
OPTIONS = ("yes", "no")
VERDICTS = {"yes": APPROVED, "no": CHANGES_REQUESTED}


def outcome(option: str) -> bytes:
    result = {"outcome": {"outcome": "selected", "optionId": option}}
    return json.dumps({"jsonrpc": "2.0", "id": 0, "result": result}).encode() + b"\n"


@pytest.mark.parametrize("rounds", [10, pytest.param(100, marks=[pytest.mark.torture, pytest.mark.timeout(300)])])
def test_an_agent_gets_one_answer_whoever_is_faster_and_the_journal_tells_which(rounds: int, tmp_path: Path) -> None:
    """R43. The agent of this test uses one id for all of its questions."""
    notes, dice = tmp_path / "notes.jsonl", random.Random(7)
    with (
        open_journal(tmp_path / "journal.db") as journal,
        Relayed("asks.py", str(notes), journal=tmp_path / "journal.db") as relay,
        ThreadPoolExecutor(2) as pool,
    ):
        relay.begin()
        for number in range(rounds):
            prompt = [{"type": "text", "text": "Plan"}]
            relay.write(request("session/prompt", number, sessionId="s", prompt=prompt) + b"\n")
            until(lambda: any(each.asked for each in load_state(journal, "s").plans.values()))
            here, there, together = dice.choice(OPTIONS), dice.choice(OPTIONS), Barrier(2)

            def decide(option: str = here, together: Barrier = together) -> None:
                together.wait(SOON)
                with suppress(PlanError):
                    steer(journal, "s", MODE, Wanted("review", option=option), "ana")

            def answer(option: str = there, together: Barrier = together) -> None:
                together.wait(SOON)
                relay.write(outcome(option))

            both = pool.submit(decide), pool.submit(answer)
            read_until_answered(relay, number)
            for each in both:
                each.result(SOON)
            until(lambda turns=number + 1: load_state(journal, "s").turns == turns)  # type: ignore[misc]
            [got] = answers(notes)[number:]
            record = load_state(journal, "s").plans[MODE]
            assert record.asked is None
            assert record.review is not None
            assert (record.review.verdict, record.review.option) == (VERDICTS[got], got), (number, here, there)
        assert relay.end()[0] == 0
        reviews = [each.event for each in journal.read("s") if isinstance(each.event, PlanReviewed)]
    assert len(answers(notes)) == rounds
    assert {each.via for each in reviews} == {"", "planwire"}, "each was faster now and then"


def read_until_answered(relay: Relayed, number: int) -> JSON:
    while True:
        message: JSON = json.loads(relay.line())
        if message.get("id") == number and "result" in message:
            return message


def answers(notes: Path) -> list[str]:
    """The options that the agent was given."""
    lines = (json.loads(line) for line in notes.read_text().splitlines())
    return [each["result"]["outcome"].get("optionId", "") for each in lines if "result" in each]
