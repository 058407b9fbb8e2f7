"""`planwire demo`: a real agent behind the real relay, people who answer and suggest, and what is left of it."""

import json
import re
import subprocess
import termios
from collections.abc import Callable, Sequence
from pathlib import Path

import httpx
import pytest
from rich.console import Console

from planwire import Board, open_journal
from planwire.cli.recording import RecordedLine
from planwire.demo import client
from planwire.demo.client import DemoConversation
from planwire.demo.keys import Keys
from planwire.demo.person import SUGGESTED
from planwire.journal import Journal, load_state
from planwire.model.events import ContextCompacted, PlanRemoved, PlanSet, TurnEnded
from planwire.model.plan import FilePlan, ItemsPlan, MarkdownPlan, OtherPlan
from planwire.model.records import SessionState
from planwire.own_process import own_command
from planwire.readmodel.followed_files import FilePlans
from planwire.readmodel.replay import replayed
from planwire.readmodel.sessions import load_session
from planwire.session.steering import steer
from planwire.steering.wanted import Wanted
from planwire.terminal.stage import LiveStage
from tests.terminal.test_views import Terminal, running
from tests.waiting import until


class Onlooker:
    """A stage that remembers what was told, and does something when the agent asks."""

    def __init__(self, when_asked: Callable[[], object] = lambda: None) -> None:
        self.told: list[str] = []
        self.asked: list[str] = []
        self._when_asked = when_asked

    def tell(self, words: str) -> None:
        self.told.append(words)

    def ask(self, lines: Sequence[str]) -> None:
        if lines and not self.asked:
            self.asked += lines
            self._when_asked()


def played(path: Path, stage: Onlooker) -> list[RecordedLine]:
    with DemoConversation(50, str(path / "plans.db"), path, stage, Keys()) as conversation:
        return list(conversation.story())


def left(journal: Journal) -> SessionState:
    (known,) = journal.sessions()
    return load_state(journal, known.id)


def test_the_demo_shows_every_kind_of_plan_and_every_sort_of_change(tmp_path: Path) -> None:
    board, stage = Board(), Onlooker()
    lines = played(tmp_path, stage)
    for line in lines:
        assert not board.apply(line.line, line.sender).reports
    (session,) = [each for each in board.sessions.values() if each.updates]
    assert {type(state.plan) for state in session.plans.values()} == {MarkdownPlan, ItemsPlan, FilePlan}
    fix = session.plans["fix"]
    assert (fix.progress.done, fix.progress.total, fix.progress.cancelled) == (7, 7, 1)
    assert fix.steps[-1].content == SUGGESTED, "nobody else suggested anything, so the demo's own person did"
    proposal = session.plans["proposal"].plan
    assert isinstance(proposal, MarkdownPlan)
    assert proposal.content.startswith("# Fix the nightly export")
    assert proposal.content.endswith("the importer reads both.\n")

    with open_journal(tmp_path / "plans.db") as journal:
        (known,) = journal.sessions()
        events = [recorded.event for recorded in journal.read(known.id)]
        state = left(journal)
        assert load_session(journal, known, FilePlans()).glance.state == "done"
    kinds = {type(event.plan) for event in events if isinstance(event, PlanSet)}
    assert kinds == {ItemsPlan, MarkdownPlan, FilePlan, OtherPlan}
    assert [event.plan_id for event in events if isinstance(event, PlanRemoved)] == ["findings", "risks"]
    assert sum(isinstance(event, ContextCompacted) for event in events) == 1
    assert sum(isinstance(event, TurnEnded) for event in events) == 2
    assert {plan_id: record.state.plan for plan_id, record in state.live().items()} == {
        plan_id: each.plan for plan_id, each in session.plans.items()
    }
    assert any(b"brought my plan back" in line.line for line in lines)
    assert [each.answer for each in state.plans["proposal"].reviews] == ["Yes, and keep asking"]
    assert stage.asked[-1] == "Answer on the board. In 1 s the demo says yes."
    assert stage.told[1].startswith("The demo answered: “Yes, and keep asking”.")


def test_a_person_answers_on_the_board_and_the_agent_takes_up_what_they_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "ANSWER_SECONDS", 1_000)

    def answer() -> None:
        with open_journal(tmp_path / "plans.db") as journal:
            until(lambda: [*journal.sessions()] and left(journal).needs_person)
            session = left(journal)
            steer(journal, session, "proposal", Wanted("review", option="Yes, don't ask again"), "ann")
            steer(journal, session.id, "proposal", Wanted("comment", text="never touch vendor/"), "ben")

    stage = Onlooker(answer)
    lines = played(tmp_path, stage)
    assert stage.told[1].startswith("Approved on the board by ann: “Yes, don't ask again”.")
    assert stage.told[2] == "The agent hears what you said with its next prompt."
    assert any(line.sender == "client" and b"-32800" in line.line for line in lines)
    assert any("“never touch vendor/”, ben said".encode() in line.line for line in lines)
    with open_journal(tmp_path / "plans.db") as journal:
        plans = left(journal).plans
    assert [(each.by, each.option) for each in plans["proposal"].reviews] == [("ann", "always")]
    assert SUGGESTED not in {step.content for step in plans["fix"].state.steps}


def with_time_to_answer(journal: Path) -> str:
    """A program that is `planwire demo`, quick, but with time for the answer. It prints its exit code."""
    return (
        "from planwire.cli import main; from planwire.demo import client; client.WATCHED_SECONDS = 1_000;"
        f"print('exit code', main(['demo', '--speed', '50', '--journal', {str(journal)!r}]))"
    )


def takes_lines(terminal: Terminal) -> bool:
    """Whether a terminal is as shells want it: it echoes, and hands over whole lines."""
    flags = termios.tcgetattr(terminal.descriptor)[3]
    return bool(flags & termios.ICANON and flags & termios.ECHO)


def test_one_key_answers_and_the_board_stays_with_the_agent_until_enter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "plans.db"
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    with running(program=("-c", with_time_to_answer(path))) as terminal:
        terminal.wait_for(b"[n] No, change the plan")
        assert not takes_lines(terminal)
        terminal.type(b"n")
        terminal.wait_for("You answered: “No, change the plan”.".encode())
        terminal.wait_for(b"8/8")  # with the step that the first proposal would have dropped
        terminal.wait_for(b"Press Enter to end.")
        address = re.findall(rb"The board is at (\S+)", terminal.seen)[-1].decode()
        assert httpx.get(address, follow_redirects=True).status_code == 200
        with open_journal(path) as journal:
            steer(journal, left(journal), "fix", Wanted("comment", text="never touch vendor/"), "ben")
        terminal.wait_for("“never touch vendor/”, ben said".encode())
        terminal.type(b"\n")
        terminal.wait_for(b"exit code 0")
        assert takes_lines(terminal)
        with pytest.raises(httpx.ConnectError):
            httpx.get(address)


def test_ctrl_c_ends_it_in_the_middle_and_the_terminal_is_as_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "plans.db"
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    with running(program=("-c", with_time_to_answer(path))) as terminal:
        terminal.wait_for(b"[y] Yes")
        terminal.type(b"\x03")
        terminal.wait_for(b"exit code 130")
        assert takes_lines(terminal)
        assert b"\x1b[?25h" in terminal.seen
        assert b"Traceback" not in terminal.seen
    with open_journal(path) as journal:
        assert not any(each.is_held for each in journal.leases()), "the relay has ended, too"


def test_without_a_terminal_it_needs_nobody_and_ends_by_itself(tmp_path: Path) -> None:
    demo = subprocess.run(
        own_command("demo", "--speed", "50"),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        env={"XDG_DATA_HOME": str(tmp_path / "data"), "TMPDIR": str(tmp_path), "PYTHONUTF8": "1"},
    )
    assert demo.stderr == ""
    assert demo.stdout.startswith("The board: http://127.0.0.1:")
    for words in ("The agent asks: May I", "The demo answered", "7/7  1 cancelled", "  ·  done  ·  "):
        assert words in demo.stdout
    assert "✔ tell the data team" in demo.stdout, "plan files count here, too"
    assert {"show", "watch", "approve", "board"} <= set(re.findall(r"^  planwire (\w+)", demo.stdout, re.MULTILINE))
    assert "Press" not in demo.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["data"], "it works in a folder of planwire's own"


def test_the_demo_agent_ends_with_its_client() -> None:
    agent = subprocess.run(
        [*own_command(module="planwire.demo.agent")],
        input=b'not JSON\n{"jsonrpc":"2.0","id":1,"method":"session/what"}\n',
        capture_output=True,
        check=True,
        timeout=30,
    )
    assert b"has no method session/what" in agent.stdout
    assert agent.stderr == b""


def test_a_cancel_before_the_first_prompt_answers_no_question(tmp_path: Path) -> None:
    prompt = {"sessionId": "s", "prompt": []}
    messages: list[dict[str, object]] = [
        {"id": 1, "method": "initialize", "params": {"protocolVersion": 1}},
        {"id": 2, "method": "session/new", "params": {"cwd": str(tmp_path)}},
        {"method": "session/cancel", "params": {"sessionId": "s"}},
        {"id": 3, "method": "session/prompt", "params": prompt},
    ]
    yes = {"id": "review", "result": {"outcome": {"outcome": "selected", "optionId": "yes"}}}
    command = [*own_command(module="planwire.demo.agent"), "--speed", "1000"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as agent:
        assert agent.stdin
        assert agent.stdout
        agent.stdin.write(b"".join(json.dumps(each).encode() + b"\n" for each in messages))
        agent.stdin.flush()
        assert any(b"session/request_permission" in line for line in agent.stdout)
        agent.stdin.write(json.dumps(yes).encode() + b"\n")
        agent.stdin.flush()
        assert b"session/update" in agent.stdout.readline(), "it works on its plan"
        agent.stdin.close()


def test_the_question_is_seen_however_many_plans_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    plans = [b'{"type":"markdown","planId":"p%d","content":"# Plan %d"}' % (number, number) for number in range(9)]
    line = b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":%b}}'
    sent = [line % b'{"sessionUpdate":"plan_update","plan":%b}' % plan for plan in plans]
    console = Console(width=60, height=12, force_terminal=True)
    stage = LiveStage(console, "http://board")
    with stage.playing():
        stage.ask(["May I?"])
        for frame in replayed(RecordedLine(number, each, "agent") for number, each in enumerate(sent, 1)):
            stage.show(frame)
        shown = capsys.readouterr().out.rpartition("\x1b[2K")[2].splitlines()  # the last picture
    assert len(shown) < console.height
    assert any("Plan" in each for each in shown)
    assert ["May I?" in shown[-2], "http://board" in shown[-1]] == [True, True]
