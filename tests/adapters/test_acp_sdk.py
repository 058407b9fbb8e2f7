"""The peer on the official SDK: its agent's connection on one end of real pipes, its client on the other."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from acp import PROTOCOL_VERSION, Agent, Client, InitializeResponse, connect_to_agent, run_agent
from acp.connection import StreamDirection, StreamEvent
from acp.schema import (
    AgentPlanContentUpdate,
    AgentPlanUpdate,
    ClientCapabilities,
    InitializeRequest,
    PlanCapabilities,
    PlanUpdateItems,
)

from planwire import V1, V1_DRAFT, V1_RFD, V2, Dialect, Peer, PlanSession, open_journal
from planwire.adapters.acp_sdk import sdk_peer
from planwire.journal import Journal, Stamped
from planwire.model.events import PlanRemoved
from planwire.model.plan import Fields
from tests.waiting import eventually

PLANS = ClientCapabilities(plan=PlanCapabilities())
SOME = {"entries": ["Read the config", "Write the parser"]}


class SomeAgent:
    """An agent on the SDK that does no more than shake hands."""

    def __init__(self) -> None:
        self.connection: Any = None
        self.peer: Peer

    def on_connect(self, conn: Client) -> None:
        self.connection = conn

    async def initialize(
        self, protocol_version: int, client_capabilities: ClientCapabilities | None = None, **more: Any
    ) -> InitializeResponse:
        self.peer = sdk_peer(self.connection, client_capabilities, PROTOCOL_VERSION)
        return InitializeResponse(protocol_version=PROTOCOL_VERSION)


class SomeClient:
    """A client on the SDK. `updates` is what the SDK understood, `lines` what came."""

    def __init__(self) -> None:
        self.updates: list[tuple[str, Any]] = []
        self.lines: list[Fields] = []

    async def session_update(self, session_id: str, update: Any, **more: Any) -> None:
        self.updates.append((session_id, update))

    def watch(self, event: StreamEvent) -> None:
        if event.direction is StreamDirection.INCOMING and event.message.get("method"):
            self.lines.append(event.message)

    @property
    def told(self) -> list[list[tuple[str, str]]]:
        """The lists, as (status, content), in the order in which they came."""
        plans = (update.plan if isinstance(update, AgentPlanContentUpdate) else update for _, update in self.updates)
        return [[(entry.status, entry.content) for entry in plan.entries] for plan in plans]


async def pipe() -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    loop = asyncio.get_running_loop()
    source, sink = os.pipe()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(source, "rb"))
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, os.fdopen(sink, "wb"))
    return reader, asyncio.StreamWriter(transport, protocol, None, loop)


@asynccontextmanager
async def started(agent: SomeAgent) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """An agent that runs, and the client's ends of its pipes."""
    from_agent, to_client = await pipe()
    from_client, to_agent = await pipe()
    running = asyncio.create_task(run_agent(cast(Agent, agent), to_client, from_client))
    await eventually(lambda: agent.connection)
    try:
        yield from_agent, to_agent
    finally:
        to_agent.close()
        await running
        to_client.close()
        await eventually(from_agent.at_eof)


@asynccontextmanager
async def connected(capabilities: ClientCapabilities | None) -> AsyncIterator[tuple[SomeAgent, SomeClient]]:
    """An agent and a client that have shaken hands."""
    agent, client = SomeAgent(), SomeClient()
    async with started(agent) as (from_agent, to_agent):
        connection = connect_to_agent(cast(Client, client), to_agent, from_agent, observers=[client.watch])
        await connection.initialize(PROTOCOL_VERSION, capabilities)
        yield agent, client
        await connection.close()


def run(test: Callable[[], Awaitable[None]]) -> None:
    async def bounded() -> None:
        await asyncio.wait_for(test(), 60)

    asyncio.run(bounded())


# Which dialect


@pytest.mark.parametrize(
    ("client", "version", "expected"),
    [
        (None, 1, V1),
        (ClientCapabilities(), 1, V1),
        (PLANS, 1, V1_DRAFT),
        (InitializeRequest(protocol_version=2, client_capabilities=PLANS), 1, V1_DRAFT),
        (InitializeRequest(protocol_version=1), 1, V1),
        (InitializeRequest.model_validate({"protocolVersion": 1, "clientCapabilities": {"plan": True}}), 1, V1),
        ({"plan": {}}, 1, V1_DRAFT),
        ({"plan": None}, 1, V1),
        ({"planCapabilities": {}}, 1, V1_RFD),
        ({"protocolVersion": 1, "clientCapabilities": {"planCapabilities": {"_meta": {}}}}, 1, V1_RFD),
        ({"protocolVersion": 2, "capabilities": {}}, 2, V2),
        (None, 2, V2),
    ],
)
def test_the_dialect_is_what_the_client_said_and_the_agent_answered(
    client: InitializeRequest | ClientCapabilities | Mapping[str, Any] | None, version: int, expected: Dialect
) -> None:
    """R8, R10, R15, R30"""
    assert sdk_peer(cast(Client, None), client, version).dialect == expected


def test_the_sdk_forgets_the_early_name_of_the_capability_and_the_client_still_gets_plans() -> None:
    """R9: should a newer SDK keep it, the docstring of the adapter is to be changed."""
    by_the_sdk = ClientCapabilities.model_validate({"planCapabilities": {}})
    assert sdk_peer(cast(Client, None), by_the_sdk).dialect == V1


# What arrives


def test_a_client_without_the_capability_is_told_complete_lists() -> None:
    """R3, R8, R9"""

    async def test() -> None:
        async with connected(None) as (agent, client), PlanSession.open("memory:", "ours") as plans:
            plans.connect(agent.peer, "theirs")
            await plans.call("set_plan", SOME)
            await plans.flush()
            await plans.call("update_plan", {"steps": {"s1": "cancelled", "s2": "in_progress"}})
            await plans.flush()
            await eventually(lambda: len(client.updates) == 2)
        assert client.told == [
            [("pending", "Read the config"), ("pending", "Write the parser")],
            [("completed", "[cancelled] Read the config"), ("in_progress", "Write the parser")],
        ]
        assert all(session == "theirs" and isinstance(update, AgentPlanUpdate) for session, update in client.updates)

    run(test)


def test_a_client_with_the_capability_is_told_of_identified_plans_and_their_removal() -> None:
    """R11, R12, R13"""

    async def test() -> None:
        with open_journal("memory:") as journal:
            async with connected(PLANS) as (agent, client), PlanSession.open(journal, "s") as plans:
                plans.connect(agent.peer)
                await plans.call("set_plan", SOME)
                await plans.call("set_plan", {"plan_id": "notes", "content": "# Notes\n- [ ] ask"})
                await plans.flush()
                remove(journal, "notes")
                await eventually(lambda: len(client.updates) == 3)
        first, second, third = (update for _, update in client.updates)
        assert isinstance(first.plan, PlanUpdateItems)
        assert (first.plan.plan_id, second.plan.type, second.plan.plan_id) == ("main", "markdown", "notes")
        assert (third.session_update, third.plan_id) == ("plan_removed", "notes")
        raw = client.lines[0]["params"]["update"]["plan"]
        assert raw["planId"] == raw["id"] == "main"  # the spelling that the SDK does not know is not lost
        assert client.lines[2]["params"]["update"] == {
            "sessionUpdate": "plan_removed",
            "planId": "notes",
            "id": "notes",
        }

    run(test)


def remove(journal: Journal, plan_id: str) -> None:
    journal.append("s", [Stamped(1, "user", PlanRemoved(plan_id))])


UNKNOWN = (
    b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","_meta":{"a":[1,null]},"update":'
    b'{"sessionUpdate":"plan_update","plan":{"type":"_tree","planId":"t","nodes":[{"_meta":{}}]},"beside":"\xc3\xbc"}}}'
)


def test_what_the_sdk_does_not_know_arrives_as_it_was_sent() -> None:
    """R21, R23"""

    async def test() -> None:
        async with connected(PLANS) as (agent, client):
            sent = agent.peer.send(UNKNOWN)
            assert sent is not None
            await sent
            await eventually(lambda: client.lines)
        assert client.lines == [
            {
                "jsonrpc": "2.0",
                "method": "session/update",
                "params": {
                    "sessionId": "s",
                    "_meta": {"a": [1, None]},
                    "update": {
                        "sessionUpdate": "plan_update",
                        "plan": {"type": "_tree", "planId": "t", "nodes": [{"_meta": {}}]},
                        "beside": "ü",
                    },
                },
            }
        ]

    run(test)


@pytest.mark.parametrize("capabilities", [None, PLANS])
def test_a_wrapped_connection_is_sent_what_the_sdk_knows(capabilities: ClientCapabilities | None) -> None:
    async def test() -> None:
        async with connected(capabilities) as (agent, client), PlanSession.open("memory:", "s") as plans:
            wrapper = cast(Client, SimpleNamespace(session_update=agent.connection.session_update))
            plans.connect(sdk_peer(wrapper, capabilities))
            await plans.call("set_plan", SOME)
            await plans.flush()
            await eventually(lambda: client.updates)
        assert client.told == [[("pending", "Read the config"), ("pending", "Write the parser")]]

    run(test)


def test_plans_come_before_what_the_agent_says_once_they_are_flushed() -> None:
    """R42"""

    async def test() -> None:
        async with connected(None) as (agent, client), PlanSession.open("memory:", "s") as plans:
            plans.connect(agent.peer)
            for number in range(20):
                await plans.call("set_plan", {"entries": [f"step {number}"]})
                await plans.flush()
                await agent.connection.ext_notification("said", {"number": number})
            await eventually(lambda: len(client.lines) == 40)
        came = [line["params"] for line in client.lines]
        assert [each["number"] for each in came[1::2]] == [*range(20)]
        assert [each["update"]["entries"][0]["content"] for each in came[::2]] == [f"step {n}" for n in range(20)]

    run(test)


def test_two_sessions_share_a_connection() -> None:
    async def test() -> None:
        with open_journal("memory:") as journal:
            async with (
                connected(None) as (agent, client),
                PlanSession.open(journal, "one") as one,
                PlanSession.open(journal, "two") as two,
            ):
                one.connect(agent.peer)
                two.connect(agent.peer)
                await asyncio.gather(one.call("set_plan", SOME), two.call("set_plan", SOME))
                await eventually(lambda: len(client.updates) == 2)
        assert sorted(session for session, _ in client.updates) == ["one", "two"]

    run(test)


# What can go wrong


def test_a_client_that_reads_late_is_told_the_newest_state_and_not_every_one() -> None:
    async def test() -> None:
        agent, client = SomeAgent(), SomeClient()
        async with started(agent) as (from_agent, to_agent), PlanSession.open("memory:", "s") as plans:
            plans.connect(sdk_peer(agent.connection, None))
            for number in range(60):  # of 40 KB each: more than the pipe and both buffers hold
                await plans.call("set_plan", {"entries": [f"state {number}", "x" * 40_000]})
            connection = connect_to_agent(cast(Client, client), to_agent, from_agent)
            await plans.flush()
            await eventually(lambda: client.told and client.told[-1][0][1] == "state 59")
            await connection.close()
        assert len(client.told) < 30

    run(test)


def test_a_connection_that_is_closed_does_not_stop_the_session(tmp_path: Path) -> None:
    async def test() -> None:
        async with PlanSession.open(tmp_path / "plans.db", "s") as plans:
            async with connected(None) as (agent, _):
                connection = plans.connect(agent.peer)
                await plans.call("set_plan", SOME)
                await plans.flush()
            answer = await plans.call("update_plan", {"steps": {"s1": "completed"}})
            await plans.flush()
            assert not answer.is_error
            assert isinstance(connection.error, ConnectionError)

    run(test)


def test_without_the_sdk_one_is_told_what_to_install() -> None:
    code = (
        "import sys; sys.modules['acp'] = None\n"
        "from planwire.errors import MissingExtra\n"
        "try:\n    import planwire.adapters.acp_sdk\n"
        "except MissingExtra as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'planwire[acp]'" in done.stdout
