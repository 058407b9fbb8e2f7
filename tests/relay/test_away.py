"""The relay while its journal's server is away: nothing waits for it, and nothing is lost."""

from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from planwire.journal import Stamped, load_state, open_journal
from planwire.journal.away.journal import AwayJournal
from planwire.journal.user_files import VARIABLE, away_path
from planwire.journal.waiting import is_waiting, waiting_of
from planwire.model.events import COMMENT, Event, PlanSet, Remarked, SessionOpened, TurnEnded
from planwire.model.plan import ItemsPlan
from planwire.relay.actions import Meet, Record, SessionMemory
from planwire.relay.recorder import Recorder
from tests.agents.driving import Relayed
from tests.journal.outages import Outage, behind, install, open_server
from tests.relay.test_recorder import a_plan
from tests.relay.test_tools import GET, SET, shown, tooled
from tests.servers.own import ENGINES_WITH_SERVERS, own_server
from tests.waiting import until
from tests.wire import JSON, entry


@pytest.fixture
def outage(tmp_path: Path) -> Outage:
    return Outage(tmp_path)


def recorded(folder: Path, session: str) -> list[Event]:
    with open_server(folder) as server:
        return [each.event for each in server.read(session)]


def sessions(folder: Path) -> list[str]:
    with open_server(folder) as server:
        return [each.id for each in server.sessions()]


def test_a_recorder_goes_on_through_an_outage_and_finds_what_others_wrote(outage: Outage, tmp_path: Path) -> None:
    known: dict[str, SessionMemory] = {}
    recorder = Recorder(lambda: behind(tmp_path), known.__setitem__)
    recorder.start()
    recorder.put(Meet("s1", True, "agent 1", "/p"), 0)
    recorder.put(Record("s1", a_plan("a")), 100)
    until(lambda: known.get("s1") and known["s1"].seq == 1)
    outage.begin()
    recorder.put(Record("s1", a_plan("a", "b")), 100)
    recorder.wake()
    until(lambda: is_waiting(known["s1"].seq))
    recorder.put(Record("s1", TurnEnded("end_turn")), 100)
    recorder.wake()
    until(lambda: known["s1"].state.stopped is not None)
    outage.end()
    with open_server(tmp_path) as server:
        server.append("s1", [Stamped(1, "user", Remarked(None, COMMENT, "why?"))])
    until(lambda: known["s1"].seq == 4)
    assert known["s1"].state.remarked == 1
    recorder.put(Record("s1", a_plan("c")), 100)
    assert recorder.close(20) is None
    told = [type(each) for each in recorded(tmp_path, "s1")]
    assert sorted(each.__name__ for each in told) == ["PlanSet", "PlanSet", "PlanSet", "Remarked", "TurnEnded"]


def test_a_recorder_whose_answer_was_lost_goes_on_with_what_it_wrote(outage: Outage, tmp_path: Path) -> None:
    known: dict[str, SessionMemory] = {}
    recorder = Recorder(lambda: behind(tmp_path), known.__setitem__)
    recorder.start()
    recorder.put(Meet("s1", True, "agent 1", "/p"), 0)
    recorder.put(Record("s1", a_plan("a")), 100)
    until(lambda: known.get("s1") and known["s1"].seq == 1)
    outage.deaf.touch()
    recorder.put(Record("s1", a_plan("a", "b")), 100)
    recorder.wake()
    until(lambda: is_waiting(known["s1"].seq))
    assert [step.id for step in known["s1"].state.plans[None].state.steps] == ["s1", "s2"]
    outage.end()
    until(lambda: known["s1"].seq == 2)
    recorder.put(Record("s1", a_plan("a", "b", "c")), 100)
    assert recorder.close(20) is None
    ids = [each.ids for each in recorded(tmp_path, "s1") if isinstance(each, PlanSet)]
    assert ids == [("s1",), ("s1", "s2"), ("s1", "s2", "s3")]


def test_a_recorder_that_ends_while_the_server_is_away_leaves_everything_on_this_machine(
    outage: Outage, tmp_path: Path
) -> None:
    outage.begin()
    recorder = Recorder(lambda: behind(tmp_path), lambda *_: None)
    recorder.start()
    recorder.put(Meet("s1", True, "agent 1", "/p"), 0)
    recorder.put(Meet("loaded", False, "agent 1", "/p"), 0)
    for n in range(20):
        recorder.put(Record("s1", a_plan(*map(str, range(n)))), 100)
    recorder.put(Record("loaded", TurnEnded("end_turn")), 100)
    assert recorder.close(20) is None
    outage.end()
    (tmp_path / "outbox" / "away").unlink()
    with behind(tmp_path) as journal:
        until(journal.tend)
    new, loaded = sessions(tmp_path)
    assert new.startswith("s1~")
    assert loaded.startswith("loaded~")
    assert len(recorded(tmp_path, new)) == 20


# A real one


def a_list(*contents: str) -> JSON:
    return {"sessionUpdate": "plan", "entries": [entry(content) for content in contents]}


def plans(folder: Path) -> list[list[str]]:
    """The plans that the server has, whatever their session is called."""
    found = [each for session in sessions(folder) for each in recorded(folder, session)]
    known = [each.plan for each in found if isinstance(each, PlanSet)]
    return [[step.content for step in each.entries] for each in known if isinstance(each, ItemsPlan)]


def test_a_relay_whose_server_is_away_from_the_start_records_it_all(
    outage: Outage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", install(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    url: Any = f"flaky:{tmp_path}"
    monkeypatch.setenv(VARIABLE, url)
    outage.begin()
    memory = str(tmp_path / "agent.jsonl")
    with Relayed("scripted.py", memory, journal=url) as relayed:
        session = relayed.begin()
        begun = monotonic()
        relayed.prompt(session, a_list("a"))
        relayed.prompt(session, a_list("a", "b"))
        assert monotonic() - begun < 5
        assert relayed.end() == (0, "")
    assert not (tmp_path / "journal.db").exists()
    outage.end()
    with Relayed("scripted.py", memory, journal=url) as relayed:
        relayed.begin()
        until(lambda: (tmp_path / "journal.db").exists() and plans(tmp_path) == [["a"], ["a", "b"]])
        assert relayed.end() == (0, "")
    [name, *_] = [each for each in sessions(tmp_path) if each.startswith(f"{session}~")]
    assert isinstance(recorded(tmp_path, name)[0], SessionOpened)


def test_a_relay_delivers_what_it_recorded_as_soon_as_its_server_is_back(
    outage: Outage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", install(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    url: Any = f"flaky:{tmp_path}"
    with Relayed("scripted.py", str(tmp_path / "agent.jsonl"), journal=url) as relayed:
        session = relayed.begin()
        relayed.prompt(session, a_list("a"))
        until(lambda: (tmp_path / "journal.db").exists() and plans(tmp_path) == [["a"]])
        outage.begin()
        relayed.prompt(session, a_list("a", "b"))
        relayed.prompt(session, a_list("a", "b", "c"))
        outage.end()
        until(lambda: plans(tmp_path) == [["a"], ["a", "b"], ["a", "b", "c"]])
        relayed.prompt(session, a_list("d"))
        assert relayed.end() == (0, "")
    assert plans(tmp_path)[-1] == ["d"]
    assert sessions(tmp_path) == [session]


def test_a_session_that_began_while_the_server_was_away_goes_on_when_it_is_loaded_later(
    outage: Outage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", install(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    url: Any = f"flaky:{tmp_path}"
    memory = str(tmp_path / "agent.jsonl")
    outage.begin()
    with Relayed("scripted.py", memory, journal=url) as relayed:
        session = relayed.begin()
        relayed.prompt(session, a_list("a"))
        assert relayed.end() == (0, "")
    for last in "bc":  # the server is away still, and then it is back
        with Relayed("scripted.py", memory, journal=url) as relayed:
            relayed.ask("initialize", protocolVersion=1, clientCapabilities={})
            relayed.ask("session/load", sessionId=session, cwd="/project", mcpServers=[])
            relayed.prompt(session, a_list("a", last))
            assert relayed.end() == (0, "")
        outage.end()
        with AwayJournal(partial(open_server, tmp_path), away_path(url)) as journal:
            until(journal.tend)
    [name] = sessions(tmp_path)
    assert name.startswith(f"{session}~")
    assert plans(tmp_path)[-1] == ["a", "c"]
    assert [each for each in plans(tmp_path) if each != ["a"]] == [["a", "b"], ["a", "c"]]


def test_a_session_that_is_loaded_while_the_server_is_away_keeps_its_title(
    outage: Outage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", install(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    url: Any = f"flaky:{tmp_path}"
    memory = str(tmp_path / "agent.jsonl")
    with Relayed("scripted.py", memory, journal=url) as relayed:
        session = relayed.begin()
        relayed.ask("session/prompt", sessionId=session, prompt=[{"type": "text", "text": "Port the parser"}])
        relayed.prompt(session, a_list("a"))
        assert relayed.end() == (0, "")
    outage.begin()
    with Relayed("scripted.py", memory, journal=url) as relayed:
        relayed.ask("initialize", protocolVersion=1, clientCapabilities={})
        relayed.ask("session/load", sessionId=session, cwd="/project", mcpServers=[])
        relayed.ask("session/prompt", sessionId=session, prompt=[{"type": "text", "text": "Go on"}])
        outage.end()
        until(lambda: len([each for each in recorded(tmp_path, session) if isinstance(each, TurnEnded)]) == 3)
        assert relayed.end() == (0, "")
    opened = [each.title for each in recorded(tmp_path, session) if isinstance(each, SessionOpened) and each.title]
    assert opened == ["Port the parser"]


def loaded(relayed: Relayed, session: str) -> None:
    relayed.ask("initialize", protocolVersion=1, clientCapabilities={})
    relayed.ask("session/load", sessionId=session, cwd="/project", mcpServers=[])


@pytest.mark.parametrize("engine", ENGINES_WITH_SERVERS)
def test_an_agent_whose_session_is_loaded_while_the_server_is_away_goes_on_with_its_plan(
    engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    late = {"tool": "update_plan", "arguments": {"note": "late", "expected_revision": 2}}
    with own_server(engine) as server:
        (tmp_path / "url").write_text(server.url)
        url = f"@{tmp_path / 'url'}"
        with tooled(tmp_path, journal=url) as relayed:
            session = relayed.begin()
            relayed.prompt(session, SET)
            assert relayed.end() == (0, "")
        server.network.cut(refuse=True)
        for done in ("s1", "s2"):  # the second relay also finds what waits of the first one
            with tooled(tmp_path, journal=url) as relayed:
                loaded(relayed, session)
                update = {"tool": "update_plan", "arguments": {"steps": {done: "completed"}}}
                got, refused, changed = [
                    each for each in shown(relayed.prompt(session, GET, late, update)) if isinstance(each, dict)
                ]
                assert [step["content"] for step in got["plan"]["steps"]] == ["Read", "Write"]
                assert sum(step["status"] == "completed" for step in got["plan"]["steps"]) == (done == "s2")
                assert refused["error"]["code"] == "engine_away"
                assert changed["not_yet_delivered"]
                assert relayed.end()[0] == 0
        server.network.recover()
        with open_journal(server.url) as journal:
            until(lambda: waiting_of(journal).count == 0 and waiting_of(journal).since is None)
            assert [each.id for each in journal.sessions()] == [session]
            state = load_state(journal, session)
            assert [step.status for step in state.plans["main"].state.steps] == ["completed", "completed"]
            assert len([each for each in journal.read(session) if isinstance(each.event, PlanSet)]) == 1


def test_a_session_that_is_loaded_while_the_server_is_away_is_neither_anothers_nor_one_that_is_not_known_here(
    outage: Outage, tmp_path: Path
) -> None:
    def record(session: str, agent: str, folder: str, *plan: str, fresh: bool = False) -> SessionMemory:
        known: dict[str, SessionMemory] = {}
        recorder = Recorder(lambda: behind(tmp_path), known.__setitem__)
        recorder.start()
        recorder.put(Meet(session, fresh, agent, folder), 0)
        recorder.put(Record(session, SessionOpened(agent, None, folder)), 100)
        recorder.put(Record(session, a_plan(*plan)), 100)
        recorder.wake()
        until(lambda: known.get(session) and known[session].state.plans)
        assert recorder.close(20) is None
        return known[session]

    record("1", "one 1.0", "/p", "a", fresh=True)
    with open_server(tmp_path) as server:
        server.append("far", [Stamped(1, "relay", SessionOpened("one 1.0", None, "/p"))])
    outage.begin()
    assert record("1", "one 1.1", "/q", "a", "b").id == "1"
    other = record("1", "two 1.0", "/r", "c")
    assert other.id.startswith("1~")
    assert record("1", "two 1.0", "/r", "c", "d").id == other.id
    assert record("far", "one 1.0", "/p", "e").id.startswith("far~")
    outage.end()
    (tmp_path / "outbox" / "away").unlink()
    with behind(tmp_path) as journal:
        until(journal.tend)
        assert record("1", "two 1.0", "/r", "c", "d", "e").id == other.id
        plans = {each.id: load_state(journal, each.id).plans for each in journal.sessions()}
    assert [len(each) for each in plans.values()] == [1, 0, 1, 1]
    assert [step.content for step in plans["1"][None].state.steps] == ["a", "b"]
