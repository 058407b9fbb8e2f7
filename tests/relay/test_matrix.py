"""Every agent with every client, alone and behind the relay: nobody is worse off with it.

Agents and clients are as of each text of the protocol that they may have been written to, and as the official SDKs make
them. An agent sends plans with ids to clients that announce what it knows, and falls back to the v1 list for all others
(R8, R9). What the official SDKs read is read by them.
"""

import json
import subprocess
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import Final, NamedTuple

import pytest
from acp.schema import SessionNotification
from pydantic import ValidationError

from tests.agents.driving import Talk
from tests.availability import or_skip
from tests.peers.install import NPM_SDK_NODE, node, npm_sdk
from tests.wire import JSON, answer, entry, line, plan, request

DESIGN: Final = "# Design\n\nWhy: speed."
FILE: Final = "file:///project/plan.md"
#: What an agent does, one after the other: its list, a text, a file, and in the end no list any more.
MOMENTS: Final[list[tuple[str, list[JSON] | str | None]]] = [
    ("items", [entry("Read", "in_progress"), entry("Write", priority="high")]),
    ("items", [entry("Read", "completed"), entry("Write", "in_progress", "high")]),
    ("markdown", DESIGN),
    ("file", FILE),
    ("items", [entry("Read", "completed"), entry("Write", "completed", "high")]),
    ("removed", None),
]
_FIELDS: Final = {"items": "entries", "markdown": "content", "file": "uri"}


class Agent(NamedTuple):
    """An agent by what it looks for in `initialize`, and the key under which it names plans."""

    name: str
    capability: str | None = None
    key: str = ""
    version: int = 1

    def answer(self, hello: JSON) -> JSON:
        return {"protocolVersion": min(hello["protocolVersion"], self.version)}

    def moments(self, hello: JSON) -> Iterator[list[bytes]]:
        """The lines of each moment, for the client that it takes to be there."""
        is_v2 = self.answer(hello)["protocolVersion"] == 2
        announced = (hello.get("clientCapabilities") or {}).get(self.capability)
        for kind, content in MOMENTS:
            if is_v2 or isinstance(announced, dict):
                yield [self._identified(kind, content)]
            elif kind in ("items", "removed"):
                yield [plan(*(content or ()))]
            else:
                yield [_words(str(content))] if kind == "markdown" else []

    def _identified(self, kind: str, content: object) -> bytes:
        if kind == "removed":
            return line({"sessionUpdate": "plan_removed", self.key: "plan-1"})
        body = {"type": kind, self.key: "plan-1" if kind == "items" else f"{kind}-1", _FIELDS[kind]: content}
        return line({"sessionUpdate": "plan_update", "plan": body})


def _words(text: str) -> bytes:
    return line({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}})


AGENTS: Final = (
    Agent("proposal-of-may", "planCapabilities", "id"),
    Agent("proposal-of-june", "plan", "id"),
    Agent("page-of-may", "planCapabilities", "id"),
    Agent("draft", "plan", "planId"),
    Agent("v1"),
    Agent("v2", "plan", "planId", version=2),
)

#: A line in, its update out as the client understands it; None if it throws the line away.
Read = Callable[[bytes], JSON | None]


def by_key(key: str) -> Read:
    """A reader that knows one key of a plan's id; one without a key knows only the v1 list."""

    def read(sent: bytes) -> JSON | None:
        update: JSON = json.loads(sent)["params"]["update"]
        names = update.get("plan") if update["sessionUpdate"] == "plan_update" else update
        is_identified = update["sessionUpdate"] in ("plan_update", "plan_removed")
        return None if is_identified and (not key or key not in (names or {})) else update

    return read


def by_python_sdk(sent: bytes) -> JSON | None:
    try:
        notification = SessionNotification.model_validate(json.loads(sent)["params"])
    except ValidationError:
        return None
    update: JSON = notification.model_dump(mode="json", by_alias=True, exclude_none=True)["update"]
    return update


class Client(NamedTuple):
    """A client by what it announces, and how it reads. `sdk`: the official one that reads for it."""

    name: str
    announced: JSON
    read: Read = by_key("")
    key: str = "planId"
    version: int = 1
    sdk: str = ""

    def hello(self) -> JSON:
        about = {"name": self.name, "version": "1"}
        if self.version == 2:
            return {"protocolVersion": 2, "info": about, "capabilities": self.announced}
        return {"protocolVersion": 1, "clientInfo": about, "clientCapabilities": self.announced}


CLIENTS: Final = (
    Client("proposal-of-may", {"planCapabilities": {}}, by_key("id"), "id"),
    Client("proposal-of-june", {"plan": {}}, by_key("id"), "id"),
    Client("page-of-may", {"planCapabilities": {}}, by_key("id"), "id"),
    Client("python-sdk", {"plan": {}}, by_python_sdk, sdk="python"),
    Client("npm-sdk", {"plan": {}}, sdk="npm"),
    Client("v1", {}),
    Client("v2", {}, version=2, sdk="npm"),
)
PAIRS: Final = [*product(AGENTS, CLIENTS)]


def alone(agent: Agent, client: Client) -> list[list[bytes]]:
    return [*agent.moments(client.hello())]


def behind_the_relay(agent: Agent, client: Client) -> list[list[bytes]]:
    talk = Talk(begun=False)
    (offered,) = talk.client(request("initialize", "i", **client.hello()))
    hello = json.loads(offered)["params"]
    talk.agent(answer("i", agent.answer(hello)))
    talk.client(request("session/new", "n", cwd="/project", mcpServers=[]))
    talk.agent(answer("n", {"sessionId": "s1"}))
    return [[sent for each in lines for sent in talk.agent(each)] for lines in agent.moments(hello)]


WAYS: Final = (alone, behind_the_relay)


def agreed(agent: Agent, client: Client) -> int:
    return min(agent.version, client.version)


@cache
def by_npm_sdk() -> dict[tuple[int, bytes], JSON | None]:
    """What the npm SDK reads of every line that a client of it gets here, in one process."""
    folder = or_skip(npm_sdk)
    lines: dict[int, list[bytes]] = {1: [], 2: []}
    for (agent, client), way in product(PAIRS, WAYS):
        if client.sdk == "npm":
            lines[agreed(agent, client)] += (sent for moment in way(agent, client) for sent in moment)
    task = {"folder": str(folder), "lines": {k: [each.decode() for each in v] for k, v in lines.items()}}
    script = Path(__file__).parent.parent / "peers" / "npm_reads.mjs"
    done = subprocess.run(
        [node(NPM_SDK_NODE), str(script)],
        input=json.dumps(task),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    read = json.loads(done.stdout)
    return {(k, sent): update for k, v in lines.items() for sent, update in zip(v, read[str(k)], strict=True)}


class Screen:
    """What the person in front of a client has: steps by plan, texts, and the lines that the client threw away."""

    def __init__(self, client: Client, version: int) -> None:
        self._client, self._version = client, version
        self.steps: dict[str | None, list[tuple[str, str]]] = {}
        self.texts = ""
        self.refused: list[bytes] = []

    def show(self, sent: bytes) -> None:
        npm = self._client.sdk == "npm"
        update = by_npm_sdk()[self._version, sent] if npm else self._client.read(sent)
        if update is None:
            self.refused.append(sent)
            return
        match update:
            case {"sessionUpdate": "plan_removed"}:
                self.steps.pop(update[self._client.key], None)
            case {"sessionUpdate": "plan_update", "plan": {"entries": entries} as body}:
                self.steps[body[self._client.key]] = [(each["content"], each["status"]) for each in entries]
            case {"sessionUpdate": "plan_update", "plan": body}:
                self.texts += str(body.get("content", body.get("uri")))
            case {"sessionUpdate": "plan", "entries": entries}:
                self.steps[None] = [(each["content"], each["status"]) for each in entries]
            case {"sessionUpdate": "agent_message_chunk", "content": {"text": text}}:
                self.texts += text

    @property
    def listed(self) -> list[tuple[str, str]]:
        return [step for steps in self.steps.values() for step in steps]


@pytest.mark.parametrize(("agent", "client"), PAIRS, ids=lambda each: each.name)
def test_behind_the_relay_a_client_has_at_least_what_it_has_alone(agent: Agent, client: Client) -> None:
    """R8, R9, R11, R13, R18: in fact it has all of it, whatever its agent was written to."""
    version = agreed(agent, client)
    without, within = Screen(client, version), Screen(client, version)
    steps: list[tuple[str, str]] = []
    for number, (kind, content) in enumerate(MOMENTS):
        for sent in alone(agent, client)[number]:
            without.show(sent)
        for sent in behind_the_relay(agent, client)[number]:
            within.show(sent)
        if kind in ("items", "removed"):
            steps = [(each["content"], each["status"]) for each in content or () if isinstance(each, dict)]
        assert within.listed == steps
        assert set(without.listed) <= set(steps)
        assert all(text in within.texts for text in (DESIGN, FILE) if text in without.texts)
        assert kind != "markdown" or DESIGN in within.texts
        if kind == "file" and agent.capability and client.version <= agent.version:  # else the agent sends none
            assert FILE in within.texts
    if client.sdk:
        assert within.refused == [], "a client on an official SDK accepts every line"
