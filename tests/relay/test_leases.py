"""Sessions behind a relay, while it lives and after it was killed: what those who look at the journal find."""

import json
import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from planwire.cli import main
from planwire.journal import Journal, Terms, open_journal
from planwire.model.events import PlanSet, Recorded, TurnEnded
from planwire.readmodel.followed_files import FilePlans
from planwire.readmodel.overview import IDLE, RUNNING, STOPPED
from planwire.readmodel.sessions import Sessions, load_session
from planwire.session.lapses import end_lapsed
from tests.agents.driving import SOON, Relayed
from tests.waiting import until
from tests.wire import JSON, entry, request

STEPS: JSON = {"sessionUpdate": "plan", "entries": [entry("Read"), entry("Write")]}

RUNS = (RUNNING, True, True)
STANDS = (STOPPED, False, False)

RESTING = Terms("relay", can=("answer", "tell", "stop"))
WORKING = Terms("relay", is_working=True, can=RESTING.can)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.db"


@pytest.fixture
def journal(path: Path) -> Iterator[Journal]:
    with open_journal(path) as opened:
        yield opened


@pytest.fixture
def relayed(path: Path, tmp_path: Path) -> Iterator[Relayed]:
    with Relayed("scripted.py", str(tmp_path / "agent.jsonl"), journal=path) as running:
        yield running


def begin_turn(relayed: Relayed, session: str, *updates: JSON) -> None:
    """A prompt that the agent goes on thinking about."""
    texts = (json.dumps(updates), "Think.")
    prompt = [{"type": "text", "text": text} for text in texts]
    relayed.write(request("session/prompt", "endless", sessionId=session, prompt=prompt) + b"\n")


def terms(journal: Journal) -> list[Terms]:
    return [each.terms for each in journal.leases() if each.is_held]


def state(journal: Journal) -> str:
    [known] = journal.sessions()
    return load_session(journal, known, FilePlans()).glance.state


def ends(journal: Journal, session: str) -> list[Recorded]:
    return [each for each in journal.read(session) if isinstance(each.event, TurnEnded)]


def kill(relayed: Relayed) -> None:
    relayed.process.kill()
    relayed.process.wait(SOON)


def in_mid_turn(relayed: Relayed, journal: Journal) -> str:
    session = relayed.begin()
    begin_turn(relayed, session, STEPS)
    until(lambda: any(isinstance(each.event, PlanSet) for each in journal.read(session)))
    return session


def test_the_lease_of_a_relay_says_whether_a_turn_is_on(relayed: Relayed, journal: Journal) -> None:
    session = relayed.begin()
    until(lambda: terms(journal) == [RESTING])
    relayed.prompt(session, STEPS)
    until(lambda: ends(journal, session))
    assert (terms(journal), state(journal)) == ([RESTING], IDLE)
    begin_turn(relayed, session)
    until(lambda: terms(journal) == [WORKING])
    assert state(journal) == RUNNING
    relayed.end()
    assert journal.leases() == []
    assert [each.event for each in ends(journal, session)] == [TurnEnded("end_turn"), TurnEnded("disconnected")]


def test_a_turn_whose_relay_is_killed_is_ended_once_and_every_face_says_so(
    relayed: Relayed, path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with open_journal(path) as one, open_journal(path) as other, ThreadPoolExecutor(4) as pool:
        sessions = Sessions(other, FilePlans(), lambda _: None)
        sessions.start()
        session = in_mid_turn(relayed, one)
        assert state(one) == RUNNING
        until(lambda: [(each.state, each.is_held, each.is_working) for each in sessions.glances()] == [RUNS])
        assert end_lapsed(one) == one.leases()
        kill(relayed)
        together = Barrier(4)

        def find(journal: Journal) -> None:
            together.wait(SOON)
            assert end_lapsed(journal) == []

        list(pool.map(find, (one, other, one, other)))
        [end] = ends(one, session)
        assert (end.by, end.event) == ("planwire", TurnEnded("disconnected"))
        assert one.leases() == []
        until(lambda: [(each.state, each.is_held, each.is_working) for each in sessions.glances()] == [STANDS])
        assert main(["show", session, "--journal", str(path)]) == 0
        assert "stopped: disconnected" in capsys.readouterr().out
        sessions.close()


def test_a_relay_that_is_killed_between_turns_leaves_its_session_idle(relayed: Relayed, journal: Journal) -> None:
    session = relayed.begin()
    relayed.prompt(session, STEPS)
    until(lambda: ends(journal, session))
    kill(relayed)
    assert end_lapsed(journal) == []
    assert (state(journal), journal.leases()) == (IDLE, [])
    assert [each.event for each in ends(journal, session)] == [TurnEnded("end_turn")]


def test_a_turn_without_a_word_that_is_killed_was_on_all_the_same(relayed: Relayed, journal: Journal) -> None:
    session = relayed.begin()
    relayed.prompt(session, STEPS)
    until(lambda: ends(journal, session))
    begin_turn(relayed, session)
    until(lambda: terms(journal) == [WORKING])
    kill(relayed)
    end_lapsed(journal)
    assert [each.event for each in ends(journal, session)] == [TurnEnded("end_turn"), TurnEnded("disconnected")]


def test_an_agent_that_is_killed_is_recorded_by_its_relay_alone(relayed: Relayed, journal: Journal) -> None:
    session = in_mid_turn(relayed, journal)
    pid = relayed.process.pid
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    [agent] = [each for each in children if "scripted.py" in Path(f"/proc/{each}/cmdline").read_text()]
    os.kill(int(agent), signal.SIGKILL)
    relayed.process.wait(SOON)
    assert end_lapsed(journal) == []
    assert [(each.by, each.event) for each in ends(journal, session)] == [("relay", TurnEnded("disconnected"))]
    assert (state(journal), journal.leases()) == (STOPPED, [])


def test_a_relay_that_gets_no_lease_records_all_the_same(relayed: Relayed, path: Path, journal: Journal) -> None:
    Path(f"{path}-leases").write_text("in the way")
    session = relayed.begin()
    relayed.prompt(session, STEPS)
    assert relayed.end() == (0, "")
    assert (len(ends(journal, session)), journal.leases()) == (1, [])
    assert state(journal) == IDLE
