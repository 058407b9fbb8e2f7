"""The examples, run as a reader would run them: as programs, with real clients and a scripted model."""

import asyncio
import json
import os
import re
import runpy
import subprocess
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import pytest
from acp import PROTOCOL_VERSION, Client, RequestError, spawn_agent_process, text_block
from acp.connection import StreamEvent
from acp.schema import AgentPlanContentUpdate, AgentPlanUpdate, ClientCapabilities, PlanCapabilities
from anthropic.types import MessageParam, ToolUnionParam
from openai.types.chat import ChatCompletionMessageParam, ChatCompletionToolUnionParam
from pydantic import TypeAdapter
from textual.widgets import RichLog

from planwire import BlockingPlanSession, Board
from planwire.chat import said_in
from planwire.model.plan import Fields
from planwire.own_process import own_command
from planwire.terminal.panel import PlanPanel
from tests.peers.agents import Agent, acpx
from tests.peers.model_server import ScriptedModel
from tests.peers.script import Request, Step, Turn, Usage, call, say
from tests.waiting import eventually

EXAMPLES = Path(__file__).parent.parent / "examples"


# The agent

TASK = "read the config, write the parser, run the tests"
DONE = [("completed", step) for step in TASK.split(", ")]
CAPABILITIES = {"v1": None, "with the plan capability": ClientCapabilities(plan=PlanCapabilities())}


class SomeClient:
    """The official SDK's client: what it understood, in order."""

    def __init__(self) -> None:
        self.updates: list[Any] = []
        self.board = Board()

    def observe(self, event: StreamEvent) -> None:
        """What docs/clients.md tells those to do who use the SDK."""
        self.board.apply(event.message, "client" if event.direction == "outgoing" else "agent")

    async def session_update(self, session_id: str, update: Any, **more: Any) -> None:
        self.updates.append(update)

    @property
    def lists(self) -> list[list[tuple[str, str]]]:
        plans = [each for each in self.updates if isinstance(each, AgentPlanUpdate | AgentPlanContentUpdate)]
        return [[(entry.status, entry.content) for entry in getattr(each, "plan", each).entries] for each in plans]

    def said(self, kind: str) -> list[str]:
        return [each.content.text for each in self.updates if each.session_update == kind]


def with_the_agent(
    tmp_path: Path,
    test: Callable[[Any, SomeClient], Awaitable[None]],
    capabilities: ClientCapabilities | None = None,
    pace: float = 0,
) -> SomeClient:
    """Run the agent and talk to it."""
    client = SomeClient()

    async def run() -> None:
        options = ["--journal", str(tmp_path / "plans.db"), "--pace", str(pace)]
        program = [str(EXAMPLES / "agent.py"), *options]
        spawned = spawn_agent_process(cast(Client, client), sys.executable, *program, observers=[client.observe])
        async with spawned as (connection, process):
            await connection.initialize(PROTOCOL_VERSION, capabilities)
            await test(connection, client)
        assert process.returncode == 0
        assert process.stderr is not None
        assert await process.stderr.read() == b""

    asyncio.run(asyncio.wait_for(run(), 100))
    return client


@pytest.mark.parametrize("capabilities", CAPABILITIES.values(), ids=CAPABILITIES)
def test_the_agent_works_through_its_plan_and_has_it_again_when_it_is_loaded(
    capabilities: ClientCapabilities | None, tmp_path: Path
) -> None:
    """R3, R8, R37, R42"""
    sessions: list[str] = []
    kind = "plan" if capabilities is None else "plan_update"

    async def work(connection: Any, client: SomeClient) -> None:
        session = (await connection.new_session(str(tmp_path), [])).session_id
        sessions.append(session)
        ended = await connection.prompt(session_id=session, prompt=[text_block(TASK)])
        assert ended.stop_reason == "end_turn"
        assert client.lists[-1] == DONE  # all of it came before the answer
        [seen] = client.board.sessions[session].plans.values()
        assert [(step.status, step.content) for step in seen.steps] == DONE
        assert all(len(each) == 3 for each in client.lists)
        assert client.said("agent_message_chunk") == ["All done."]
        assert {each.session_update for each in client.updates} == {kind, "agent_message_chunk"}

    async def load(connection: Any, client: SomeClient) -> None:
        await connection.load_session(cwd=str(tmp_path), session_id=sessions[0], mcp_servers=[])
        assert client.said("user_message_chunk") == [TASK]
        assert client.said("agent_message_chunk") == ["All done."]
        assert client.lists == [DONE]
        await connection.load_session(cwd=str(tmp_path), session_id=sessions[0], mcp_servers=[])
        assert client.lists == [DONE, DONE]
        ended = await connection.prompt(session_id=sessions[0], prompt=[text_block("rest")])
        assert ended.stop_reason == "end_turn"
        assert client.lists[-1] == [("completed", "rest")]
        assert len(client.lists) <= 5, "the client is told once, however often it loaded the session"

    with_the_agent(tmp_path, work, capabilities)
    with_the_agent(tmp_path, load, capabilities)


@pytest.mark.parametrize("gone", [False, True], ids=["when it is told to", "when its client is gone"])
def test_the_agent_stops(gone: bool, tmp_path: Path) -> None:
    """R42"""
    turns: list[tuple[str, asyncio.Task[Any]]] = []

    async def test(connection: Any, client: SomeClient) -> None:
        session = (await connection.new_session(str(tmp_path), [])).session_id
        turn = asyncio.create_task(connection.prompt(session_id=session, prompt=[text_block(TASK)]))
        turns.append((session, turn))
        await eventually(lambda: client.lists)
        with pytest.raises(RequestError, match="Invalid request"):  # one turn at a time
            await connection.prompt(session_id=session, prompt=[text_block("more")])
        if not gone:
            await connection.cancel(session_id=session)
            assert (await turn).stop_reason == "cancelled"

    with_the_agent(tmp_path, test, pace=60)
    [(session, turn)] = turns
    assert isinstance(turn.exception(), ConnectionError) == gone
    with BlockingPlanSession.open(tmp_path / "plans.db", session) as plans:
        assert plans.state.stopped == "cancelled"


def test_the_agent_knows_no_sessions_but_its_own(tmp_path: Path) -> None:
    async def test(connection: Any, client: SomeClient) -> None:
        with pytest.raises(RequestError, match="not found"):
            await connection.load_session(cwd=str(tmp_path), session_id="nobody's", mcp_servers=[])
        with pytest.raises(RequestError, match="not found"):
            await connection.prompt(session_id="nobody's", prompt=[text_block(TASK)])
        assert client.updates == []

    with_the_agent(tmp_path, test)


def test_the_agent_passes_the_check_without_a_warning(tmp_path: Path) -> None:
    agent = [sys.executable, str(EXAMPLES / "agent.py"), "--journal", str(tmp_path / "plans.db"), "--pace", "0"]
    command = [*own_command(), "check", "--", *agent]
    checked = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=tmp_path, check=True)
    assert checked.stdout.startswith("no findings · "), checked.stdout


@pytest.mark.timeout(600)  # the first test may have to install its peer
def test_acpx_shows_the_plan_of_the_agent(tmp_path: Path) -> None:
    command = (sys.executable, str(EXAMPLES / "agent.py"), "--journal", str(tmp_path / "plans.db"), "--pace", "0")
    agent = Agent("example", command, {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}, tmp_path)
    client = acpx(agent, TASK, "--format", "text")
    shown = subprocess.run(
        client.command, env=client.environment, cwd=client.cwd, capture_output=True, text=True, timeout=60, check=True
    ).stdout
    assert "[plan]\n" + "".join(f"  - [{status}] {content}\n" for status, content in DONE) in shown
    assert "All done." in shown


# The client

STRANGE_AGENT = """
import json, sys
for line in sys.stdin:
    match json.loads(line)["id"]:
        case 1:
            print('[]')
            print('{"jsonrpc":"2.0","method":"session/update","params":null}')
            print('{"jsonrpc":"2.0","method":"session/update","params":{"update":null}}')
            print('{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}', flush=True)
        case 2:
            print('{"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"sign in first"}}', flush=True)
"""


def test_the_client_outlives_strange_lines_and_says_why_there_is_no_session() -> None:
    example = runpy.run_path(str(EXAMPLES / "textual_client.py"))

    async def run() -> None:
        app = example["TextualClient"](example["talked"]("hello", [sys.executable, "-c", STRANGE_AGENT]))
        async with app.run_test():
            await eventually(lambda: app.query_one(PlanPanel).stopped)
            assert [line.text for line in app.query_one(RichLog).lines] == ["! sign in first"]

    asyncio.run(asyncio.wait_for(run(), 60))


# The loops: each reads a large file, and is told by its model that the context is full

NUMBERS = " ".join(map(str, range(5_000)))
FULL = Usage(input=9_000)
SCRIPT: Sequence[Step] = (
    call("set_plan", entries=["Look around", "Read the numbers", "Say what they are"]),
    call("read_file", path="numbers.txt"),
    call("update_plan", steps={"s1": "completed", "s2": "in_progress"}, note="one file only"),
    call("read_file", path="."),
    Turn(calls=call("read_file", path="/etc/passwd").calls, usage=FULL),
    call("update_plan", steps={"s2": "completed", "s3": "in_progress"}),
    call("read_file", path="missing.txt"),
    say("They are numbers."),
)
COMPACTED = 5  # main requests before the compaction


def run_loop(name: str, tmp_path: Path, model: ScriptedModel, task: str) -> str:
    folder = tmp_path / "project"
    folder.mkdir(exist_ok=True)
    (folder / "numbers.txt").write_text(NUMBERS)
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "ANTHROPIC_BASE_URL": model.url,
        "ANTHROPIC_API_KEY": "not-a-key",
        "OPENAI_BASE_URL": f"{model.url}/v1",
        "OPENAI_API_KEY": "not-a-key",
    }
    options = ["--journal", str(tmp_path / "plans.db"), "--session", "one", "--window", "4000"]
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name), task, *options],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("\n") == done.stderr.count("(compacted")
    return done.stdout


def messages_of(request: Request) -> list[Fields]:
    """The messages as a provider caches them: where it may do so is not part of them."""
    return json.loads(re.sub(r', "cache_control": \{[^}]*\}', "", json.dumps(request.body["messages"])))  # type: ignore[no-any-return]


def assert_only_grows(requests: Sequence[Request]) -> None:
    for earlier, later in pairwise(map(messages_of, requests)):
        assert later[: len(earlier)] == earlier
        assert len(later) > len(earlier)


@cache
def adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def assert_fits(value: Any, kind: Any) -> None:
    """Whether the provider's own types accept a value. They validate lists lazily: what is inside is looked at, too."""

    def look(inside: Any) -> None:
        if isinstance(inside, Mapping):
            for each in inside.values():
                look(each)
        elif not isinstance(inside, str | int | float | None):
            for each in inside:
                look(each)

    look(adapter(kind).validate_python(value))


def assert_calls_are_answered(messages: Sequence[Fields]) -> None:
    """Both providers refuse a call without an answer right behind it."""
    for number, message in enumerate(messages):
        calls = {each["id"] for each in message.get("tool_calls", ())}
        behind = {each.get("tool_call_id") for each in messages[number + 1 : number + 1 + len(calls)]}
        if isinstance(message["content" if "content" in message else "role"], list):
            calls |= {each["id"] for each in message["content"] if each["type"] == "tool_use"}
            behind |= {
                each.get("tool_use_id")
                for following in messages[number + 1 : number + 2]
                for each in following["content"]
                if isinstance(each, dict)
            }
        assert calls <= behind


def blocks(request: Request, name: str) -> list[str]:
    return re.findall(rf"<{name} .*?</{name}>", request.text, re.DOTALL)


def test_the_loop_that_keeps_its_chat_with_planwire_compacts_it_and_keeps_the_plan(tmp_path: Path) -> None:
    with ScriptedModel(SCRIPT, side_answer="Someone looked at numbers.") as model:
        assert run_loop("anthropic_loop.py", tmp_path, model, "What are these?") == "They are numbers.\n"
        model.add(say("Welcome back."))
        assert run_loop("anthropic_loop.py", tmp_path, model, "And now?") == "Welcome back.\n"
    assert model.left == 0
    for request in model.main:
        assert_fits(request.body["messages"], list[MessageParam])
        assert_fits(request.body["tools"], list[ToolUnionParam])
        assert_calls_are_answered(messages_of(request))
    assert_only_grows(model.main[:COMPACTED])
    assert_only_grows(model.main[COMPACTED:])  # over the end of the process, too

    before, after = model.main[COMPACTED - 1], model.main[COMPACTED]
    assert NUMBERS in before.text
    assert any(NUMBERS in asked.text for asked in model.sides)
    assert NUMBERS not in after.text
    assert "Someone looked at numbers." in after.text
    assert blocks(after, "plan") == blocks(before, "plan") != []
    assert blocks(after, "plan-update") == blocks(before, "plan-update") != []
    assert "And now?" in model.main[-1].last_words


def test_the_loop_that_keeps_its_own_messages_starts_over_with_the_plan(tmp_path: Path) -> None:
    with ScriptedModel(SCRIPT, side_answer="Someone looked at numbers.") as model:
        assert run_loop("openai_loop.py", tmp_path, model, "What are these?") == "They are numbers.\n"
        model.add(say("Welcome back."))
        assert run_loop("openai_loop.py", tmp_path, model, "And now?") == "Welcome back.\n"
    assert model.left == 0
    for request in model.main:
        assert_fits(request.body["messages"], list[ChatCompletionMessageParam])
        assert_fits(request.body["tools"], list[ChatCompletionToolUnionParam])
        assert_calls_are_answered(messages_of(request))
    *first, again = model.main
    assert_only_grows(first[:COMPACTED])
    assert_only_grows(first[COMPACTED:])

    before, after = first[COMPACTED - 1], first[COMPACTED]
    assert NUMBERS in before.text
    assert NUMBERS not in after.text
    system, plan, user = messages_of(after)
    assert (system["role"], plan["role"], user["role"]) == ("system", "user", "user")
    said = [(each.kind, each.target, each.text) for each in said_in(plan["content"])]
    assert said[:3] == [
        ("step", "main#s1", "Look around"),
        ("step", "main#s2", "Read the numbers"),
        ("step", "main#s3", "Say what they are"),
    ]
    statuses = re.findall(r'<step id="(s\d)"(?: status="(\w+)")?>', plan["content"])
    assert statuses == [("s1", "completed"), ("s2", "in_progress"), ("s3", "")]
    assert '<note by="agent">one file only</note>' in plan["content"]
    assert "Someone looked at numbers." in user["content"]

    [known] = blocks(again, "plan")
    assert '<step id="s2" status="completed">Read the numbers</step>' in known
    assert '<step id="s3" status="in_progress">Say what they are</step>' in known
    assert "numbers.txt" not in again.text


@pytest.mark.parametrize("name", ["agent.py", "anthropic_loop.py", "openai_loop.py"])
def test_what_goes_wrong_is_said_in_a_line(name: str, tmp_path: Path) -> None:
    task = [] if name == "agent.py" else ["What are these?"]
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name), *task, "--journal", "nowhere://x"],
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "ANTHROPIC_API_KEY": "x", "OPENAI_API_KEY": "x"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "no journal has the URL 'nowhere://x'" in done.stderr
    assert done.stderr.count("\n") == 1
