"""The author and the way of every act, by every way to write one and in every disguise."""

import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest

from planwire.journal import Journal, Stamped, open_journal
from planwire.model.events import ACP, PersonEvent, PlanReviewed, PlanSet, ReviewAsked, SessionOpened
from planwire.model.plan import Entry, ItemsPlan
from planwire.model.unheard import CLIENT
from planwire.own_process import own_command
from planwire.relay.actions import BY_CLIENT, Record
from planwire.relay.journalled import _record
from planwire.session import known_agents
from planwire.session.agent_environment import VARIABLE
from planwire.session.blocking import BlockingPlanSession
from planwire.session.known_agents import _folders, known_agent
from planwire.session.steering import steer
from planwire.steering.wanted import Wanted
from tests import deciding
from tests.waiting import until
from tests.web.board import TOKEN, running_board

BELOW = "below claude-code"
#: An agent in a process group of its own, as a shell starts it. It runs what it is told once it is known.
AGENT = "import subprocess, sys; sys.stdin.readline(); subprocess.run(sys.argv[1], shell=True)"
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


def comment(path: Path, *options: str) -> list[str]:
    return own_command("comment", "go", "--journal", str(path), "--session", "s1", *options)


def acts(path: Path) -> list[tuple[str, str]]:
    """The authors of people's acts, and the ways."""
    with open_journal(path, create=False) as journal:
        return ways(journal)


def ways(journal: Journal) -> list[tuple[str, str]]:
    return [(each.by, each.event.way) for each in journal.read("s1", 2) if isinstance(each.event, PersonEvent)]


@contextmanager
def an_agent(command: str) -> Iterator[None]:
    """An agent that planwire knows, which runs the command and stays until the end."""
    with (
        subprocess.Popen(
            [sys.executable, "-P", "-c", AGENT, command], stdin=subprocess.PIPE, text=True, process_group=0
        ) as process,
        known_agent(process.pid, "claude-code"),
    ):
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
        yield
        process.stdin.close()
        process.wait(30)


@pytest.mark.usefixtures("real_records")
@pytest.mark.parametrize("how", DISGUISES)
def test_a_command_below_an_agent_is_recorded_as_that_whatever_it_wears(how: str, path: Path) -> None:
    command = shlex.join(comment(path, "--as", "Ann", "--yes"))
    form, way = DISGUISES[how]
    disguised = form.format(command=command, quoted=shlex.quote(command))
    with an_agent(f"{disguised}; while [ ! -e {path}.over ]; do sleep 0.01; done"):
        until(lambda: len(acts(path)) == 1)
        Path(f"{path}.over").touch()
    assert acts(path) == [("Ann", way)]


def test_a_command_without_a_terminal_is_a_script(path: Path) -> None:
    """So is one in a container, whose processes have no ancestors outside of it."""
    command = comment(path, "--as", "Ann", "--yes")
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, capture_output=True)
    assert acts(path) == [("Ann", "by a script")]


def test_a_command_in_the_persons_own_terminal_is_their_own_hand(path: Path) -> None:
    command = comment(path)
    subprocess.run(["script", "-qec", shlex.join(command), "/dev/null"], check=True, stdin=subprocess.DEVNULL)
    assert acts(path) == [("user", "")]


def by_steer(journal: Journal) -> None:
    steer(journal, "s1", "main", Wanted("comment", text="go", seen=2), "Ann")


def by_plan_session(journal: Journal) -> None:
    BlockingPlanSession(journal, "s1", by="Ann").change("main", note="go")


def by_board(journal: Journal) -> None:
    """A board that an agent or a person started as Ann, and a click on it."""
    with running_board(by="Ann") as board:
        for each in journal.read("s1"):
            board.journal.append("s1", [Stamped(each.at, each.by, each.event)])
        until(lambda: board.get("/sessions/s1.json").status_code == 200)
        body = {"act": "comment", "text": "go", "seen": 2}
        answer = board.client.post("/sessions/s1/plans/main/acts", json=body, headers={"origin": board.base})
        assert answer.status_code == 200, answer.text
        *_, written = board.journal.read("s1")
        journal.append("s1", [Stamped(written.at, written.by, written.event)])


def test_a_program_with_the_boards_token_is_a_script() -> None:
    with running_board(by="Ann") as board:
        board.open()
        board.write("s1", PlanSet(ItemsPlan("main", (Entry("read", "medium", "pending"),)), via=ACP))
        headers = {"origin": board.base, "authorization": f"Bearer {TOKEN}"}
        body = {"act": "comment", "text": "go", "seen": 2}
        answer = httpx.post(f"{board.base}/sessions/s1/plans/main/acts", json=body, headers=headers)
        assert answer.status_code == 200, answer.text
        assert ways(board.journal)[-1] == ("Ann", "by a script")


def by_editor(journal: Journal) -> None:
    record = _record(Record("s1", PlanReviewed("main", 2, "approved", question="q"), BY_CLIENT))
    assert record is not None
    asked = Stamped(3, "agent", ReviewAsked("main", (), "q"))
    deciding.write(journal, "s1", asked, Stamped(3, record.by, record.event))


#: Every way to write an act in a process, its author, and the way where no agent is above.
WRITERS: dict[str, tuple[Callable[[Journal], None], str, str]] = {
    "a program": (by_steer, "Ann", ""),
    "a session of a program's": (by_plan_session, "Ann", ""),
    "a board": (by_board, "Ann", ""),
    "an editor behind the relay": (by_editor, CLIENT, ""),
}


@pytest.mark.parametrize("is_below", [False, True], ids=["a person's", "below an agent"])
@pytest.mark.parametrize("writer", WRITERS)
def test_what_a_process_below_an_agent_writes_came_that_way(writer: str, is_below: bool, path: Path) -> None:
    write, author, way = WRITERS[writer]
    with open_journal(path) as journal, ExitStack() as around:
        if is_below:
            around.enter_context(known_agent(os.getppid(), "claude-code"))
        write(journal)
        assert ways(journal)[-1] == (author, BELOW if is_below else way)


def test_the_agents_own_calls_are_no_acts_of_people(path: Path) -> None:
    with open_journal(path) as journal, known_agent(os.getppid(), "claude-code"):
        BlockingPlanSession(journal, "s1").change("main", note="go")
        assert ways(journal) == [("agent", "")]


def test_no_variable_chooses_where_agents_are_recorded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    before = list(_folders())
    for name in ("XDG_RUNTIME_DIR", "XDG_STATE_HOME", "HOME", "TMPDIR"):
        monkeypatch.setenv(name, str(tmp_path))
    assert list(_folders()) == before


def test_an_agents_name_can_not_pass_for_another_authors_way(path: Path) -> None:
    with open_journal(path) as journal, known_agent(os.getppid(), "x) and Ann (y\x1b\n"):
        by_steer(journal)
        assert ways(journal) == [("Ann", "below x and Ann y")]
