"""The bare client: its waits are bounded, and what ends early is told at once."""

import os
import signal
import sys
from pathlib import Path

import pytest

from tests.peers.client import Client, Hello, Refused, Silence, allow_once, reject_once

ANSWERS = 'import json,sys\nfor line in sys.stdin:\n m=json.loads(line)\n if "id" in m: {}\n'


def agent(body: str, cwd: Path, hello: Hello = Hello()) -> Client:
    return Client([sys.executable, "-u", "-c", ANSWERS.format(body)], dict(os.environ), cwd, hello=hello)


@pytest.mark.parametrize(("version", "key"), [(1, "clientCapabilities"), (2, "capabilities")])
def test_each_version_says_hello_in_its_own_words(version: int, key: str, tmp_path: Path) -> None:
    with agent(
        'print(json.dumps({"id":m["id"],"result":m["params"]}))', tmp_path, Hello(version, {"plan": {}})
    ) as client:
        assert client.agent[key] == {"plan": {}}
        assert [line.sender for line in client.lines] == ["client", "agent"]
    assert client.process.returncode == 0


def test_an_agent_that_ends_is_not_waited_for(tmp_path: Path) -> None:
    with pytest.raises(Silence, match="the answer to initialize: the agent ended"), agent("sys.exit(3)", tmp_path):
        pytest.fail("it answered")


def test_a_silent_agent_is_waited_for_within_bounds(tmp_path: Path) -> None:
    client = agent("pass", tmp_path)
    with pytest.raises(Silence, match=r"nothing in 0\.2 s"):
        client.request("initialize", {}, patience=0.2)
    assert client.close() == 0


def test_an_error_is_raised_with_what_the_agent_said(tmp_path: Path) -> None:
    error = {"code": -32602, "message": "no"}
    client = agent(f'print(json.dumps({{"id":m["id"],"error":{error}}}))', tmp_path)
    with pytest.raises(Refused) as caught:
        client.request("session/new", {})
    assert caught.value.error == error
    client.close()


def test_an_agent_that_ignores_the_end_of_its_input_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.peers.client.GRACE", 0.2)
    deaf = "import signal,time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(1, flush=True); time.sleep(60)"
    client = Client([sys.executable, "-c", deaf], dict(os.environ), tmp_path)
    client.wait_for(lambda: client.lines or None, "its first line")
    assert client.close() == -signal.SIGKILL


def test_lines_that_are_no_json_are_kept(tmp_path: Path) -> None:
    client = agent('print("Hello, I have moved.")', tmp_path)
    client.ask("initialize", {})
    client.wait_for(lambda: len(client.lines) > 1 or None, "the line")
    client.close()
    assert client.lines[-1].text == "Hello, I have moved."


def test_permission_is_given_as_the_policy_says() -> None:
    params = {"options": [{"optionId": "no", "kind": "reject_once"}, {"optionId": "yes", "kind": "allow_once"}]}
    assert (allow_once(params), reject_once(params), allow_once({"options": []})) == ("yes", "no", None)
