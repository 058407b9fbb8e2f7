"""`planwire check --client`: a client is run through the dialects that it announces, and told what it lost."""

import json
import subprocess
import sys
from collections import deque
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from planwire.acp.dialects import V1, V2, Dialect
from planwire.check.client_judge import TrialRun, judge
from planwire.check.trials import PERMISSION, Trial, TrialAgent, trials_for
from planwire.own_process import own_command
from tests.availability import or_skip
from tests.peers.install import npm_peers

BARE_CLIENT = Path(__file__).parents[1] / "agents" / "bare_client.py"
SDK_CLIENT = Path(__file__).parents[1] / "peers" / "sdk_client.py"


ALL_TRIALS = ("no plan", "v1", "unknown words")


def tried(ways: dict[str, Any], *options: str, **more: Any) -> tuple[int, list[tuple[str, str]], Any]:
    return checked([sys.executable, str(BARE_CLIENT), json.dumps(ways)], *options, **more)


def checked(client: list[str], *options: str, timeout: float = 60) -> tuple[int, list[tuple[str, str]], Any]:
    """The exit code, the broken rules, and the verdict."""
    command = [*own_command(), "check", "--client", "--json", *options, "--", *client]
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=timeout)
    assert result.stdout, result.stderr
    value = json.loads(result.stdout)
    return result.returncode, [(each["code"], each["message"].split(":")[0]) for each in value["findings"]], value


def test_a_client_that_reads_everything_loses_nothing() -> None:
    """R8, R33: the dialects that it announces, and words that nobody knows."""
    code, found, value = tried({"capabilities": {"planCapabilities": {}}}, "--strict")
    assert (code, found, value["announces"]) == (0, [], ["v1", "v1-rfd"])
    assert [trial["trial"] for trial in value["trials"]] == ["no plan", "v1", "v1-rfd", "unknown words"]
    for trial in value["trials"]:
        assert (trial["over"], trial["prints"], trial["answer"]) == (True, True, "no")
        assert all(each["shown"] == each["texts"] for each in trial["updates"])


@pytest.mark.agents
def test_a_client_of_version_2_is_spoken_to_in_it() -> None:
    """R30."""
    code, found, value = tried({"version": 2})
    assert (code, found, value["announces"]) == (0, [], ["v1", "v2"])


def test_a_client_whose_greeting_has_no_params_is_judged_all_the_same() -> None:
    code, found, value = tried({"greets": False})
    assert (code, found, value["announces"]) == (1, [("no-version", "no plan")], [])
    assert [trial["over"] for trial in value["trials"]] == [True, True]


def run_of(trial: Trial, hides: str = "", dies: str = "", grumbles: str = "", ignores: str = "") -> TrialRun:
    """A run of a client that prints and answers everything but what its arguments name, in this process."""
    agent, lines, stdout, stderr = TrialAgent(trial), list[tuple[str, bytes]](), list[str](), list[str]()
    to_say: deque[dict[str, Any]] = deque(
        {"id": number, "method": method, "params": {"protocolVersion": 1}}
        for number, method in enumerate(("initialize", "session/new", "session/prompt"))
    )
    while to_say:
        said = to_say.popleft()
        lines.append(("client", json.dumps(said).encode()))
        for message in agent.hear(said):
            lines.append(("agent", json.dumps(message, separators=(",", ":")).encode()))
            method, text = message.get("method"), json.dumps(message)
            if dies and dies in text:
                return TrialRun(trial, tuple(lines), "\n".join(stdout), "", 7)
            stderr += [f"ValidationError: {grumbles}"] if grumbles and grumbles in text else []
            stdout += [text] if not (hides and hides in text) else []
            if "id" in message and method and method != ignores:
                yes = {"result": {"outcome": {"outcome": "selected", "optionId": "yes"}}}
                unknown = {"error": {"code": -32601, "message": "no"}}
                to_say.append({"id": message["id"], **(unknown if method == "_planwire/probe" else yes)})
    over = any(b"stopReason" in line for _, line in lines)
    return TrialRun(trial, tuple(lines), "\n".join(stdout), "\n".join(stderr), 0 if over else None)


@pytest.mark.parametrize(
    ("ways", "found"),
    [
        ({}, []),
        ({"hides": '"plan"'}, [("not-shown", "v1"), ("not-shown", "unknown words")]),
        ({"hides": '"update"'}, []),
        ({"dies": '"plan",'}, [("client-ended", "v1"), ("client-ended", "unknown words")]),
        ({"dies": "_planwire_probe"}, [("client-ended", "unknown words")]),
        ({"grumbles": '"plan",'}, [("complained", "v1")]),
        ({"grumbles": "agent_message_chunk"}, []),
        ({"ignores": "session/request_permission"}, [("question-unanswered", name) for name in ALL_TRIALS]),
        ({"ignores": "_planwire/probe"}, [("probe-unanswered", "unknown words")]),
    ],
    ids=str,
)
def test_a_client_hears_what_it_lost(ways: dict[str, str], found: list[tuple[str, str]]) -> None:
    trials = (Trial("no plan", V1, has_plans=False), *trials_for({"protocolVersion": 1}))
    verdict = judge(run_of(trial, **ways) for trial in trials)
    assert [(each.code, each.message.split(":")[0]) for each in verdict.findings] == found


@pytest.mark.parametrize("odd", [[1], {"n": 1}, None, 1.5], ids=str)
def test_an_answer_with_an_odd_id_answers_nothing(odd: Any) -> None:
    run = run_of(Trial("no plan", V1, has_plans=False))
    stray = json.dumps({"jsonrpc": "2.0", "id": odd, "result": {}}).encode()
    assert judge([replace(run, lines=(*run.lines, ("client", stray)))]) == judge([run])


@pytest.mark.parametrize("dialect", [V1, V2], ids=lambda each: each.name)
def test_a_turn_that_the_client_cancels_ends_as_cancelled(dialect: Dialect) -> None:
    """R42: at once, whatever the agent still waited for."""
    agent = TrialAgent(Trial("unknown words", dialect, has_unknowns=True))
    list(agent.hear({"id": 3, "method": "session/prompt", "params": {}}))
    [ended] = agent.hear({"method": "session/cancel", "params": {}})
    assert '"stopReason": "cancelled"' in json.dumps(ended)
    assert not list(agent.hear({"id": PERMISSION, "result": {"outcome": {"outcome": "cancelled"}}}))


@pytest.mark.parametrize(
    ("client", "said"),
    [
        ([sys.executable, "-c", ""], "sent no `initialize`"),
        ([sys.executable, "-c", "exit('Try --help.')"], "to the agent: Try --help. Say"),
        (["no-such-client"], "the client 'no-such-client' could not be started"),
        ([], "no client"),
    ],
)
def test_a_client_that_starts_no_agent_is_not_judged(client: list[str], said: str) -> None:
    command = [*own_command(), "check", "--client", "--", *client]
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (result.returncode, said in result.stderr) == (2, True)


@pytest.mark.agents
def test_a_client_on_the_official_sdk_reads_the_draft() -> None:
    """R10."""
    code, found, value = checked([sys.executable, str(SDK_CLIENT)])
    assert (code, found, value["announces"]) == (0, [], ["v1", "v1-draft"])
    draft = next(trial for trial in value["trials"] if trial["trial"] == "v1-draft")
    assert all(each["shown"] == each["texts"] for each in draft["updates"])


@pytest.mark.agents
@pytest.mark.timeout(300)
def test_acpx_reads_and_shows_lists() -> None:
    """R10, R33."""
    acpx = str(or_skip(npm_peers) / "node_modules" / ".bin" / "acpx")
    client = [acpx, "--approve-all", "--agent", "{agent}", "exec", "Plan."]
    code, found, value = checked(client, timeout=120)
    assert (code, found, value["announces"]) == (0, [], ["v1"])
