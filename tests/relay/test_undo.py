"""Verdicts that can be undone, and a relay that runs: it hands them on, whatever becomes of the page or the board."""

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from planwire.journal import Journal, load_state, open_journal
from planwire.model.events import CHANGES_REQUESTED, Event, PlanReviewed, ReviewUndone
from planwire.own_process import own_command
from planwire.session.reach import session_reach
from planwire.session.steering import steer
from planwire.steering.wanted import Wanted
from tests.agents.driving import SOON, Relayed
from tests.relay.test_answers_run import MODE, ask, heard, judged, plan, relayed
from tests.waiting import until
from tests.wire import JSON, entry, request

TOKEN = "a-token-for-tests-only"
YES = {"jsonrpc": "2.0", "id": 0, "result": {"outcome": {"outcome": "selected", "optionId": "yes"}}}
NO = {"jsonrpc": "2.0", "id": 0, "result": {"outcome": {"outcome": "selected", "optionId": "no"}}}
LONG = 60_000


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return tmp_path / "notes.jsonl"


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with open_journal(tmp_path / "journal.db") as journal:
        yield journal


@contextmanager
def board(journal: Path, seconds: str) -> Iterator[tuple["subprocess.Popen[str]", httpx.Client]]:
    """A board in a process of its own, and a client of it."""
    environment = {
        **os.environ,
        "PLANWIRE_BOARD_TOKEN": TOKEN,
        "PLANWIRE_JOURNAL": str(journal),
        "PLANWIRE_UNDO_SECONDS": seconds,
    }
    command = [*own_command(), "board", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stdout is not None
            base = str(httpx.URL(process.stdout.readline().split()[-1]).copy_with(path="/", query=None, fragment=None))
            headers = {"Authorization": f"Bearer {TOKEN}", "Origin": base.rstrip("/")}
            with httpx.Client(base_url=base, headers=headers, timeout=SOON) as client:
                yield process, client
        finally:
            process.kill()


def post(client: httpx.Client, **body: str) -> JSON:
    answer = client.post(f"/sessions/s/plans/{MODE}/acts", json=body)
    assert answer.status_code == 200, answer.text
    words: JSON = answer.json()
    return words


def events(journal: Journal, kind: type[Event], session: str = "s") -> list[Any]:
    return [each.event for each in journal.read(session) if isinstance(each.event, kind)]


def test_the_agent_has_the_verdict_after_the_delay_even_if_the_board_was_killed(notes: Path, journal: Journal) -> None:
    with relayed(notes) as relay:
        ask(relay, journal)
        with board(notes.with_name("journal.db"), "1") as (process, client):
            assert post(client, act="review", verdict="approved")["words"].startswith("Sending “Yes” in 1 s")
            process.kill()
            process.wait(SOON)
        assert judged(journal).pending is not None
        assert heard(notes) == []
        until(lambda: heard(notes) == [YES])
        until(lambda: judged(journal).review is not None and judged(journal).asked is None)
        review = judged(journal).review
        assert review is not None
        assert (review.by, review.verdict, review.told is not None) == ("user (by a script)", "approved", True)


def test_an_undo_on_the_board_comes_before_the_agent_hears_anything(notes: Path, journal: Journal) -> None:
    with relayed(notes) as relay:
        ask(relay, journal)
        with board(notes.with_name("journal.db"), "30") as (_, client):
            post(client, act="review", verdict="approved", text="well done")
            [shown] = client.get("/sessions/s.json").json()["plans"]
            assert (shown["pending"]["verdict"], shown["pending"]["answer"]) == ("approved", "Yes")
            assert shown["question"]["open"]
            assert post(client, act="withdraw")["words"] == "Undone. Nothing was sent."
        steer(journal, "s", MODE, Wanted("review", verdict=CHANGES_REQUESTED), "ben")
        until(lambda: heard(notes) == [NO])
        assert len(events(journal, ReviewUndone)) == 1
        assert [each.verdict for each in events(journal, PlanReviewed)] == [CHANGES_REQUESTED]


def test_the_editor_may_answer_first(notes: Path, journal: Journal) -> None:
    with relayed(notes) as relay:
        ask(relay, journal)
        steer(journal, "s", MODE, Wanted("review", verdict="approved"), "ana", undo=500)
        relay.write(json.dumps(NO).encode() + b"\n")
        until(lambda: heard(notes) == [NO] and judged(journal).asked is None)
        assert judged(journal).pending is None
        relay.write(request("session/prompt", 10, sessionId="s", prompt=[{"type": "text", "text": "Plan"}]) + b"\n")
        until(lambda: judged(journal).asked is not None)
        assert [each.verdict for each in judged(journal).reviews] == [CHANGES_REQUESTED]


def test_a_relay_that_is_killed_leaves_the_verdict_to_the_one_after_it(tmp_path: Path, journal: Journal) -> None:
    path, memory = tmp_path / "journal.db", tmp_path / "agent.jsonl"
    steps: JSON = {"sessionUpdate": "plan", "entries": [entry("Read")]}
    with Relayed("scripted.py", str(memory), journal=path) as relay:
        session = relay.begin()
        relay.prompt(session, steps)
        until(lambda: None in load_state(journal, session).plans)
        until(lambda: session_reach(journal, session).can)
        steer(journal, session, None, Wanted("review", verdict=CHANGES_REQUESTED, text="smaller"), "ana", undo=2_000)
        relay.process.kill()
        relay.process.wait(SOON)
    assert load_state(journal, session).pending
    with Relayed("scripted.py", str(memory), journal=path) as relay:
        relay.ask("initialize", protocolVersion=1)
        relay.ask("session/load", sessionId=session, cwd="/project", mcpServers=[])
        relay.prompt(session)
        assert "smaller" not in memory.read_text(), "it can still be undone"
        until(lambda: not load_state(journal, session).pending)
        until(lambda: relay.prompt(session) is not None and "smaller" in memory.read_text())
    assert len(events(journal, PlanReviewed, session)) == 1


def test_a_verdict_in_the_terminal_app_and_one_on_the_board_make_one_answer(notes: Path, journal: Journal) -> None:
    with relayed(notes) as relay:
        ask(relay, journal)
        steer(journal, "s", MODE, Wanted("review", verdict="approved"), "ana", undo=LONG)
        steer(journal, "s", MODE, Wanted("review", verdict=CHANGES_REQUESTED), "ben", undo=300)
        until(lambda: heard(notes) == [NO])
        record = plan(journal)
        assert record is not None
        assert record.pending is None
