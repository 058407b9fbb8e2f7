"""The relay in a proxy chain: with a conductor that knows the rules, and line by line (R45 to R50)."""

import json
import subprocess
import sys
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planwire.acp.conversation import AGENT, CLIENT
from planwire.journal import load_state, open_journal
from planwire.own_process import own_command
from planwire.relay.chain import Chain
from tests.agents.driving import AGENTS, SOON
from tests.wire import JSON, answer, entry, items, line, plan, request


def value(sent: bytes) -> JSON:
    found: JSON = json.loads(sent)
    return found


def greeted(prefix: str = "proxy/", version: int = 1) -> Chain:
    """A chain whose `initialize` was passed on and answered."""
    chain = Chain()
    ((sender, hello),) = chain.hear(request(f"{prefix}initialize", 0, protocolVersion=version))
    assert (sender, value(hello)["method"], value(hello)["id"]) == (CLIENT, "initialize", 0)
    (sent,) = chain.for_agent(hello)
    assert value(sent)["method"] == f"{prefix}successor"
    assert value(sent)["params"] == {"method": "initialize", "params": {"protocolVersion": version}}
    ((sender, answered),) = chain.hear(answer(value(sent)["id"], {"protocolVersion": version}))
    assert (sender, value(answered)["id"]) == (AGENT, 0)
    (said,) = chain.for_client(answered)
    path: Any = value(said)["result"]
    assert path.pop("protocolVersion") == version
    acp: JSON = {"mcpCapabilities": {"acp": True}} if version == 1 else {"session": {"mcp": {"acp": {}}}}
    assert path == ({"agentCapabilities": acp} if version == 1 else {"capabilities": acp})
    return chain


@pytest.mark.parametrize("prefix", ["proxy/", "_proxy/"])
@pytest.mark.parametrize("version", [1, 2])
def test_a_proxy_asks_its_successor_before_it_answers_and_takes_servers_over_acp(prefix: str, version: int) -> None:
    """R45, R47, R48."""
    greeted(prefix, version)


def test_a_component_without_a_successor_says_what_to_do() -> None:
    """R45."""
    ((sender, said),) = Chain().hear(request("initialize", 0, protocolVersion=1))
    assert sender == ""
    assert "put one after it in the chain" in value(said)["error"]["message"]


@pytest.mark.parametrize("meta", [{}, {"_meta": {"hop": 1}}])
def test_messages_of_the_successor_are_unwrapped_and_their_answers_go_back_unchanged(meta: JSON) -> None:
    """R46, R49: what is in `params` stays, what is in the envelope's `_meta` does not."""
    chain = greeted()
    params = {"sessionId": "s1", "toolCall": {}, "options": [], "_meta": {"kept": True}}
    inner = {"method": "session/request_permission", "params": params, **meta}
    wrapped = {"jsonrpc": "2.0", "id": 7, "method": "proxy/successor", "params": inner}
    ((sender, heard),) = chain.hear(json.dumps(wrapped).encode())
    assert (sender, value(heard)) == (
        AGENT,
        {"jsonrpc": "2.0", "id": 7, "method": "session/request_permission", "params": params},
    )
    (asked,) = chain.for_client(heard)
    assert value(asked)["id"] != 7
    ((sender, replied),) = chain.hear(answer(value(asked)["id"], {"outcome": {"outcome": "cancelled"}}))
    assert (sender, value(replied)["id"]) == (CLIENT, 7)
    assert chain.for_agent(replied) == [replied]


def test_a_notification_passes_both_ways() -> None:
    chain = greeted()
    update = value(plan(entry("a")))
    wrapped = {"jsonrpc": "2.0", "method": "proxy/successor", "params": {k: update[k] for k in ("method", "params")}}
    ((sender, heard),) = chain.hear(json.dumps(wrapped).encode())
    assert (sender, value(heard)) == (AGENT, update)
    assert chain.for_client(heard) == [heard]
    cancel = line({}, "s1").replace(b"session/update", b"session/cancel")
    assert chain.hear(cancel) == [(CLIENT, cancel)]
    (sent,) = chain.for_agent(cancel)
    assert value(sent)["params"] == {"method": "session/cancel", "params": value(cancel)["params"]}
    assert "id" not in value(sent)


def test_a_request_is_cancelled_under_its_id_of_the_same_connection() -> None:
    """R50: it is never wrapped, and never forwarded with an id of another hop."""
    chain = greeted()
    prompt = request("session/prompt", 3, sessionId="s1", prompt=[])
    chain.hear(prompt)
    (sent,) = chain.for_agent(prompt)
    cancel = json.dumps({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 3}}).encode()
    assert chain.hear(cancel) == [(CLIENT, cancel)]
    (passed,) = chain.for_agent(cancel)
    assert value(passed) == {**value(cancel), "params": {"requestId": value(sent)["id"]}}
    chain.hear(answer(value(sent)["id"], {"stopReason": "cancelled"}))
    assert chain.for_agent(cancel) == []


def test_a_request_of_the_agents_is_cancelled_at_the_client() -> None:
    """R50: the conductor has the requests of both sides under ids of one connection."""
    chain = greeted()
    inner = {"method": "session/request_permission", "params": {"sessionId": "s1"}}
    wrapped = {"jsonrpc": "2.0", "id": 7, "method": "proxy/successor", "params": inner}
    ((_, heard),) = chain.hear(json.dumps(wrapped).encode())
    (asked,) = chain.for_client(heard)
    cancel = json.dumps({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 7}}).encode()
    assert chain.hear(cancel) == [(AGENT, cancel)]
    (passed,) = chain.for_client(cancel)
    assert value(passed) == {**value(cancel), "params": {"requestId": value(asked)["id"]}}


@pytest.mark.parametrize("params", [{}, {"params": {}}, {"params": {"method": 1}}, {"params": []}])
def test_a_request_that_wraps_nothing_is_answered(params: JSON) -> None:
    """R49."""
    wrapped = {"jsonrpc": "2.0", "id": 7, "method": "proxy/successor", **params}
    ((sender, said),) = greeted().hear(json.dumps(wrapped).encode())
    assert (sender, value(said)["id"]) == ("", 7)
    assert "method" in value(said)["error"]["message"]


NAMES = st.sampled_from(["id", "method", "params", "result"])
ODD = st.recursive(st.none() | st.text() | st.integers(), lambda more: st.dictionaries(NAMES, more))


@given(st.binary() | ODD.map(lambda odd: json.dumps(odd).encode()))
def test_nothing_that_a_conductor_says_is_too_odd(data: bytes) -> None:
    chain = greeted()
    chain.hear(data)
    chain.for_agent(data)
    chain.for_client(data)


class Chained:
    """A client of a conductor with `planwire relay --proxy` and a scripted agent."""

    def __init__(self, folder: Path, prefix: str) -> None:
        self.journal = folder / "plans.db"
        agent = [sys.executable, str(AGENTS / "scripted.py"), str(folder / "agent.jsonl")]
        proxy = [*own_command(), "relay", "--proxy", "--journal", str(self.journal)]
        self.process = subprocess.Popen(
            [sys.executable, str(AGENTS / "conductor.py"), prefix, *agent, "--", *proxy],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._ids = count(1)

    def ask(self, method: str, **params: Any) -> tuple[Any, list[JSON]]:
        """The result of a request, and the updates that came before it."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        number = next(self._ids)
        self.process.stdin.write(request(method, number, **params) + b"\n")
        self.process.stdin.flush()
        updates: list[JSON] = []
        for sent in self.process.stdout:
            message = value(sent)
            if message.get("id") == number:
                return message.get("result"), updates
            updates.append(message["params"]["update"])
        raise EOFError

    def end(self) -> tuple[int, str]:
        _, said = self.process.communicate(timeout=SOON)
        return self.process.returncode, said.decode()


@pytest.mark.parametrize("prefix", ["proxy/", "_proxy/"])
def test_behind_a_conductor_plans_are_kept_translated_and_told_as_always(tmp_path: Path, prefix: str) -> None:
    chained = Chained(tmp_path, prefix)
    hello, _ = chained.ask("initialize", protocolVersion=1, clientCapabilities={})
    assert hello["agentCapabilities"] == {"mcpCapabilities": {"acp": True}}
    session = chained.ask("session/new", cwd="/project", mcpServers=[])[0]["sessionId"]
    updates = [value(items("p", entry("a"), entry("b")))["params"]["update"]]
    blocks = [{"type": "text", "text": json.dumps(updates)}]
    ended, shown = chained.ask("session/prompt", sessionId=session, prompt=blocks)
    assert ended == {"stopReason": "end_turn"}
    assert [each["sessionUpdate"] for each in shown] == ["plan"]
    assert [each["content"] for each in shown[0]["entries"]] == ["a", "b"]
    assert chained.end() == (0, "")
    with open_journal(chained.journal) as journal:
        state = load_state(journal, session)
        assert [step.content for step in state.plans["p"].state.steps] == ["a", "b"]
        assert state.opened is not None
        assert state.opened.agent == "scripted 1.0"
