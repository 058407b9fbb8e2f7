"""The relay as a process between real pipes: bytes, speed of the slower side, ends, signals, journals that fail."""

import json
import os
import resource
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from threading import Event
from time import monotonic
from types import SimpleNamespace
from typing import Any

import pytest

from planwire.journal import Stamped, open_journal
from planwire.model.events import SUGGESTION, Gap, MessageAdded, PlanSet, Remarked, SessionOpened, TurnEnded
from planwire.own_process import own_command
from planwire.relay.actions import Action, ToAgent, ToClient, Warn
from planwire.relay.framing import Sieve
from planwire.relay.injector import Injector
from planwire.relay.pipe import Pipe
from planwire.relay.process import end_when_silent, name_of
from tests import deciding
from tests.agents.driving import AGENTS, SOON, Relayed
from tests.waiting import until
from tests.wire import entry, plan, request

LIST = {"sessionUpdate": "plan", "entries": [entry("Read", "completed"), entry("Write", "in_progress")]}
COMPACTED = {"sessionUpdate": "compaction_update", "compactionId": "c", "status": "completed"}


# -- bytes


ODD_LINES = [
    b"not json\n",
    b"\n",
    b"\r\n",
    b'{"jsonrpc":"2.0","id":1,"method":"x"}\r\n',
    b"\xff\xfe\x00 \x80\n",
    b'{"plan":"\xc3\xa9\xe2\x82\xac"}\n',
    b'[{"id":1},{"id":2}]\n',
    b'{"big":"' + b"y" * 300_000 + b'"}\n',
    b'{"jsonrpc":"2.0","method":"session/update","params":{}}\n',
]


def test_every_line_comes_through_byte_for_byte_and_in_order() -> None:
    with Relayed("echo.py") as relayed:
        sent = b"".join(ODD_LINES * 3) + b"the last one has no line feed"
        writer = relayed.write_all_and_close(sent)
        assert relayed.rest() == sent
        writer.join()
        assert relayed.process.wait(SOON) == 0


def test_a_line_of_100_megabytes_comes_through_in_little_memory() -> None:
    with Relayed("long_line.py", "100") as relayed:
        size = peak = 0
        tail = b""
        while chunk := relayed.read(1 << 20):
            size += len(chunk)
            tail = (tail + chunk)[-20:]
            peak = max(peak, relayed.peak_kilobytes())
        assert size == 100 * 2**20 + len(b'{"jsonrpc":"2.0","id":"x","text":"') + len(b'"}\n{"short":true}\n')
        assert tail.endswith(b'"}\n{"short":true}\n')
        relayed.process.wait(SOON)
        assert 0 < peak < 200 * 1024


def test_a_plan_that_is_too_long_to_be_read_comes_through_and_leaves_a_gap(tmp_path: Path) -> None:
    sent = plan(entry("x" * (17 << 20))) + b"\n"
    with Relayed("echo.py", journal=tmp_path / "journal.db") as relayed:
        writer = relayed.write_all_and_close(sent)
        assert relayed.rest() == sent
        writer.join()
        relayed.process.wait(SOON)
    events = journalled(tmp_path / "journal.db", "s1")
    assert Gap(1, "a line with a plan had more than 16 MiB") in events


def test_standard_error_is_the_agents_and_the_exit_code_too() -> None:
    with Relayed("ends.py", "7") as relayed:
        assert relayed.rest() == b"a last word"
        code, errors = relayed.end()
        assert (code, errors) == (7, "a word on the error stream\n")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGABRT])
def test_an_agent_that_a_signal_ended_is_seen_to_be_ended_by_it(number: signal.Signals) -> None:
    with Relayed("ends.py", str(-number)) as relayed:
        assert relayed.rest() == b"a last word"
        assert relayed.process.wait(SOON) == -number


def test_a_fault_of_the_policy_costs_no_line() -> None:
    """Two pipes and a policy that fails: every line comes through, and the person is told once."""
    said: list[Action] = []

    def fail(line: bytes) -> list[Action]:
        raise RuntimeError(f"no idea what {line!r} is")

    (source, to_source), (from_target, target) = os.pipe(), os.pipe()
    ended = Event()
    direction = Pipe(source, target, Sieve((b'"id"',)), fail, said.extend, ended.set)
    direction.start()
    os.write(to_source, b'{"id":1}\nboring\n{"id":2}\n')
    os.close(to_source)
    assert ended.wait(SOON)
    assert os.read(from_target, 100) == b'{"id":1}\nboring\n{"id":2}\n'
    assert len([action for action in said if isinstance(action, Warn)]) == 1
    for descriptor in (source, target, from_target):
        os.close(descriptor)


def test_what_was_held_back_leaves_before_the_pipe_is_closed_and_before_a_last_line_without_its_end() -> None:
    held: list[Action] = []
    (source, to_source), (from_target, target) = os.pipe(), os.pipe()
    ended = Event()

    def take() -> list[Action]:
        taken, held[:] = held[:], []
        return taken

    direction = Pipe(
        source,
        target,
        Sieve((b'"id"',)),
        lambda line: [ToAgent(line)],
        lambda _: None,
        ended.set,
        Injector(take, lambda _: None),
        lambda: held.append(ToAgent(b"held\n")),
    )
    os.write(to_source, b"first\nlast")
    os.close(to_source)
    direction.start()
    assert ended.wait(SOON)
    assert os.read(from_target, 100) == b"first\nheld\nlast"
    for descriptor in (source, target, from_target):
        os.close(descriptor)


# -- slow and fast


def test_lines_that_become_long_leave_before_all_of_them_are_made() -> None:
    """Nobody reads: no more of them is made than a pipe holds, and then as many as are read."""
    heard: list[bytes] = []
    told: list[int] = []

    def lengthen(line: bytes) -> list[Action]:
        heard.append(line)
        return [ToClient(line.rstrip(b"\n") * 20_000 + b"\n"), Warn("long")]

    (source, to_source), (from_target, target) = os.pipe(), os.pipe()
    ended = Event()
    direction = Pipe(source, target, Sieve((b'"id"',)), lengthen, lambda actions: told.append(len(actions)), ended.set)
    sent = [line for number in range(50) for line in (b'{"id":%d}\n' % number, b"boring\n")]
    os.write(to_source, b"".join(sent))
    os.close(to_source)
    direction.start()
    first = os.read(from_target, 1)
    assert len(heard) < 10
    with os.fdopen(from_target, "rb") as reader:
        assert (first + reader.read()).splitlines() == [
            line.rstrip() * (20_000 if b"id" in line else 1) for line in sent
        ]
    assert ended.wait(SOON)
    assert (len(heard), sum(told)) == (50, 100)
    os.close(source)
    os.close(target)


def test_a_slow_reader_slows_the_agent_down_and_loses_nothing() -> None:
    """Nobody reads: no more than the pipes hold, and what is in hand, gets out of the agent."""
    with Relayed("flood.py", "200000") as relayed:
        until(lambda: _is_blocked(relayed.process.pid))
        assert _resident(relayed.process.pid) < 120 * 1024
        relayed.close_input()
        numbers = [json.loads(line) for line in relayed.rest().splitlines()]
        assert [each["params"]["number"] for each in numbers[:-1]] == list(range(200_000))


def test_both_sides_may_flood_at_once() -> None:
    with Relayed("flood.py", "100000") as relayed:
        sent = b'{"jsonrpc":"2.0","method":"_flood","params":{"text":"abc"}}\n' * 100_000
        writer = relayed.write_all_and_close(sent)
        lines = relayed.rest().splitlines()
        writer.join()
        assert len(lines) == 100_001
        assert json.loads(lines[-1]) == {"read": len(sent)}


def _resident(pid: int) -> int:
    return int(Path(f"/proc/{pid}/status").read_text().split("VmRSS:")[1].split()[0])


def _is_blocked(pid: int) -> bool:
    """Whether a thread of the relay waits to write to a full pipe."""
    tasks = Path(f"/proc/{pid}/task")
    try:
        return any("pipe_write" in (task / "wchan").read_text() for task in tasks.iterdir()) or _is_idle(pid)
    except OSError:
        return False


def _is_idle(pid: int) -> bool:
    """Where the system does not say what a thread waits for: the process has used no time for a while."""
    used = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13]
    end = monotonic() + 0.3
    while monotonic() < end:
        os.sched_yield()
    return sum(map(int, used)) > 5 and used == Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13]


# -- ends


def test_the_end_of_input_reaches_the_agent() -> None:
    with Relayed("echo.py") as relayed:
        relayed.write(b"x\n")
        assert relayed.line() == b"x"
        assert relayed.end() == (0, "")


@pytest.mark.parametrize(("stubborn", "how"), [((), signal.SIGTERM), (("stubborn",), signal.SIGKILL)])
def test_an_agent_that_ignores_the_end_of_its_input_is_ended(stubborn: tuple[str, ...], how: signal.Signals) -> None:
    with Relayed("deaf.py", *stubborn, options=("--grace", "0.2")) as relayed:
        assert relayed.line() == b'{"ready":true}'
        code, _ = relayed.end()
        assert code == -how


def test_an_agent_whose_last_words_nobody_reads_is_ended_as_well() -> None:
    with Relayed("speaks_last.py", options=("--grace", "0.2")) as relayed:
        relayed.line()
        relayed.close_output()
        relayed.close_input()
        assert relayed.process.wait(SOON) != 0


def test_an_agent_that_was_silent_for_long_has_time_to_end_by_itself() -> None:
    ended: list[float] = []
    agent: Any = SimpleNamespace(returncode=None, terminate=lambda: ended.append(monotonic()), kill=lambda: None)
    begun = monotonic()
    end_when_silent(agent, lambda: 3_600.0, 0.3)
    until(lambda: ended)
    agent.returncode = 0
    assert ended[0] - begun >= 0.3


def test_an_agent_that_thinks_about_a_prompt_may_be_silent_longer(tmp_path: Path) -> None:
    """A script that pipes its prompts in is at its end long before the agent is."""
    thought = tmp_path / "thought"
    with Relayed("thinks.py", str(thought), options=("--grace", "0.05")) as relayed:
        relayed.write(request("initialize", 1, protocolVersion=1) + b"\n")
        relayed.line()
        relayed.write(request("session/new", 2, cwd="/", mcpServers=[]) + b"\n")
        relayed.line()
        relayed.write(request("session/prompt", 3, sessionId="s", prompt=[{"type": "text", "text": "Think"}]) + b"\n")
        relayed.close_input()
        with pytest.raises(subprocess.TimeoutExpired):
            relayed.process.wait(0.5)
        thought.touch()
        assert b"end_turn" in relayed.line()
        assert relayed.process.wait(SOON) == 0


def test_an_agent_that_leaves_somebody_with_its_output_is_not_waited_for() -> None:
    with Relayed("leaves_a_child.py") as relayed:
        assert relayed.rest() == b'{"ready":true}\n'
        assert relayed.process.wait(SOON) == 0


def test_an_agent_learns_that_nobody_reads_any_more() -> None:
    with Relayed("flood.py", "1000000") as relayed:
        relayed.line()
        relayed.close_output()
        relayed.close_input()
        assert relayed.process.wait(SOON) != 0


def test_a_client_learns_that_the_agent_is_gone() -> None:
    with Relayed("ends.py", "0") as relayed:
        assert relayed.rest() == b"a last word"
        assert relayed.process.wait(SOON) == 0
        with pytest.raises(BrokenPipeError):
            relayed.write(b"x\n" * 100_000)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_are_passed_on(number: signal.Signals) -> None:
    with Relayed("signalled.py") as relayed:
        assert relayed.line() == b"ready"
        relayed.process.send_signal(number)
        assert relayed.line() == number.name.encode()
        relayed.write(b"quit\n")
        assert relayed.process.wait(SOON) == 0


def relay_once(*arguments: str, **more: Any) -> "subprocess.CompletedProcess[str]":
    command = [*own_command(), "relay", *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=SOON, **more)


def test_an_agent_that_cant_be_started_is_said_to_be() -> None:
    done = relay_once("--", "no-such-agent")
    assert (done.returncode, done.stdout) == (2, "")
    problem = "the agent 'no-such-agent' could not be started: No such file or directory. Check the command after --"
    assert done.stderr == f"planwire: {problem}\n"
    done = relay_once()
    assert (done.returncode, done.stderr[:10]) == (2, "planwire: ")


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("/usr/bin/agent --acp", "agent"),
        ("claude-agent-acp", "claude-agent-acp"),
        ("/opt/bin/codex-acp --debug", "codex-acp"),
        ("C:\\bin\\agent.exe --acp", "agent.exe"),
        ("python3.11 -m deepagents_acp", "deepagents_acp"),
        ("npx -y @zed-industries/codex-acp", "codex-acp"),
        ("npx -y @agentclientprotocol/claude-agent-acp@latest", "claude-agent-acp"),
        ("uvx deepagents-acp==0.1 --x", "deepagents-acp"),
        ("uvx deepagents==0.1 --x", "deepagents"),
        ("env A=1 node /opt/agent/index.js", "index.js"),
        ("env PATH=/opt/bin KEY=1 gemini --experimental-acp", "gemini"),
        ("node ./dist/agent.js", "agent.js"),
        ("bun x agent", "agent"),
        ("npx", "npx"),
        ("uv run agent", "agent"),
        ("/usr/bin/python -u", "python"),
    ],
)
def test_an_agent_is_named_after_what_is_run(command: str, name: str) -> None:
    assert name_of(command.split()) == name


def test_code_is_not_the_name_of_an_agent() -> None:
    assert name_of(["python3", "-c", "import sys\nprint('a/b')"]) == "python3"
    assert name_of(["/opt/my agent", "--acp"]) == "my agent"


# -- with a journal


def journalled(path: Path, session: str) -> list[object]:
    with open_journal(path) as journal:
        return [recorded.event for recorded in journal.read(session)]


def test_a_session_is_kept_told_again_and_loaded_by_another_process(tmp_path: Path) -> None:
    journal, memory = tmp_path / "journal.db", tmp_path / "agent.jsonl"
    with Relayed("scripted.py", str(memory), journal=journal) as relayed:
        session = relayed.begin()
        assert relayed.prompt(session, LIST) == [LIST]
        relayed.prompt(session, COMPACTED)
        relayed.prompt(session)
        assert relayed.end() == (0, "")
    said = [json.loads(line) for line in memory.read_text().splitlines()]
    assert said[0]["capabilities"] == {"plan": {}, "planCapabilities": {}, "session": {"compaction": {}}}
    assert '<step id="s2" status="in_progress">Write</step>' in said[-1]["content"]["text"]
    before = journalled(journal, session)
    assert [type(event).__name__ for event in before] == [
        "SessionOpened",
        "SessionOpened",
        "PlanSet",
        "TurnEnded",
        "ContextCompacted",
        "TurnEnded",
        "MessageAdded",
        "Told",
        "TurnEnded",
    ]
    with Relayed("scripted.py", str(memory), journal=journal) as relayed:
        relayed.ask("initialize", protocolVersion=1)
        _, updates = relayed.ask("session/load", sessionId=session, cwd="/project", mcpServers=[])
        assert LIST in updates
        assert "planwire-context" not in json.dumps(updates)
        assert relayed.end() == (0, "")
    assert journalled(journal, session) == before


def test_an_agent_that_has_forgotten_its_plan_is_told_it(tmp_path: Path) -> None:
    journal, memory = tmp_path / "journal.db", tmp_path / "agent.jsonl"
    with Relayed("scripted.py", str(memory), journal=journal) as relayed:
        session = relayed.begin()
        relayed.prompt(session, LIST)
        relayed.end()
    with Relayed("scripted.py", str(memory), "forget", journal=journal) as relayed:
        relayed.ask("initialize", protocolVersion=1)
        relayed.ask("session/load", sessionId=session, cwd="/project", mcpServers=[])

        def is_told() -> bool:  # as soon as the journal has answered
            relayed.prompt(session)
            return "resumed" in memory.read_text()

        until(is_told)
        relayed.end()
    assert memory.read_text().count("planwire-context mark") == 1


def test_a_suggestion_reaches_the_agent(tmp_path: Path) -> None:
    journal, memory = tmp_path / "journal.db", tmp_path / "agent.jsonl"
    with Relayed("scripted.py", str(memory), journal=journal) as relayed:
        session = relayed.begin()
        relayed.prompt(session, LIST)
        until(lambda: any(isinstance(event, PlanSet) for event in journalled(journal, session)))
        with open_journal(journal) as shared:
            deciding.write(shared, session, Stamped(0, "user", Remarked(None, SUGGESTION, "Leave the tests alone")))

        def is_told() -> bool:
            relayed.prompt(session)
            return "Leave the tests alone" in memory.read_text()

        until(is_told)
        for _ in range(3):
            relayed.prompt(session)
        relayed.end()
    assert memory.read_text().count("planwire-context mark") == 1
    assert len([event for event in journalled(journal, session) if isinstance(event, MessageAdded)]) == 1


def test_what_the_client_has_not_read_yet_is_in_the_journal(tmp_path: Path) -> None:
    """Whatever comes back because of a line is recorded after it, however fast it comes."""
    journal = tmp_path / "journal.db"
    more_than_a_pipe_holds = {"sessionUpdate": "plan", "entries": [entry("x" * 300_000)]}
    with Relayed("scripted.py", os.devnull, journal=journal) as relayed:
        session = relayed.begin()
        text = json.dumps([more_than_a_pipe_holds])
        relayed.write(request("session/prompt", 9, sessionId=session, prompt=[{"type": "text", "text": text}]) + b"\n")
        until(lambda: any(isinstance(event, PlanSet) for event in journalled(journal, session)))


def test_sessions_that_are_counted_from_1_stay_apart(tmp_path: Path) -> None:
    journal = tmp_path / "journal.db"
    for number in (1, 2):
        with Relayed("scripted.py", str(tmp_path / f"{number}.jsonl"), "sequential", journal=journal) as relayed:
            session = relayed.begin()
            assert session == "1"
            relayed.prompt(session, LIST)
            relayed.end()
    kinds = [[type(event) for event in journalled(journal, session)] for session in ("1", "1~2")]
    assert kinds == [[SessionOpened, SessionOpened, PlanSet, TurnEnded]] * 2


def _no_journal(path: Path) -> None:
    path.write_bytes(b"\x00not a journal\x00" * 5_000)


def _damaged(path: Path) -> None:
    with open_journal(path) as journal:
        journal.append("s", [Stamped(0, "x", SessionOpened())] * 200)
    with path.open("r+b") as file:
        file.seek(3_000)
        file.write(os.urandom(20_000))


def _unwritable(path: Path) -> None:
    path.mkdir()


def _locked(path: Path) -> None:
    open_journal(path).close()
    lock = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    lock.execute("BEGIN EXCLUSIVE")
    _LOCKS.append(lock)


_LOCKS: list[sqlite3.Connection] = []


@pytest.mark.parametrize("spoil", [_no_journal, _damaged, _unwritable, _locked])
def test_a_journal_that_fails_never_stops_the_traffic(spoil: object, tmp_path: Path) -> None:
    journal, memory = tmp_path / "journal.db", tmp_path / "agent.jsonl"
    assert callable(spoil)
    spoil(journal)
    with Relayed("scripted.py", str(memory), journal=journal) as relayed:
        session = relayed.begin()
        for _ in range(20):
            assert relayed.prompt(session, LIST) == [LIST]
        code, errors = relayed.end()
    assert code == 0
    assert errors.count("planwire: ") == 1
    assert "were not recorded: " in errors
    assert "Traceback" not in errors
    while _LOCKS:
        _LOCKS.pop().close()


def test_a_full_disk_never_stops_the_traffic(tmp_path: Path) -> None:
    """A limit on the size of files stands in for a disk that fills up."""
    journal = tmp_path / "journal.db"

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))

    big = {"sessionUpdate": "plan", "entries": [entry("x" * 1_000)]}
    with Relayed("scripted.py", os.devnull, journal=journal, preexec_fn=limit) as relayed:
        session = relayed.begin()
        for number in range(300):
            update = {**big, "entries": [entry(f"{number}" + "x" * 1_000)]}
            assert relayed.prompt(session, update) == [update]
        code, errors = relayed.end()
    assert (code, errors.count("\n")) == (0, 1)
    assert "were not recorded: " in errors


def test_the_agents_folder_and_environment_are_the_relays() -> None:
    environment = {**os.environ, "A": "b", "PLANWIRE_JOURNAL": "memory:"}
    code = "import os; print(os.environ['A'], os.getcwd())"
    done = relay_once("--", sys.executable, "-P", "-c", code, stdin=subprocess.DEVNULL, cwd=AGENTS, env=environment)
    assert done.stdout == f"b {AGENTS}\n"


@pytest.mark.parametrize("grace", ["-1", "soon", "nan", "inf"])
def test_a_grace_that_makes_no_sense_is_refused(grace: str) -> None:
    relay = [*own_command(), "relay", f"--grace={grace}", "--", "true"]
    result = subprocess.run(relay, capture_output=True, check=False, timeout=SOON)
    assert result.returncode == 2
    assert b"expected a number of seconds" in result.stderr
