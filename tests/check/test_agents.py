"""`planwire check -- AGENT`: agents that play along, agents that do not, and real ones on a scripted model."""

import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from planwire.own_process import own_command
from tests.peers.agents import Agent, claude, codex, deepagents
from tests.peers.model_server import ScriptedModel
from tests.peers.plans import enter_plan_mode, exit_plan_mode, task_create, task_update, todo_write, write_todos
from tests.peers.script import Turn, say
from tests.waiting import until
from tests.wire import answer, entry, items, line, plan, request

WORKING = [
    plan(entry("Read", "in_progress", "high"), entry("Write"), entry("Test", priority="low")),
    plan(entry("Read", "completed", "high"), entry("Write", "in_progress"), entry("Test", priority="low")),
    plan(entry("Read", "completed", "high"), entry("Write", "completed"), entry("Test", "in_progress", "low")),
    plan(entry("Read", "completed", "high"), entry("Write", "completed"), entry("Test", "completed", "low")),
]

AGENT = """
import json, sys

def say(message):
    print(message if isinstance(message, str) else json.dumps(message), flush=True)

for number, text in enumerate(sys.stdin):
    message = json.loads(text)
    method, asked = message.get("method"), message.get("id")
    if method == "initialize":
        version = min(message["params"]["protocolVersion"], VERSION)
        say({"jsonrpc": "2.0", "id": asked, "result": {"protocolVersion": version, "agentInfo": {"name": "toy"}}})
    elif method == "session/new":
        say({"jsonrpc": "2.0", "id": asked, "result": {"sessionId": "s1"}})
    elif method == "session/prompt":
        prompt = asked
        waiting = 0
        for each in SENT:
            say(each)
            waiting += '"id":' in each
        if not waiting:
            END
    elif method is None:
        print(text, file=sys.stderr, flush=True)
        END
"""
END_OF_TURN = 'say({"jsonrpc": "2.0", "id": prompt, "result": {"stopReason": "end_turn"}})'


def toy(*sent: bytes, end: str = END_OF_TURN, version: int = 1) -> list[str]:
    """An agent that sends this in its turn, and ends the turn once it has the answers to its own requests."""
    code = AGENT.replace("SENT", repr([each.decode() for each in sent])).replace("VERSION", str(version))
    return [sys.executable, "-c", code.replace("END", end)]


def check(
    command: list[str], *options: str, env: Mapping[str, str] | None = None, timeout: float = 60
) -> "subprocess.CompletedProcess[str]":
    whole = [*own_command(), "check", *options, "--", *command]
    return subprocess.run(whole, capture_output=True, text=True, check=False, timeout=timeout, env=env)


def verdict(command: list[str], *options: str, **more: Any) -> tuple[int, list[tuple[str, str]], Any]:
    """The exit code, the broken rules, and all output."""
    result = check(command, "--json", *options, **more)
    value = json.loads(result.stdout)
    return result.returncode, [(each["rule"], each["code"]) for each in value["findings"]], value


def test_an_agent_that_plays_along_passes() -> None:
    code, found, value = verdict(toy(*WORKING), "--strict")
    assert (code, found) == (0, [])
    assert (value["passes"], value["updates"], value["dialect"], value["agent"]) == (True, 4, "v1", "toy")


def test_people_read_what_is_broken_where_and_how_to_mend_it() -> None:
    result = check(toy(items("p", entry("a", priority="high"))))
    assert result.returncode == 1
    head, place, mend, see, _, summary = result.stdout.splitlines()
    assert head == "error R8 `plan_update` was sent to a client that announced no plan capability"
    assert place == "  at   line 6 · params.update.sessionUpdate · plan p"
    assert mend.startswith("  fix  look for `clientCapabilities.plan`")
    assert see.startswith("  see  https://agentclientprotocol.com/")
    assert summary == "1 error, 0 warnings · 1 plan update in 1 session · dialect v1 · toy · driven: prompt"


@pytest.mark.parametrize(
    ("capability", "dialect"), [("none", "v1"), ("rfd", "v1-rfd"), ("draft", "v1-draft"), ("v2", "v2")]
)
def test_the_client_says_what_it_was_told_to(capability: str, dialect: str) -> None:
    """R10, R30."""
    idle = line({"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"})
    confirm = f'say({{"jsonrpc": "2.0", "id": prompt, "result": {{}}}}); say({idle.decode()!r})'
    end = confirm if capability == "v2" else END_OF_TURN
    _, found, value = verdict(toy(end=end, version=2), "--capability", capability)
    assert (found, value["dialect"]) == ([("R1", "no-plan-sent")], dialect)


def test_an_agent_without_a_plan_passes_unless_it_is_strict() -> None:
    """R1 is a SHOULD."""
    assert verdict(toy())[:2] == (0, [("R1", "no-plan-sent")])
    assert verdict(toy(), "--strict")[0] == 1


@pytest.mark.parametrize(
    ("kind", "options", "outcome"),
    [
        ("execute", [], {"outcome": "selected", "optionId": "no"}),
        ("execute", ["--allow"], {"outcome": "selected", "optionId": "yes"}),
        ("switch_mode", [], {"outcome": "selected", "optionId": "yes"}),
    ],
)
def test_plans_are_approved_and_nothing_else_is_done(kind: str, options: list[str], outcome: Any) -> None:
    choices = [{"optionId": "yes", "kind": "allow_once"}, {"optionId": "no", "kind": "reject_once"}]
    asked = request("session/request_permission", "x", sessionId="s1", toolCall={"kind": kind}, options=choices)
    result = check(toy(asked), *options)
    assert {"jsonrpc": "2.0", "id": "x", "result": {"outcome": outcome}} == json.loads(result.stderr)


def test_requests_that_the_client_does_not_know_are_answered() -> None:
    """R33."""
    result = check(toy(request("fs/read_text_file", 7, sessionId="s1", path="/etc/hosts")))
    assert json.loads(result.stderr)["error"]["code"] == -32601


def test_the_conversation_can_be_kept_and_checked_again(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    first = check(toy(b"Hello!", *WORKING), "--json", "--save", str(file))
    again = [*own_command(), "check", str(file), "--json"]
    assert json.loads(first.stdout) == json.loads(subprocess.run(again, capture_output=True, check=False).stdout)


# Agents that do not play along


def test_an_agent_that_ends_at_once_is_told_apart() -> None:
    code, found, value = verdict([sys.executable, "-c", "raise SystemExit(3)"])
    assert (code, found) == (1, [("schema", "ended-early")])
    assert value["findings"][0]["message"] == "`initialize` was not answered: the agent ended with exit code 3"


def test_an_agent_that_dies_in_its_turn_is_judged_by_what_it_said() -> None:
    code, found, _ = verdict(toy(plan("a"), end="sys.exit(1)"))
    assert (code, found) == (1, [("R6", "entry-not-an-object"), ("schema", "ended-early")])


def test_an_agent_that_hangs_is_not_waited_for_forever() -> None:
    said = [answer(1, {"protocolVersion": 1}), answer(2, {"sessionId": "s1"}), plan("a")]
    script = " ".join(f"read x; echo {shlex.quote(each.decode())};" for each in said)
    code, found, value = verdict(["sh", "-c", f"{script} exec sleep 600"], "--timeout", "2")
    assert (code, found) == (1, [("R6", "entry-not-an-object"), ("schema", "no-answer")])
    assert value["findings"][1]["message"] == "`session/prompt` was not answered within 2 seconds"


@pytest.mark.parametrize(
    "garbage", ["print('Loading...', flush=True)", "print('{', flush=True)", "print([1], flush=True)"]
)
def test_an_agent_that_prints_garbage_is_told_so_and_goes_on(garbage: str) -> None:
    """R35."""
    command = toy(*WORKING)
    command[2] = f"{garbage}\n{command[2]}"
    code, found, value = verdict(command)
    assert (code, value["updates"]) == (1, 4)
    assert {rule for rule, _ in found} <= {"R34", "R35"}
    assert found


def test_an_agent_that_never_stops_talking_is_stopped() -> None:
    code, found, _ = verdict(["yes"], "--timeout", "1")
    assert (code, found) == (1, [("R35", "not-json"), ("schema", "no-answer")])


def test_an_agent_that_asks_and_never_listens_is_stopped() -> None:
    code = f"while True: print({request('fs/read_text_file', 1, sessionId='s').decode()!r})"
    exit_code, found, _ = verdict([sys.executable, "-c", code], "--timeout", "20")
    assert (exit_code, found) == (1, [("schema", "no-answer")])


def test_an_agent_that_refuses_says_why() -> None:
    error = '{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"Authentication required"}}'
    code, found, value = verdict([sys.executable, "-c", f"input(); print({error!r}); input()"])
    assert (code, found) == (1, [("schema", "refused")])
    assert value["findings"][0]["message"] == "`initialize` was refused: Authentication required"


def test_an_agent_that_agrees_to_no_version_is_not_judged_as_if_it_had() -> None:
    """R30."""
    command = [word.replace('"protocolVersion": version, ', "") for word in toy(*WORKING)]
    code, found, _ = verdict(command)
    assert (code, found) == (1, [("schema", "refused")])


def test_an_agent_that_will_not_end_is_ended_with_its_children(tmp_path: Path) -> None:
    note = tmp_path / "pids"
    stubborn = f"trap '' TERM; sleep 600 & echo $$ $! > {shlex.quote(str(note))}; wait; sleep 600"
    assert verdict(["sh", "-c", stubborn], "--timeout", "1")[1] == [("schema", "no-answer")]
    for pid in map(int, note.read_text().split()):
        until(lambda: not is_running(pid))  # noqa: B023  (called at once)


def test_who_interrupts_the_check_leaves_no_agent_behind(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    code = f"import os, sys; open({str(note)!r}, 'w').write(f'{{os.getpid()}} '); sys.stdin.read()"
    command = [*own_command(), "check", "--", sys.executable, "-c", code]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        until(lambda: note.exists() and note.read_text().endswith(" "))
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=20) == (b"", b"")
    assert process.returncode == 130
    assert not is_running(int(note.read_text()))


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--", "no-such-agent"], "could not be started"),
        (["--"], "nothing to check"),
        ([], "nothing to check"),
        (["nowhere.jsonl"], "can't be read"),
        ([os.devnull], "is empty"),
        (["one.jsonl", "two.jsonl"], "one file at a time"),
        (["--cwd", "nowhere", "--", "true"], "is not a folder"),
        (["--save", "nowhere/x", "--", "true"], "can't be written"),
        (["--timeout", "never", "--", "true"], "expected a number of seconds"),
        (["--capability", "all", "--", "true"], "invalid choice"),
    ],
)
def test_what_can_not_be_checked_is_said_in_one_line_with_exit_code_2(arguments: list[str], said: str) -> None:
    command = [*own_command(), "check", *arguments]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert said in result.stderr
    assert "Traceback" not in result.stderr


def test_options_may_stand_behind_the_file(tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    file.write_bytes(items("p", entry("a", priority="high"), key="id"))
    base = own_command("check")
    for arguments in (["--capability", "draft", str(file)], [str(file), "--capability", "draft"]):
        result = subprocess.run([*base, *arguments], capture_output=True, text=True, check=False)
        assert "former-id" in result.stdout
    unknown = subprocess.run([*base, str(file)], capture_output=True, text=True, check=False)
    assert unknown.returncode == 0
    assert "dialect not known" in unknown.stdout


def test_what_a_terminal_would_obey_is_never_printed() -> None:
    hostile = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202egnp.exe\r\x00"
    sent = (items(hostile, entry("a", hostile, hostile)), line({"sessionUpdate": f"plan{hostile}", hostile: 1}))
    for options in ([], ["--json"]):
        shown = check(toy(*sent), *options, env={**os.environ, "FORCE_COLOR": "1"}).stdout
        assert "owned" in shown
        for obeyed in ("\x1b", "\x07", "\x9b", "\u202e", "\x00", "\r"):
            assert obeyed not in shown


# Real agents on a scripted model


def judged(agent: Agent, *options: str) -> tuple[int, list[tuple[str, str]], Any]:
    environment = {**agent.environment, "PYTHONPATH": os.pathsep.join(sys.path)}
    return verdict(list(agent.command), *options, env=environment, timeout=120)


ALL_STEPS = [
    ("pending", "pending", "pending"),
    ("in_progress", "pending", "pending"),
    ("completed", "in_progress", "pending"),
    ("completed", "completed", "in_progress"),
    ("completed", "completed", "completed"),
]
ONLY_A_PROMPT = ("--skip", "load,resume,fork,plan-mode")
UNRANKED = ("practice", "unranked")


@pytest.mark.timeout(600)
@pytest.mark.parametrize("capability", [pytest.param("draft", marks=pytest.mark.agents), "v2"])
def test_claude_keeps_the_rules_in_every_dialect(capability: str, tmp_path: Path) -> None:
    """R8, R14, R16. The one warning: all of its priorities are the same."""
    lists = [todo_write(*statuses) for statuses in ALL_STEPS]
    with ScriptedModel([enter_plan_mode(), exit_plan_mode(), *lists, say("Done.")]) as model:
        code, found, value = judged(claude(model.url, tmp_path), *ONLY_A_PROMPT, "--capability", capability)
        assert model.left == 0
    assert (code, found, value["updates"]) == (0, [UNRANKED], 6)
    assert value["driven"] == {"prompt": True}


@pytest.mark.agents
@pytest.mark.timeout(600)
def test_claude_does_not_report_an_approved_plan_to_who_reads_only_lists(tmp_path: Path) -> None:
    """R1, R9."""
    with ScriptedModel([enter_plan_mode(), exit_plan_mode(), say("Approved.")]) as model:
        code, found, _ = judged(claude(model.url, tmp_path), *ONLY_A_PROMPT, "--capability", "none")
    assert (code, found) == (0, [("R1", "not-reported"), ("R1", "no-plan-sent")])


@pytest.mark.agents
@pytest.mark.timeout(600)
def test_claude_with_single_tasks_ends_its_turn_in_the_middle(tmp_path: Path) -> None:
    """R2."""
    script: list[Turn] = [task_create(1, 2, 3), task_update(1, "in_progress"), say("Later.")]
    with ScriptedModel(script) as model:
        code, found, _ = judged(claude(model.url, tmp_path, tool="task"), *ONLY_A_PROMPT)
    assert (code, found) == (0, [("R2", "unfinished-business"), UNRANKED])


@pytest.mark.agents
@pytest.mark.timeout(600)
def test_deepagents_agrees_to_version_2_and_speaks_version_1(tmp_path: Path) -> None:
    """R29, R30. Completing three entries in one update is late (R2)."""
    script = [write_todos(*statuses) for statuses in (ALL_STEPS[0], ALL_STEPS[1], ALL_STEPS[4])]
    with ScriptedModel([*script, say("Ok.")]) as model:
        code, found, _ = judged(deepagents(model.url, tmp_path), "--capability", "v2")
    assert (code, found) == (1, [("R30", "two-versions"), ("R29", "removed-update"), ("R2", "told-late"), UNRANKED])


@pytest.mark.agents
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("agent", "found", "silent"),
    [(claude, [UNRANKED], {"resume", "fork"}), (codex, [("R37", "not-retold"), UNRANKED], {"load", "resume", "fork"})],
    ids=["claude", "codex"],
)
def test_real_agents_are_driven_without_a_script_of_their_own(
    agent: Any, found: list[tuple[str, str]], silent: set[str], tmp_path: Path
) -> None:
    """R37: Codex does not retell its list."""
    command = list(agent("http://127.0.0.1:9", tmp_path).command)
    _, rules, value = verdict(command, "--script", "default", timeout=300)
    assert (rules, set(value["driven"])) == (found, {"prompt", "load", "resume", "fork", "plan mode"})
    assert {what for what, told in value["driven"].items() if not told} == silent
