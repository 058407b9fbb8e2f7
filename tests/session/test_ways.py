"""The author and the way of every act, by every way to write one and in every disguise."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from planwire.journal import Journal, Stamped, load_state, open_journal
from planwire.model.authors import BY_SCRIPT
from planwire.model.events import ACP, PersonEvent, PlanSet, SessionOpened
from planwire.model.plan import Entry, ItemsPlan
from planwire.model.records import AGENT, USER
from planwire.model.unheard import CLIENT
from planwire.own_process import own_command
from planwire.session import known_agents
from planwire.session.agent_environment import VARIABLE
from planwire.session.blocking import BlockingPlanSession
from planwire.session.known_agents import _folders, known_agent
from planwire.session.steering import steer
from planwire.steering.wanted import Wanted
from tests import deciding
from tests.agents.driving import AGENTS, Relayed
from tests.mcp.test_server import a_host, run
from tests.session.writers import WRITERS
from tests.waiting import until
from tests.wire import request

BELOW = "below claude-code"
#: An agent in a process group of its own, as a shell starts it. It runs what it is told once it is known.
SHELL = "import subprocess, sys; sys.stdin.readline(); subprocess.run(sys.argv[1], shell=True)"
#: Disguises of a command that an agent runs, as its shell has them, with the way that must be recorded.
DISGUISES = {
    "plainly": ("{command}", BELOW),
    "without the variable": (f"env -u {VARIABLE} {{command}}", BELOW),
    "with an empty environment": ("env -i {command}", BELOW),
    "with another folder for running programs": (
        "env XDG_RUNTIME_DIR=/nowhere {command}",
        BELOW,
    ),
    "with another home": ("env HOME=/nowhere {command}", BELOW),
    "in a terminal of its own": ("script -qec {quoted} /dev/null", BELOW),
    "in a terminal of its own, all at once": (
        f"env -u {VARIABLE} XDG_RUNTIME_DIR=/nowhere HOME=/nowhere script -qec {{quoted}} /dev/null",
        BELOW,
    ),
    "in a session of its own": ("setsid -w {command}", BELOW),
    "without its parents": (f"(env -u {VARIABLE} {{command}} &); true", BELOW),
    "without parents and group, but with the variable": (
        f"({VARIABLE}=1 setsid {{command}} &)",
        "below an agent",
    ),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "plans.db"
    with open_journal(path) as journal:
        listed = PlanSet(ItemsPlan("main", (Entry("read", "medium", "pending"),)), via=ACP)
        deciding.write(
            journal, "s1", Stamped(1, "agent", SessionOpened(cwd=str(tmp_path))), Stamped(2, "agent", listed)
        )
    return path


@pytest.fixture
def real_records(monkeypatch: pytest.MonkeyPatch) -> None:
    """The records that other processes see."""
    monkeypatch.setattr(known_agents, "_folders", _folders)


def all_at_once(path: Path) -> str:
    return shlex.join([sys.executable, "-P", str(Path(__file__).with_name("writers.py")), str(path)])


def written(path: Path) -> dict[str, list[tuple[str, str]]]:
    """The authors of people's acts and their ways, by what wrote them."""
    with open_journal(path, create=False) as journal:
        return {name: ways(journal, name) for name in WRITERS}


def ways(journal: Journal, session: str = "s1", but: str = AGENT) -> list[tuple[str, str]]:
    """The authors and the ways of what was written by anybody else than the agent."""
    events = (each for each in journal.read(session) if each.by != but)
    return [(each.by, each.event.way) for each in events if isinstance(each.event, PersonEvent)]


@contextmanager
def an_agent(command: str) -> Iterator[None]:
    """An agent that planwire knows, which runs the command and stays until the end."""
    with (
        subprocess.Popen(
            [sys.executable, "-P", "-c", SHELL, command], stdin=subprocess.PIPE, text=True, process_group=0
        ) as process,
        known_agent(process.pid, "claude-code"),
    ):
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
        yield
        process.stdin.close()
        process.wait(30)


def expected(way: str | None = None, *, at_terminal: bool = False) -> dict[str, list[tuple[str, str]]]:
    """What the acts of one process must be recorded as: below an agent with that way, else at a terminal or not."""
    script = "" if at_terminal else BY_SCRIPT
    own = {
        **dict.fromkeys(("comment", "approve", "select", "tick"), ("Ann", script)),
        **dict.fromkeys(("board", "watch", "PlanSession", "steer"), ("Ann", "")),
        "token": ("Ann", BY_SCRIPT),
        "relay": (CLIENT, ""),
        "import": ("Ann", ""),
        "import of a document": (USER, ""),
    }
    below = {name: (author, way) for name, (author, _) in own.items()} if way else own
    said = {"hook": (CLIENT, "as Claude Code reports")}  # by whatever process it comes
    return {name: [{**below, **said}[name]] for name in WRITERS}


@pytest.mark.usefixtures("real_records")
@pytest.mark.parametrize("how", DISGUISES)
def test_acts_below_an_agent_are_recorded_as_that_whatever_they_wear(how: str, tmp_path: Path) -> None:
    path, done = tmp_path / "plans.db", tmp_path / "done"
    command = f"sh -c {shlex.quote(f'{all_at_once(path)}; touch {done}')}"
    form, way = DISGUISES[how]
    disguised = form.format(command=command, quoted=shlex.quote(command))
    with an_agent(f"{disguised} >{tmp_path}/said 2>&1; while [ ! -e {done} ]; do sleep 0.01; done"):
        until(done.exists, 50)
    assert written(path) == expected(way), (tmp_path / "said").read_text()


def test_acts_without_a_terminal_are_a_scripts(tmp_path: Path) -> None:
    path = tmp_path / "plans.db"
    subprocess.run(all_at_once(path), shell=True, check=True, stdin=subprocess.DEVNULL, capture_output=True)
    assert written(path) == expected()


def test_acts_in_a_persons_own_terminal_are_their_own_hand(tmp_path: Path) -> None:
    path = tmp_path / "plans.db"
    command = ["script", "-qec", all_at_once(path), "/dev/null"]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, capture_output=True)
    assert written(path) == expected(at_terminal=True)


#: A container, as far as a process inside can tell: it sees no process outside.
ALONE = ["unshare", "--map-root-user", "--pid", "--fork", "--mount-proc"]


IN_A_NAMESPACE = pytest.mark.skipif(
    not shutil.which("unshare") or subprocess.run([*ALONE, "true"], check=False, capture_output=True).returncode != 0,
    reason="this account can't make a namespace of processes",
)


@pytest.mark.usefixtures("real_records")
@IN_A_NAMESPACE
def test_a_namespace_of_processes_hides_no_ancestors_while_it_sees_them(tmp_path: Path) -> None:
    path, done = tmp_path / "plans.db", tmp_path / "done"
    command = f"env -u {VARIABLE} {shlex.join(ALONE[:-1])} {all_at_once(path)} >{tmp_path}/said 2>&1; touch {done}"
    with an_agent(command):
        until(done.exists, 50)
    assert written(path) == expected(BELOW), (tmp_path / "said").read_text()


@pytest.mark.usefixtures("real_records")
@IN_A_NAMESPACE
@pytest.mark.parametrize("keeps", [True, False], ids=["with the variable", "without it"])
def test_in_a_container_only_the_variable_tells(keeps: bool, tmp_path: Path) -> None:
    """Its processes see no ancestors outside. So one without a terminal is a script's; with one it would be a
    person's: docs/security.md says so."""
    path, done = tmp_path / "plans.db", tmp_path / "done"
    variable = f"{VARIABLE}=1" if keeps else f"-u {VARIABLE}"
    command = f"env {variable} {shlex.join(ALONE)} {all_at_once(path)} >{tmp_path}/said 2>&1; touch {done}"
    with an_agent(command):
        until(done.exists, 50)
    assert written(path) == expected("below an agent" if keeps else None), (tmp_path / "said").read_text()


def test_a_relay_that_an_agent_starts_answers_no_question_of_the_persons(tmp_path: Path) -> None:
    """The agent behind a relay runs another one around a client of its own, loads its own session there, in the same
    folder, asks once more and answers."""
    path, done = tmp_path / "plans.db", tmp_path / "done"
    asker = str(AGENTS / "asks.py")
    inner = [sys.executable, str(AGENTS / "bare_client.py"), '{"loads": "s", "cwd": "/project", "answer": "yes"}']
    inner += [*own_command("relay", "--", sys.executable, asker, str(tmp_path / "inner"))]
    command = f"{shlex.join(inner)}; touch {done}"
    with Relayed("asks.py", str(tmp_path / "notes"), "runs", command, journal=path) as relay:
        relay.begin()
        relay.write(request("session/prompt", 9, sessionId="s", prompt=[{"type": "text", "text": "Plan"}]) + b"\n")
        assert json.loads(relay.line())["method"] == "session/request_permission"
        until(done.exists, 50)
        with open_journal(path) as journal:
            [mine, other] = [load_state(journal, each.id) for each in journal.sessions()]
            assert [mine.id, other.id] == ["s", "s~2"]
            assert mine.plans["plan-mode"].asked is not None, "it waits for the person"
            assert ways(journal, "s") == []
            assert [by for by, _ in ways(journal, "s~2")] == [CLIENT]
            assert [way.split()[0] for _, way in ways(journal, "s~2")] == ["below"]


#: Pairs of a way to write and a disguise that do not exist, and why.
CANNOT = {
    "mcp": "its tools are the agent's own, and have no acts of people: below",
    "hook in any disguise": "a hook is the agent's word by itself, and says so: `as NAME reports`",
    "watch without a terminal": "the screen needs one, whoever opens it: where there is none, it prints",
}


def test_the_agents_own_calls_are_no_acts_of_people(path: Path) -> None:
    with open_journal(path) as journal, known_agent(os.getppid(), "claude-code"):
        BlockingPlanSession(journal, "s1").change("main", note="go")
        assert ways(journal) == []
        assert ways(journal, but="")[-1] == (AGENT, "")


def test_no_variable_chooses_where_agents_are_recorded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    before = list(_folders())
    for name in ("XDG_RUNTIME_DIR", "XDG_STATE_HOME", "HOME", "TMPDIR"):
        monkeypatch.setenv(name, str(tmp_path))
    assert list(_folders()) == before


def test_the_tools_server_writes_no_acts_of_people(tmp_path: Path) -> None:
    async def work() -> None:
        async with a_host(tmp_path, "--session", "s1") as host:
            await host.call_tool("set_plan", {"plan_id": "main", "entries": ["read"]})
            await host.call_tool("update_plan", {"plan_id": "main", "steps": {"s1": "completed"}})

    run(work)
    with open_journal(tmp_path / "plans.db", create=False) as journal:
        assert ways(journal) == []
        assert ways(journal, but="") == [(AGENT, "")] * 2


def test_an_agents_name_can_not_pass_for_another_authors_way(path: Path) -> None:
    with open_journal(path) as journal, known_agent(os.getppid(), "x) and Ann (y\x1b\n"):
        steer(journal, "s1", "main", Wanted("comment", text="go", seen=2), "Ann")
        assert ways(journal) == [("Ann", "below x and Ann y")]
