"""The relay in trouble: killed, doubled, cut off, with clients and agents that write as nobody should."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from threading import Event as Flag
from threading import Thread
from time import monotonic

import pytest

from planwire.journal import Journal, load_state, open_journal
from planwire.model.events import Event, MessageAdded, PlanSet, SessionOpened, TurnEnded
from planwire.model.plan import ItemsPlan
from planwire.relay.actions import Meet
from planwire.relay.recorder import Recorder
from planwire.session.steering import steer
from planwire.steering.wanted import Wanted
from tests.agents.driving import AGENTS, SOON, Relayed
from tests.waiting import until
from tests.wire import JSON, entry, line, request


def a_list(*contents: str) -> JSON:
    return {"sessionUpdate": "plan", "entries": [entry(content) for content in contents]}


COMPACTED: JSON = {"sessionUpdate": "compaction_update", "compactionId": "c", "status": "completed"}


def journalled(path: Path, session: str) -> list[Event]:
    with open_journal(path) as journal:
        return [recorded.event for recorded in journal.read(session)]


def plan_in(path: Path, session: str) -> list[str]:
    with open_journal(path) as journal:
        plan = load_state(journal, session).live()[None].state.plan
    assert isinstance(plan, ItemsPlan)
    return [each.content for each in plan.entries]


# -- killed


def test_what_was_recorded_before_the_relay_was_killed_is_gone_on_with(tmp_path: Path) -> None:
    """The next process is not even told that the session is loaded."""
    journal, memory = tmp_path / "journal.db", str(tmp_path / "agent.jsonl")
    with Relayed("scripted.py", memory, journal=journal) as relayed:
        session = relayed.begin()
        relayed.prompt(session, a_list("a"))
        until(lambda: any(isinstance(event, TurnEnded) for event in journalled(journal, session)))
        relayed.process.kill()
        relayed.process.wait(SOON)
    before = journalled(journal, session)
    assert [type(event) for event in before] == [SessionOpened, SessionOpened, PlanSet, TurnEnded]
    with Relayed("scripted.py", memory, journal=journal) as relayed:
        relayed.ask("initialize", protocolVersion=1)
        relayed.prompt(session, a_list("a"))
        relayed.prompt(session, a_list("a", "b"))
        assert relayed.end() == (0, "")
    more = journalled(journal, session)[len(before) :]
    assert [type(event) for event in more if not isinstance(event, MessageAdded)] == [TurnEnded, PlanSet, TurnEnded]
    assert plan_in(journal, session) == ["a", "b"]


def test_an_agent_that_ignores_the_end_of_its_input_does_not_outlive_a_relay_that_was_killed() -> None:
    with Relayed("deaf.py", options=("--grace", "0.2")) as relayed:
        assert relayed.line() == b'{"ready":true}'
        until(lambda: any(command.startswith("sh ") for command in _children(relayed.process.pid).values()))
        children = _children(relayed.process.pid)
        (agent,) = [pid for pid, command in children.items() if "deaf.py" in command]
        relayed.process.kill()
        until(lambda: not _is_running(agent))


def _children(pid: int) -> dict[str, str]:
    """The processes that a process has started, and their commands."""
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return {child: Path(f"/proc/{child}/cmdline").read_text().replace("\0", " ") for child in found}


def _is_running(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


# -- doubled


def test_two_relays_on_one_session_lose_nothing(tmp_path: Path) -> None:
    journal, memory = tmp_path / "journal.db", str(tmp_path / "agent.jsonl")
    with (
        Relayed("scripted.py", memory, journal=journal) as one,
        Relayed("scripted.py", memory, journal=journal) as other,
    ):
        session = one.begin()
        one.prompt(session, a_list("a"))
        until(lambda: any(isinstance(event, TurnEnded) for event in journalled(journal, session)))
        other.ask("initialize", protocolVersion=1)
        other.ask("session/load", sessionId=session, cwd="/project", mcpServers=[])

        def work(relayed: Relayed, name: str) -> None:
            for number in range(30):
                relayed.prompt(session, a_list(f"{name}{number}"))

        workers = [Thread(target=work, args=each) for each in ((one, "one"), (other, "other"))]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join(SOON)
        assert one.end() == other.end() == (0, "")
    events = journalled(journal, session)
    assert sum(isinstance(event, TurnEnded) for event in events) == 61
    plans = [event.plan for event in events if isinstance(event, PlanSet)]
    said = [plan.entries[0].content for plan in plans if isinstance(plan, ItemsPlan)]
    for name in ("one", "other"):
        assert [content for content in said if content.startswith(name)] == [f"{name}{number}" for number in range(30)]


# -- cut off


def relay_in_a_shell(redirection: str, journal: Path, memory: Path) -> "subprocess.CompletedProcess[bytes]":
    """A conversation with the scripted agent, behind a relay that lacks one of its streams."""
    prompt = [{"type": "text", "text": json.dumps([a_list("a")])}]
    lines = [
        request("initialize", 1, protocolVersion=1),
        request("session/new", 2, cwd="/p", mcpServers=[]),
        request("session/prompt", 3, sessionId=f"session-of-{memory.stem}", prompt=prompt),
    ]
    agent = f"'{sys.executable}' '{AGENTS / 'scripted.py'}' '{memory}'"
    relay = f"exec '{sys.executable}' -P -m planwire relay --journal '{journal}' -- {agent} {redirection}"
    return subprocess.run(
        ["sh", "-c", relay], input=b"\n".join([*lines, b""]), capture_output=True, timeout=SOON, check=False
    )


def test_without_an_error_stream_the_client_is_told_nothing_of_ours(tmp_path: Path) -> None:
    """R35: nothing but the protocol on standard output."""
    done = relay_in_a_shell("2>&-", Path("/proc/journal.db"), tmp_path / "m.jsonl")
    assert done.returncode == 0
    assert [json.loads(line).get("id") for line in done.stdout.splitlines()] == [1, 2, None, 3]


@pytest.mark.parametrize("redirection", ["0<&-", "1>&-"])
def test_a_relay_without_its_streams_ends_in_peace(redirection: str, tmp_path: Path) -> None:
    done = relay_in_a_shell(redirection, tmp_path / "journal.db", tmp_path / "m.jsonl")
    assert b"Traceback" not in done.stderr.replace(b"BrokenPipeError", b"")
    assert done.stdout == b""


def test_a_journal_in_a_folder_that_cant_be_written_is_told_of_once(tmp_path: Path) -> None:
    done = relay_in_a_shell("", Path("/proc/journal.db"), tmp_path / "m.jsonl")
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 4)
    assert done.stderr.startswith(b"planwire: 3 changes were not recorded: the journal /proc/journal.db can't be")
    assert done.stderr.count(b"\n") == 1


# -- written as nobody should


def test_an_agent_that_writes_a_byte_at_a_time_is_understood(tmp_path: Path) -> None:
    update = line(a_list("ünïcode"), "s")
    with Relayed("drips.py", journal=tmp_path / "journal.db") as relayed:
        relayed.write(update + b"\n")
        assert relayed.line() == update
        assert relayed.end() == (0, "")
    assert plan_in(tmp_path / "journal.db", "s") == ["ünïcode"]


@pytest.mark.parametrize("size", [1 << 20, 17 << 20], ids=["one that is looked into", "one that is not"])
def test_a_huge_prompt_comes_through(size: int, tmp_path: Path) -> None:
    journal, memory = tmp_path / "journal.db", tmp_path / "agent.jsonl"
    with Relayed("scripted.py", str(memory), journal=journal) as relayed:
        session = relayed.begin()
        relayed.prompt(session, a_list("a"))
        relayed.prompt(session, COMPACTED)
        prompt = [{"type": "text", "text": "x" * size}]
        relayed.ask("session/prompt", sessionId=session, prompt=prompt)
        relayed.prompt(session)
        assert relayed.end() == (0, "")
    heard = memory.read_text()
    assert "x" * size in heard
    assert heard.count("<planwire-context mark=") == 1  # with the first prompt that can be looked into


def test_a_client_with_other_line_ends_and_broken_text_gets_what_it_asks_for(tmp_path: Path) -> None:
    """R34, R36. What can't be read is passed on as it is."""
    journal, memory = tmp_path / "journal.db", tmp_path / "agent.jsonl"
    with Relayed("scripted.py", str(memory), journal=journal) as relayed:
        relayed.write(request("initialize", 1, protocolVersion=1) + b"\r\n")
        assert json.loads(relayed.line())["id"] == 1
        relayed.write(request("session/new", 2, cwd="/p", mcpServers=[]) + b"\r\n")
        session = json.loads(relayed.line())["result"]["sessionId"]
        prompt = [{"type": "text", "text": json.dumps([a_list("a")])}]
        relayed.write(request("session/prompt", 3, sessionId=session, prompt=prompt) + b"\r\n")
        assert json.loads(relayed.line())["params"]["update"] == a_list("a")
        relayed.end()
    assert plan_in(journal, session) == ["a"]
    broken = b'{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":"\xff"}}\r\n'
    batch = b"[" + request("initialize", 1, protocolVersion=1) + b", 7]\r\n"
    with Relayed("echo.py") as relayed:
        relayed.write(broken + batch)
        assert relayed.line() + b"\n" == broken
        assert json.loads(relayed.line())[1] == 7


def test_a_session_that_is_forgotten_begins_anew(tmp_path: Path) -> None:
    journal = tmp_path / "journal.db"
    with Relayed("scripted.py", os.devnull, journal=journal) as relayed:
        session = relayed.begin()
        relayed.prompt(session, a_list("a"))
        until(lambda: any(isinstance(event, TurnEnded) for event in journalled(journal, session)))
        with open_journal(journal) as shared:
            shared.forget(session)
        relayed.prompt(session, a_list("b"))
        assert relayed.end() == (0, "")
    assert plan_in(journal, session) == ["b"]


def test_a_relay_that_is_asked_to_end_asks_its_agent(tmp_path: Path) -> None:
    """In the middle of a turn: that it did not end by itself is in the journal."""
    journal, memory = tmp_path / "journal.db", tmp_path / "agent.jsonl"
    with Relayed("scripted.py", str(memory), journal=journal) as relayed:
        session = relayed.begin()
        text = json.dumps([a_list("a")])[:-1]  # the agent fails on it
        prompt = [{"type": "text", "text": text}]
        relayed.write(request("session/prompt", 9, sessionId=session, prompt=prompt) + b"\n")
        assert relayed.process.wait(SOON) == 1
    assert journalled(journal, session)[-1] == TurnEnded("disconnected")
    with Relayed("deaf.py", journal=journal) as relayed:
        assert relayed.line() == b'{"ready":true}'
        relayed.process.send_signal(signal.SIGTERM)
        assert relayed.process.wait(SOON) == -signal.SIGTERM


# -- said in a hurry

#: planwire on a machine that may be slow: a prompt waits for its look as long as that takes.
PATIENT = """
from planwire.relay import recorder, traffic
traffic._LOOK_PATIENCE = 60.0
from planwire.cli import main
raise SystemExit(main())
"""
#: The same, with a recorder that makes way for the traffic for a minute.
DROWSY = PATIENT.replace("from planwire.cli", "recorder.GATHER = recorder.MAKE_WAY = 60.0\nfrom planwire.cli")


def test_what_somebody_says_right_before_a_prompt_is_told_with_that_prompt(tmp_path: Path) -> None:
    journal, memory = tmp_path / "journal.db", str(tmp_path / "agent.jsonl")
    patient = Relayed("scripted.py", memory, journal=journal, planwire=("-P", "-c", PATIENT))
    with patient as relayed, open_journal(journal) as ours:
        session = relayed.begin()
        relayed.prompt(session, a_list("a"))
        until(lambda: any(isinstance(event, PlanSet) for event in journalled(journal, session)))
        for number in range(80):  # five records each: all of them may wait for a slow disk, and none is lost
            relayed.prompt(session, a_list(f"step {number}"))
            steer(ours, session, None, Wanted("comment", text=f"hurry {number}!"))
            relayed.prompt(session)
        assert relayed.end() == (0, "")
    told = [event.message["content"] for event in journalled(journal, session) if isinstance(event, MessageAdded)]
    assert [f"hurry {number}!" in text for number, text in enumerate(told)] == 80 * [True]


def test_a_prompt_in_the_middle_of_a_flood_waits_for_nothing_and_takes_the_last_word_along(tmp_path: Path) -> None:
    journal, memory = tmp_path / "journal.db", str(tmp_path / "agent.jsonl")
    with Relayed("scripted.py", memory, journal=journal) as relayed:
        session = relayed.begin()
        relayed.prompt(session, a_list("a"))
        assert relayed.end() == (0, "")
    drowsy = Relayed("scripted.py", memory, journal=journal, planwire=("-P", "-c", DROWSY))
    with drowsy as relayed, open_journal(journal) as ours:
        relayed.ask("initialize", protocolVersion=1)
        relayed.ask("session/load", sessionId=session, cwd="/project", mcpServers=[])
        for number in range(5):
            relayed.prompt(session, *(a_list(f"{number} {step}") for step in range(20)))
            steer(ours, session, None, Wanted("comment", text=f"hurry {number}!"))
            relayed.prompt(session)
        assert plan_in(journal, session) == ["a"]  # the recorder still makes way
        assert relayed.end() == (0, "")
    told = [event.message["content"] for event in journalled(journal, session) if isinstance(event, MessageAdded)]
    assert [f"hurry {number}!" in text for number, text in enumerate(told)] == 5 * [True]


def test_a_journal_that_does_not_answer_is_waited_for_once(tmp_path: Path) -> None:
    may_open = Flag()

    def open_late() -> Journal:
        assert may_open.wait(SOON)
        return open_journal(tmp_path / "journal.db")

    recorder = Recorder(open_late, lambda _session, _known: None)
    recorder.start()
    recorder.put(Meet("s", fresh=False), 0)
    recorder.look_now(0.01)
    before = monotonic()
    recorder.look_now(SOON)
    assert monotonic() - before < SOON / 2
    may_open.set()
    until(lambda: recorder._looker.answers)
    assert recorder.close(SOON) is None


def test_a_journal_that_can_not_be_used_is_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "journal.db").write_text("this is no journal, and none of ours to repair\n" * 100)
    recorder = Recorder(lambda: open_journal(tmp_path / "journal.db"), lambda _session, _known: None)
    recorder.start()
    recorder.put(Meet("s", fresh=False), 0)
    before = monotonic()
    recorder.look_now(SOON)
    until(lambda: not recorder._looker.answers)
    recorder.look_now(SOON)
    assert monotonic() - before < SOON / 2
    recorder.close(SOON)
