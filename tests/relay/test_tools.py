"""`planwire relay --tools`: any agent gets the plan tools, and the client sees what it plans with them."""

import asyncio
import json
import os
import stat
import sys
import threading
from collections.abc import Callable, Iterable
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client, StdioServerParameters
from msgspec.structs import replace

from planwire.acp.board import Board
from planwire.chat import said_in
from planwire.journal import Stamped, open_journal
from planwire.journal.engines import shared_url
from planwire.mcp.bound_session import RelayedSession
from planwire.model.events import ACP, Event, PlanChanged, PlanRemoved, PlanSet, Recorded, StepRef
from planwire.model.kinds import entries_of
from planwire.model.plan import Entry, ItemsPlan, MarkdownPlan
from planwire.model.step_changes import SetStatus
from planwire.own_process import own_command
from planwire.relay.actions import Bind, SessionMemory, ToAgent, ToClient, Warn
from planwire.relay.agents import AgentRow
from planwire.relay.dedupe import begin, learn
from planwire.relay.framing import LONGEST_LINE, Framer, Sieve
from planwire.relay.injector import Injector
from planwire.relay.pipe import Pipe
from planwire.relay.server_files import configured_servers
from planwire.relay.tools import ToolServer
from planwire.session.handoff import read_handoff
from tests import deciding
from tests.agents.driving import SOON, Relayed, Talk
from tests.waiting import until
from tests.wire import JSON, answer, both_keys, entry, items, line, plan, refusal, request, update_of

SERVER = ToolServer("/bin/python", ("-m", "planwire", "mcp", "--binding"), "/run/planwire")
ENTRY: JSON = {"name": "planwire", "command": "/bin/python", "env": []}
PLANS: JSON = {"plan": {}}
STDIO: JSON = {"capabilities": {"session": {"mcp": {"stdio": {}}}}}


def server_entry(key: str) -> JSON:
    return {**ENTRY, "args": ["-m", "planwire", "mcp", "--binding", f"/run/planwire/{key}"]}


class Tooled(Talk):
    """A policy with the tools, and what the journal knows of its session `s1`."""

    def __init__(
        self,
        capabilities: JSON | None = None,
        version: int = 1,
        *,
        result: JSON | None = None,
        server: ToolServer = SERVER,
    ) -> None:
        super().__init__(begun=False, server=server)
        self.known: SessionMemory = begin("s1")
        self.client(request("initialize", "i", protocolVersion=version, clientCapabilities=capabilities or {}))
        self.agent(answer("i", {"protocolVersion": version, **(STDIO if result is None else result)}))

    def open(self, session: str = "s1") -> "Tooled":
        self.client(request("session/new", "n", cwd="/project", mcpServers=[]))
        self.agent(answer("n", {"sessionId": session}))
        return self

    def write(self, *events: Event, by: str = "agent") -> list[bytes]:
        """Somebody writes to the journal; what the client is told."""
        for event in events:
            self.known = learn(self.known, Recorded("s1", self.known.seq + 1, 0, by, event))
        self.policy.learn("s1", self.known)
        return self.news()

    def news(self) -> list[bytes]:
        return self._sent(self.policy.for_client(), ToClient)

    @property
    def bound(self) -> list[Bind]:
        return [action for action in self.actions if isinstance(action, Bind)]


def a_plan(*contents: str, plan_id: str | None = "main", via: str = "tools") -> PlanSet:
    return PlanSet(ItemsPlan(plan_id, tuple(Entry(text, "medium", "pending") for text in contents)), via=via)


def listed(sent: list[bytes]) -> list[str]:
    (only,) = sent
    assert update_of(only)["sessionUpdate"] == "plan"
    return [each["content"] for each in update_of(only)["entries"]]


def contents(board: Board) -> set[str]:
    """What is to be done in the session, without the names of plans."""
    plans = board.sessions["s1"].plans.values() if "s1" in board.sessions else ()
    return {step.content.rpartition(": ")[2] for each in plans for step in each.steps}


# -- the server among those of a session


def test_the_server_is_spliced_into_the_clients_own_bytes() -> None:
    """R46. Version 1 knows a server over stdio by its lack of a type."""
    said = b'{"id":1, "method":"session/new","params":{ "mcpServers" :[ {"name":"x","n":1.50} ],"cwd":"/p"}}'
    (sent,) = Tooled().client(said)
    added = json.dumps(server_entry("word1"), separators=(",", ":")).encode()
    at = sent.index(b',{"name":"planwire"')
    assert sent[:at] + sent[at + len(added) + 1 :] == said
    assert json.loads(sent)["params"]["mcpServers"][1] == server_entry("word1")


@pytest.mark.parametrize("method", ["session/new", "session/load", "session/resume", "session/fork"])
@pytest.mark.parametrize("version", [1, 2])
def test_every_way_to_set_up_a_session_brings_the_server(method: str, version: int) -> None:
    """Version 2 knows it by its type, and need not be given a list."""
    (sent,) = Tooled(version=version).client(request(method, 1, sessionId="s1", cwd="/p"))
    expected = server_entry("word1") if version == 1 else {"type": "stdio", **server_entry("word1")}
    assert json.loads(sent)["params"]["mcpServers"] == [expected]


def test_an_authors_own_server_of_that_name_stays_the_only_one() -> None:
    """It is never there twice, nor behind two relays."""
    for own in ({"name": "planwire", "command": "mine", "args": [], "env": []}, server_entry("other")):
        said = request("session/new", 1, cwd="/p", mcpServers=[own])
        assert Tooled().client(said) == [said]


@pytest.mark.parametrize("servers", [7, "planwire", {"a": 1}, True])
def test_a_list_of_servers_that_is_none_is_left_alone(servers: Any) -> None:
    said = request("session/new", 1, cwd="/p", mcpServers=servers)
    assert Tooled().client(said) == [said]


@pytest.mark.parametrize("servers", [[7], [None], [{"name": 1}], [[]]])
def test_odd_servers_beside_it_stay_as_they_are(servers: Any) -> None:
    (sent,) = Tooled().client(request("session/new", 1, cwd="/p", mcpServers=servers))
    assert json.loads(sent)["params"]["mcpServers"] == [*servers, server_entry("word1")]


def test_an_agent_of_version_2_that_starts_no_servers_gets_none_and_that_is_said_once() -> None:
    """It has to refuse a session with a server that it does not start."""
    talk = Tooled(version=2, result={"capabilities": {"session": {"mcp": {"http": {}}}}})
    for number in (1, 2):
        said = request("session/new", number, cwd="/p")
        assert talk.client(said) == [said]
    assert len([each for each in talk.actions if isinstance(each, Warn)]) == 1


def test_before_anything_is_agreed_nothing_is_added() -> None:
    said = request("session/new", 1, cwd="/p", mcpServers=[])
    assert Talk(begun=False, server=SERVER).client(said) == [said]
    assert Talk().client(said) == [said]


def test_a_session_keeps_its_server_when_it_is_loaded_again() -> None:
    """To some agents another server is a reason to begin the session anew."""
    talk = Tooled().open()
    keys = []
    for number, session in enumerate(("s1", "s2", "s1", "s2")):
        (sent,) = talk.client(request("session/load", number, sessionId=session, cwd="/p", mcpServers=[]))
        keys.append(json.loads(sent)["params"]["mcpServers"][0]["args"][-1].rpartition("/")[2])
    assert keys == ["word1", "word2", "word1", "word2"]


def test_without_a_journal_no_more_sessions_get_the_server() -> None:
    talk = Tooled().open()
    talk.policy.lack_journal("it is broken")
    talk.news()
    assert talk.bound == [Bind("word1", None, problem="it is broken")]
    said = request("session/new", 1, cwd="/p", mcpServers=[])
    assert talk.client(said) == [said]


# -- the binding


def test_the_server_is_bound_once_the_session_and_its_name_in_the_journal_are_known() -> None:
    talk = Tooled()
    talk.client(request("session/new", "n", cwd="/project", mcpServers=[]))
    talk.news()
    talk.agent(answer("n", {"sessionId": "s1"}))
    talk.news()
    assert talk.bound == []
    talk.known = begin("s1~2")
    talk.policy.learn("s1", talk.known)
    talk.news()
    talk.news()
    assert talk.bound == [Bind("word1", "s1~2", "/project")]


def test_the_server_learns_what_the_client_was_told() -> None:
    talk = Tooled().open()
    talk.write(a_plan("a"))
    assert talk.bound[-1] == Bind("word1", "s1", "/project", told=1)
    talk.write(PlanChanged("main", note="no step changes"))
    assert talk.bound[-1] == Bind("word1", "s1", "/project", told=2)
    bound = len(talk.bound)
    talk.write(a_plan("the agent's own", plan_id=None, via=ACP))
    assert len(talk.bound) == bound


# -- what the client is told


def test_a_v1_client_is_told_of_the_plan_in_its_own_words() -> None:
    """R8, R9."""
    talk = Tooled().open()
    assert listed(talk.write(a_plan("a", "b"))) == ["a", "b"]
    (sent,) = talk.write(PlanChanged("main", changes=(SetStatus("s1", "completed"),)))
    assert [each["status"] for each in update_of(sent)["entries"]] == ["completed", "pending"]
    assert listed(talk.write(PlanRemoved("main"))) == []


def test_a_v1_client_gets_a_plan_that_works_for_a_step_behind_that_step() -> None:
    """R8, R9."""
    talk = Tooled().open()
    talk.write(a_plan("a", "b"))
    child = msgspec.structs.replace(a_plan("c", plan_id="more"), parent=StepRef("main", "s1"))
    assert listed(talk.write(child)) == ["a", "a › c", "b"]
    assert listed(talk.write(PlanChanged("more", changes=(SetStatus("s1", "completed"),)))) == ["a", "b"]


@pytest.mark.parametrize(
    ("capabilities", "version", "key"), [(PLANS, 1, "planId"), ({"planCapabilities": {}}, 1, "id"), (None, 2, "planId")]
)
def test_a_client_that_reads_plans_is_told_in_its_dialect(capabilities: JSON | None, version: int, key: str) -> None:
    """R11, R16, R12."""
    talk = Tooled(capabilities, version).open()
    (sent,) = talk.write(a_plan("a"))
    assert update_of(sent)["sessionUpdate"] == "plan_update"
    assert update_of(sent)["plan"][key] == "main"
    assert update_of(sent)["plan"]["entries"] == [entry("a")]
    (sent,) = talk.write(PlanRemoved("main"))
    assert update_of(sent)["sessionUpdate"] == "plan_removed"
    assert update_of(sent)[key] == "main"


def test_nothing_is_told_twice_and_nothing_of_the_agents_own() -> None:
    talk = Tooled(PLANS).open()
    assert len(talk.write(a_plan("a"))) == 1
    assert talk.news() == []
    assert talk.write(a_plan("b", plan_id=None, via=ACP), a_plan("c", plan_id="q", via=ACP)) == []
    assert Talk(PLANS).policy.for_client() == []


def test_states_in_between_are_passed_over() -> None:
    talk = Tooled().open()
    assert listed(talk.write(a_plan("a"), a_plan("b"), a_plan("c"))) == ["c"]


def test_beside_the_agents_own_list_each_plan_has_its_name() -> None:
    talk = Tooled().open()
    own = plan(entry("mine"))
    assert talk.agent(own) == [own]
    assert talk.agent(plan(entry("mine", "completed"))) == [plan(entry("mine", "completed"))]
    assert listed(talk.write(a_plan("a"))) == ["Plan: mine", "Plan 2: a"]
    assert listed(talk.write(a_plan("x", plan_id="release"))) == ["Plan: mine", "Plan 2: a", "release: x"]
    assert listed(talk.agent(plan(entry("new")))) == ["Plan: new", "Plan 2: a", "release: x"]
    assert listed(talk.write(PlanRemoved("main"))) == ["Plan: new", "release: x"]
    assert listed(talk.write(PlanRemoved("release"))) == ["new"]


def test_beside_the_agents_own_plans_each_has_its_id() -> None:
    own = plan(entry("mine"))
    for talk in (Tooled(PLANS).open(), Tooled(version=2).open()):
        board = Board()
        for sent in (*talk.agent(own), *talk.write(a_plan("a")), *talk.agent(items("q", entry("x")))):
            board.apply(sent)
        assert contents(board) == {"mine", "a", "x"}
        assert len(board.sessions["s1"].plans) == 3


def test_a_text_is_told_as_texts_are() -> None:
    talk = Tooled().open()
    sent = talk.write(PlanSet(MarkdownPlan("idea", "# Idea\n\nSome prose.")))
    assert [update_of(each)["sessionUpdate"] for each in sent] == ["agent_message_chunk"]


def test_a_plan_that_the_agent_takes_over_is_not_dismissed() -> None:
    talk = Tooled(PLANS).open()
    talk.write(a_plan("a"))
    assert talk.write(a_plan("b", via=ACP)) == []
    assert len(talk.write(a_plan("a"))) == 1


# -- sessions that go on


def known_plan() -> SessionMemory:
    return learn(begin("s1"), Recorded("s1", 1, 0, "agent", a_plan("a")))


@pytest.mark.parametrize("version", [1, 2])
def test_a_loaded_session_is_told_with_its_history(version: int) -> None:
    """R37, R39: behind what the agent retells, and before the answer."""
    talk = Tooled(PLANS, version)
    more = {"replayFrom": {"type": "start"}} if version == 2 else {}
    method = "session/resume" if version == 2 else "session/load"
    for number in (1, 2):  # also a second time
        talk.client(request(method, number, sessionId="s1", cwd="/p", **more))
        talk.policy.learn("s1", known_plan())
        assert talk.news() == []
        history = items("q", entry("history"))
        assert talk.agent(history) == [both_keys(history) if version == 1 else history]
        told, answered = talk.agent(answer(number, {}))
        assert update_of(told)["plan"]["entries"] == [entry("a")]
        assert answered == answer(number, {})
        assert talk.news() == []


def test_a_loaded_v1_list_is_merged_again() -> None:
    talk = Tooled()
    for number in (1, 2):
        talk.client(request("session/load", number, sessionId="s1", cwd="/p"))
        talk.policy.learn("s1", known_plan())
        talk.agent(plan(entry("mine")))
        told, _ = talk.agent(answer(number, None))
        assert listed([told]) == ["Plan: mine", "Plan 2: a"]


def test_after_a_load_plans_have_the_names_and_the_order_that_they_have_everywhere() -> None:
    """R37: an agent retells its own list, which came second, before the client hears of the tools' plan again."""
    talk = Tooled().open()
    first = listed(talk.write(a_plan("a")))
    talk.agent(plan(entry("mine")))
    talk.write(a_plan("mine", plan_id=None, via=ACP))
    assert (first, listed(talk.agent(plan(entry("mine", "completed"))))) == (["a"], ["Plan: a", "Plan 2: mine"])
    talk.client(request("session/load", 1, sessionId="s1", cwd="/p"))
    talk.agent(plan(entry("mine")))
    told, _ = talk.agent(answer(1, None))
    assert listed([told]) == ["Plan: a", "Plan 2: mine"]

    again = Tooled()
    again.client(request("session/load", 1, sessionId="s1", cwd="/p"))
    again.agent(plan(entry("mine")))
    again.policy.learn("s1", talk.known)
    told, _ = again.agent(answer(1, None))
    assert listed([told]) == ["Plan: a", "Plan 2: mine"]


def test_what_the_journal_says_late_is_told_late() -> None:
    talk = Tooled(PLANS)
    talk.client(request("session/load", 1, sessionId="s1", cwd="/p"))
    assert talk.agent(answer(1)) == [answer(1)]
    talk.policy.learn("s1", known_plan())
    assert len(talk.news()) == 1


def test_a_resumed_session_is_told_after_the_answer_and_only_what_is_new() -> None:
    """R38: there is no history before it."""
    talk = Tooled(PLANS)
    talk.client(request("session/resume", 1, sessionId="s1", cwd="/p"))
    talk.policy.learn("s1", known_plan())
    assert talk.news() == []
    assert talk.agent(answer(1, {})) == [answer(1, {})]
    assert len(talk.news()) == 1
    talk.client(request("session/resume", 2, sessionId="s1", cwd="/p"))
    talk.agent(answer(2, {}))
    assert talk.news() == []


def test_of_a_session_that_could_not_be_loaded_nothing_is_told() -> None:
    talk = Tooled(PLANS)
    talk.client(request("session/load", 1, sessionId="s1", cwd="/p"))
    talk.policy.learn("s1", known_plan())
    assert talk.agent(refusal(1)) == [refusal(1)]
    assert talk.news() == []


def test_a_session_that_is_open_stays_so_if_it_cant_be_loaded_again() -> None:
    talk = Tooled(PLANS).open()
    talk.client(request("session/load", 1, sessionId="s1", cwd="/p"))
    talk.agent(refusal(1))
    assert len(talk.write(a_plan("a"))) == 1


@given(st.lists(st.tuples(st.sampled_from(["own", "main", "other", "gone", "look"]), st.integers(0, 9)), max_size=20))
def test_whatever_the_order_everybody_sees_both_in_the_end(steps: list[tuple[str, int]]) -> None:
    """R4, R9, R12."""
    for capabilities, version in ((None, 1), (PLANS, 1), (None, 2)):
        talk, board = Tooled(capabilities, version).open(), Board()
        expected: dict[str | None, str] = {}
        for what, number in [*steps, ("look", 0)]:
            sent: list[bytes] = []
            match what:
                case "own":
                    sent = talk.agent(plan(entry(f"own {number}")))
                    expected[None] = f"own {number}"
                case "gone" if "main" in expected:
                    sent = talk.write(PlanRemoved("main"))
                    del expected["main"]
                case "main" | "other":
                    sent = talk.write(a_plan(f"{what} {number}", plan_id=what))
                    expected[what] = f"{what} {number}"
                case "look":
                    sent = talk.news()
            for each in sent:
                board.apply(each)
        assert contents(board) == set(expected.values())


# -- what the agent is told


def told_in(prompt: JSON) -> str:
    blocks = prompt["params"]["prompt"]
    return str(blocks[1]["text"]) if len(blocks) > 1 else ""


def test_the_agent_knows_what_it_wrote_until_its_context_is_compacted() -> None:
    talk = Tooled().open()
    talk.write(a_plan("a"), PlanChanged("main", changes=(SetStatus("s1", "completed"),)))
    assert "<plan" not in told_in(talk.prompt()).replace("<planwire-context", "")
    talk.agent(line({"sessionUpdate": "compaction_update", "compactionId": "c", "status": "completed"}))
    assert '<step id="s1" status="completed">a</step>' in told_in(talk.prompt())
    assert told_in(talk.prompt()) == ""


TOOLS_ARE_THERE = "set_plan, update_plan, get_plan and remove_plan are on the MCP server planwire"


def test_the_first_prompt_names_the_tools_and_a_compaction_calls_for_that_again() -> None:
    talk = Tooled().open()
    assert told_in(talk.prompt("/status")) == ""
    told = told_in(talk.prompt())
    assert TOOLS_ARE_THERE in told
    assert said_in(told)
    assert told_in(talk.prompt()) == ""
    talk.write(a_plan("a"))
    talk.agent(line({"sessionUpdate": "compaction_update", "compactionId": "c", "status": "completed"}))
    told = told_in(talk.prompt())
    assert TOOLS_ARE_THERE in told
    assert '<step id="s1">a</step>' in told


@pytest.mark.parametrize("length", [10, 24, 30, 38, 60, 200])
def test_the_names_of_the_tools_stay_out_of_the_titles_in_a_list_of_sessions(length: int) -> None:
    """An agent makes a title of the whole first prompt, and cuts it anywhere."""
    talk = Tooled().open()
    said = f"Write tests {told_in(talk.prompt())}"
    title = said[: length + 5] + "..."
    listed = [
        {"_meta": {"preview": title, "count": 1}, "sessionId": "s1", "title": title},
        {"sessionId": "s2", "title": "What is <planwire-context>?"},
        {"sessionId": "s3", "title": None, "_meta": None},
        7,
    ]
    talk.client(request("session/list", 8))
    (shown,) = talk.agent(answer(8, {"sessions": listed, "nextCursor": "é"}))
    sessions = json.loads(shown)["result"]["sessions"]
    assert sessions[0] == {"_meta": {"preview": "Write tests", "count": 1}, "sessionId": "s1", "title": "Write tests"}
    assert sessions[1:] == listed[1:]


def test_a_compaction_takes_the_names_of_the_tools_from_an_agent_without_a_plan_too() -> None:
    talk = Tooled().open()
    assert TOOLS_ARE_THERE in told_in(talk.prompt())
    talk.agent(line({"sessionUpdate": "compaction_update", "compactionId": "c", "status": "completed"}))
    assert TOOLS_ARE_THERE in told_in(talk.prompt())
    assert told_in(talk.prompt()) == ""


@pytest.mark.parametrize("method", ["session/load", "session/resume"])
def test_a_session_that_goes_on_is_told_its_plan_and_its_tools(method: str) -> None:
    talk = Tooled()
    talk.client(request(method, 1, sessionId="s1", cwd="/p"))
    talk.policy.learn("s1", known_plan())
    talk.agent(answer(1, {}))
    told = told_in(talk.prompt())
    assert TOOLS_ARE_THERE in told
    assert '<step id="s1">a</step>' in told
    assert told_in(talk.prompt()) == ""


def test_an_agent_whose_model_sees_the_tools_is_not_told_of_them() -> None:
    talk = Tooled(result={"protocolVersion": 1, "agentInfo": {"name": "OpenCode", "version": "1"}}).open()
    assert told_in(talk.prompt()) == ""


def test_what_a_person_changes_in_the_plan_reaches_the_agent() -> None:
    """It is the plan's own change, and no suggestion: still the agent has not seen it, and hears whose it is."""
    talk = Tooled().open()
    talk.write(a_plan("a", "b"))
    assert listed(talk.write(PlanChanged("main", changes=(SetStatus("s1", "cancelled"),)), by="user")) == [
        "[cancelled] a",
        "b",
    ]
    told = told_in(talk.prompt())
    assert '<step id="s1" status="cancelled">a</step>' in told
    assert '<edit by="user" plan="main">\n<status step="s1">cancelled</status>\n</edit>' in told
    assert told_in(talk.prompt()) == ""


# -- permission


def asking(tool_call: JSON, kind: str = "allow_once") -> bytes:
    options = [
        {"optionId": "always", "name": "Always", "kind": "allow_always"},
        {"optionId": "once", "name": "Allow", "kind": kind},
        {"optionId": "no", "name": "Reject", "kind": "reject_once"},
    ]
    call = {"toolCallId": "call_1", "status": "pending", **tool_call}
    return request("session/request_permission", 7, sessionId="s1", toolCall=call, options=options)


def answered(talk: Tooled, question: bytes) -> JSON | None:
    """What the relay answers itself; None if the client is asked."""
    if talk.agent(question) == [question]:
        assert talk.policy.for_agent() == []
        return None
    (said,) = talk.policy.for_agent()
    assert isinstance(said, ToAgent)
    outcome: JSON = json.loads(said.data)
    return outcome


CLAUDES = {"title": "mcp__planwire__set_plan", "name": "mcp__planwire__set_plan", "kind": "other"}
QWENS = {"title": '{"entries":["a"]}', "kind": "other", "_meta": {"toolName": "mcp__planwire__update_plan"}}
QWENS_READING: JSON = {"title": "{}", "kind": "read", "rawInput": {}, "_meta": {"toolName": "mcp__planwire__get_plan"}}
GEMINIS = {"title": "get_plan (planwire MCP Server)", "kind": "other", "content": []}
KIMIS: JSON = {
    "title": 'set_plan: {"entries": ["a"]}',
    "content": [
        {
            "type": "content",
            "content": {"type": "text", "text": "Requesting approval to perform: Call MCP tool `set_plan`."},
        }
    ],
}
KIMI: JSON = {"protocolVersion": 1, "agentInfo": {"name": "Kimi Code CLI", "version": "1.3"}}


@pytest.mark.parametrize(
    ("call", "agent"),
    [(CLAUDES, None), (QWENS, None), (QWENS_READING, None), (GEMINIS, None), (KIMIS, KIMI)],
    ids=["claude", "qwen", "qwen-reading", "gemini", "kimi"],
)
def test_the_relay_answers_for_its_own_tools(call: JSON, agent: JSON | None) -> None:
    """Once each time: the person may change their mind."""
    talk = Tooled(result=agent).open()
    for _ in range(2):
        said = answered(talk, asking(call))
        assert said == {"jsonrpc": "2.0", "id": 7, "result": {"outcome": {"outcome": "selected", "optionId": "once"}}}


@pytest.mark.parametrize(
    "call",
    [
        {**CLAUDES, "name": "mcp__planwire__drop_all"},
        {**CLAUDES, "name": "Bash"},
        {"title": "mcp__planwire__set_plan", "kind": "execute", "rawInput": {"command": "mcp__planwire__set_plan"}},
        {"title": "mcp__planwire__set_plan; rm -rf /", "kind": "other"},
        {"title": "get_plan (planwire2 MCP Server)", "kind": "other"},
        {"title": "set_plan", "kind": "other"},
        {"title": "mcp__planwire__set_plan", "name": "mcp__other__set_plan", "kind": "other"},
        {**CLAUDES, "kind": "execute"},
        {"title": "mcp__planwire__get_plan", "kind": "read"},
        {**QWENS_READING, "rawInput": {"file_path": "/etc/shadow"}},
        {**CLAUDES, "name": 7},
        {**CLAUDES, "_meta": {"claudeCode": {"toolName": "Bash"}}},
        {**CLAUDES, "_meta": {"claudeCode": {"mcpServer": {"name": "other", "source": "dynamic"}}}},
        {**CLAUDES, "_meta": {"claudeCode": {"mcpServer": {"name": "planwire", "source": "project"}}}},
        {**QWENS, "_meta": {"toolName": "mcp__planwire__set_plan", "serverId": "other"}},
        {"title": "mcp.planwire.set_plan", "rawInput": {"server": "other", "tool": "set_plan", "arguments": {}}},
        {"title": "planwire_set_plan", "kind": "other", "rawInput": {"command": "rm -rf /"}},
        {"title": "Write notes.txt", "content": [{"content": {"type": "text", "text": "planwire_set_plan"}}]},
        KIMIS,
        {},
    ],
)
def test_everything_else_is_the_clients_to_answer(call: JSON) -> None:
    assert answered(Tooled().open(), asking(call)) is None


@pytest.mark.parametrize(
    "call",
    [
        {**KIMIS, "title": "Shell: rm -rf /"},
        {**KIMIS, "content": [{"content": {"type": "text", "text": "Write notes.txt"}}, *KIMIS["content"]]},
        {**KIMIS, "name": "Shell"},
    ],
)
def test_a_question_about_a_bare_name_is_answered_only_if_it_says_nothing_else(call: JSON) -> None:
    assert answered(Tooled(result=KIMI).open(), asking(call)) is None


def test_without_an_option_to_allow_it_once_the_client_is_asked() -> None:
    assert answered(Tooled().open(), asking(CLAUDES, kind="allow_always")) is None


@pytest.mark.parametrize("name", ["planwire", "Planwire", "plan-wire", "mcp", "planwire_set", "planwire__set"])
def test_an_impostor_among_the_servers_of_the_session_has_to_be_allowed_by_the_person(name: str) -> None:
    """Its tools may have the names of planwire's, as the agent spells them."""
    talk = Tooled().open()
    servers = [{"name": name, "command": "impostor", "args": [], "env": []}]
    talk.client(request("session/load", 3, sessionId="s1", cwd="/p", mcpServers=servers))
    talk.agent(answer(3, {}))
    assert answered(talk, asking(CLAUDES)) is None


@pytest.mark.parametrize(
    ("found", "call", "agent", "is_answered"),
    [
        ((True, True), CLAUDES, None, False),
        ((True, False), CLAUDES, None, True),
        ((True, False), KIMIS, KIMI, False),
    ],
    ids=["one like ours", "others, and the name says whose tool it is", "others, and nothing says whose tool it is"],
)
def test_servers_that_people_gave_the_agent_themselves_count_too(
    found: tuple[bool, bool], call: JSON, agent: JSON | None, is_answered: bool
) -> None:
    server = replace(SERVER, finds_servers=lambda _files, _folder: found)
    talk = Tooled(result=agent, server=server).open()
    assert (answered(talk, asking(call)) is not None) == is_answered


def test_nothing_is_allowed_for_a_server_that_never_started_and_that_is_said_once() -> None:
    talk = Tooled(server=replace(SERVER, is_connected=lambda _key: False)).open()
    assert answered(talk, asking(CLAUDES)) is None
    for _ in range(2):
        talk.prompt()
        talk.end_turn()
    warnings = [each for each in (*talk.actions, *talk.policy.for_client()) if isinstance(each, Warn)]
    assert len(warnings) == 1
    assert "has not started planwire's MCP server" in warnings[0].text


def test_a_server_that_starts_behind_the_first_turn_is_not_missed() -> None:
    connected: set[str] = set()
    talk = Tooled(server=replace(SERVER, is_connected=connected.__contains__)).open()
    talk.prompt()
    talk.end_turn()
    assert not any(isinstance(each, Warn) for each in (*talk.actions, *talk.policy.for_client()))
    connected.add("word1")
    talk.prompt()
    talk.end_turn()
    ends = (*talk.actions, *talk.policy.for_client(), *talk.policy.close())
    assert not any(isinstance(each, Warn) for each in ends)


def test_a_server_that_never_starts_is_missed_at_the_end_of_a_short_conversation() -> None:
    talk = Tooled(server=replace(SERVER, is_connected=lambda _key: False)).open()
    talk.prompt()
    talk.end_turn()
    assert [type(each) for each in talk.policy.close()] == [Warn]


def test_a_question_that_holds_no_more_than_the_id_of_its_tool_call_is_about_that_call() -> None:
    talk = Tooled().open()
    call = {"toolCallId": "effect-1", "title": "mcp_planwire.set_plan", "kind": "other", "status": "in_progress"}
    talk.agent(line({"sessionUpdate": "tool_call", **call, "_meta": {"tool_name": "mcp_planwire.set_plan"}}))
    talk.agent(line({"sessionUpdate": "tool_call", **call, "toolCallId": "effect-2", "title": "rm -rf planwire"}))
    question = asking({"toolCallId": "effect-1"})
    assert (answered(talk, question) or {})["result"]["outcome"]["optionId"] == "once"
    assert answered(talk, asking({"toolCallId": "effect-2"})) is None
    assert answered(talk, asking({"toolCallId": "effect-3"})) is None


@pytest.mark.parametrize(
    ("update", "question", "is_answered"),
    [
        ({"sessionUpdate": "tool_call_update", "status": "in_progress"}, {}, True),
        ({"sessionUpdate": "tool_call_update", "status": "completed"}, {}, False),
        ({"sessionUpdate": "tool_call", "title": "rm -rf /", "kind": "execute"}, {}, False),
        ({"sessionUpdate": "tool_call_update"}, {"title": "rm -rf /", "kind": "other"}, False),
    ],
    ids=["it goes on", "it is over", "another call has its id now", "the question says another"],
)
def test_a_tool_call_counts_for_a_question_as_it_is_by_then(update: JSON, question: JSON, is_answered: bool) -> None:
    """The line that changes it may not have a word of planwire's."""
    talk = Tooled().open()
    call = {"toolCallId": "effect-1", "title": "mcp_planwire.set_plan", "kind": "other"}
    talk.agent(line({"sessionUpdate": "tool_call", **call, "_meta": {"tool_name": "mcp_planwire.set_plan"}}))
    changed = line({**update, "toolCallId": "effect-1"})
    assert any(word in changed for word in talk.policy.words_of_agent())
    talk.agent(changed)
    assert (answered(talk, asking({"toolCallId": "effect-1", **question})) is not None) == is_answered


def two_sessions_with_one_server() -> Tooled:
    talk = Tooled(server=replace(SERVER, is_connected=lambda key: key == "word1"))
    for session in ("s1", "s2"):
        talk.open(session)
        talk.policy.learn(session, begin(session))
        talk.policy.for_client()
    return talk


def test_one_server_for_all_sessions_works_for_the_one_that_has_its_turn() -> None:
    """Some agents start one server of a name, and call it in every session."""
    talk = two_sessions_with_one_server()
    for session in ("s1", "s2", "s2", "s1"):
        talk.actions.clear()
        talk.prompt(session=session)
        binds = [each for each in (*talk.actions, *talk.policy.for_client()) if isinstance(each, Bind)]
        assert {each.session for each in binds if each.key == "word1"} <= {session}
        assert talk.policy._tools._of("s1").bound == Bind("word1", session, "/project")
        talk.end_turn()


def test_a_server_is_not_taken_from_a_session_in_the_middle_of_its_turn() -> None:
    talk = two_sessions_with_one_server()
    talk.prompt(session="s1", message_id="one")
    talk.prompt(session="s2", message_id="two")
    assert talk.policy._tools._of("s1").bound == Bind("word1", "s1", "/project")


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        (".mcp.json", '{"mcpServers": {"planwire": {"command": "x"}}}', (True, True)),
        (".mcp.json", '{"mcpServers": {"other": {"args": ["/home/planwire"]}}}', (True, False)),
        (".codex/config.toml", '[mcp_servers.planwire]\ncommand = "x"', (True, True)),
        (".vibe/config.toml", '[[mcp_servers]]\nname = "planwire"', (True, True)),
        (".mcp.json", '{"projects": {"/home/planwire": {}}}', (False, False)),
        (".mcp.json", '{"mcpServers": {"planwire_set": {"command": "x"}}}', (True, True)),
        (".mcp.json", '{"servers": [{"name": "Plan-Wire", "command": "x"}]}', (False, True)),
        ("../.mcp.json", '{"mcpServers": {"planwire": {"command": "x"}}}', (True, True)),
        (".kimi/mcp.json", "{}", (False, False)),
    ],
)
def test_servers_are_found_in_the_agents_own_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str, found: tuple[bool, bool]
) -> None:
    for place in ("home", "project"):
        (tmp_path / place).mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    files = AgentRow(agent="", names=()).server_files
    assert configured_servers(files, str(tmp_path / "project")) == (False, False)
    for place in ("home", "project"):
        file = tmp_path / place / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
        assert configured_servers(files, str(tmp_path / "project")) == found
        file.unlink()


def pipe(place: Path) -> None:
    os.mkfifo(place)


def out_of_the_folder(place: Path) -> None:
    place.symlink_to("/etc/passwd")


def sparse(place: Path) -> None:
    with place.open("wb") as file:
        file.truncate(1 << 30)


def in_a_loop(place: Path) -> None:
    place.symlink_to(place.name)


def to_nowhere(place: Path) -> None:
    place.symlink_to("/nowhere/at/all")


def to_a_device(place: Path) -> None:
    place.symlink_to("/dev/zero")


@pytest.mark.parametrize(
    ("make", "is_doubtful"),
    [
        (pipe, True),
        (out_of_the_folder, True),
        (to_a_device, True),
        (sparse, True),
        (Path.mkdir, False),
        (in_a_loop, False),
        (to_nowhere, False),
    ],
)
def test_odd_things_in_the_place_of_an_agents_files_are_not_read_and_leave_a_doubt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[Path], None], is_doubtful: bool
) -> None:
    """Where planwire can't see which servers there are, it answers no question for the person."""
    for place in ("home", "project"):
        (tmp_path / place).mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    opened: list[object] = []
    own = Path.open

    def open_noted(path: Path, *how: Any, **more: Any) -> Any:
        opened.append(path)
        return own(path, *how, **more)

    monkeypatch.setattr(Path, "open", open_noted)
    for name in AgentRow(agent="", names=()).server_files:
        file = tmp_path / "project" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        make(file)
        assert configured_servers((name,), str(tmp_path / "project")) == (is_doubtful, is_doubtful), name
        assert configured_servers((name,), str(tmp_path / "\0")) == (False, False), name
        assert make is sparse or not opened
        file.rmdir() if make is Path.mkdir else file.unlink()


def test_a_home_may_have_links_and_large_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, project = tmp_path / "home", tmp_path / "home" / "project"
    project.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    (tmp_path / "dotfiles.json").write_text('{"mcpServers": {"other": {}}}' + " " * 5_000_000)
    (home / ".claude.json").symlink_to(tmp_path / "dotfiles.json")
    assert configured_servers((".claude.json",), str(project)) == (True, False)


# -- between the agent's lines


class Pipes:
    """A direction with an aside, and hands at both of its ends."""

    def __init__(self, longest: int = LONGEST_LINE) -> None:
        source, self.agent = os.pipe()
        self.client, target = os.pipe()
        self.said: list[bytes] = []
        self.told = 0
        self.injector = Injector(self._ask, self._afterwards)
        sieve = Sieve((b"{",))
        self._direction = Pipe(source, target, sieve, _same, self._afterwards, _nothing, self.injector)
        self._direction._framer = Framer(longest)
        self._direction.start()

    def _ask(self) -> list[Any]:
        said, self.said = self.said, []
        return [*(ToClient(each) for each in said), *([Bind("k", "s")] if said else [])]

    def _afterwards(self, actions: list[Any]) -> None:
        self.told += any(isinstance(each, Bind) for each in actions)

    def end(self) -> bytes:
        os.close(self.agent)
        rest = b""
        while chunk := os.read(self.client, 1 << 16):
            rest += chunk
        assert self._direction.join(SOON)
        return rest


def _same(sent: bytes) -> list[Any]:
    return [ToClient(sent)]


def _nothing() -> None:
    pass


def test_what_is_said_aside_comes_at_once_and_whole() -> None:
    pipes = Pipes()
    pipes.said.append(b"aside\n")
    pipes.injector.ring()
    assert os.read(pipes.client, 100) == b"aside\n"
    os.write(pipes.agent, b"half a ")
    pipes.said.append(b"second\n")
    pipes.injector.ring()
    assert os.read(pipes.client, 100) == b"second\n"
    os.write(pipes.agent, b"line\n")
    assert pipes.end() == b"half a line\n"


def test_nothing_is_said_inside_a_line_that_is_passed_on_in_pieces() -> None:
    pipes = Pipes(longest=10)
    os.write(pipes.agent, b"a line that is too long")
    assert os.read(pipes.client, 100) == b"a line that is too long"
    pipes.said.append(b"aside\n")
    pipes.injector.ring()
    os.write(pipes.agent, b" goes on\n")
    assert pipes.end() == b" goes on\naside\n"


def test_a_reader_that_does_not_read_holds_nobody_up_and_misses_nothing() -> None:
    pipes = Pipes()
    size = 1 << 20  # far more than any pipe holds
    writer = threading.Thread(target=os.write, args=(pipes.agent, b"x" * size + b"\n"))
    writer.start()
    for number in range(100_000):
        pipes.said = [b"%d\n" % number]
        pipes.injector.ring()
    writer_is_done = threading.Thread(target=writer.join)
    writer_is_done.start()
    seen = b""
    while not seen.endswith(b"\n99999\n"):
        seen += os.read(pipes.client, 1 << 16)
    writer_is_done.join(SOON)
    assert seen.count(b"x") == size
    assert b"x\n" in seen
    assert len(seen.split(b"\n")) < 100_000
    pipes.end()


# -- with real processes


SET: JSON = {"tool": "set_plan", "arguments": {"entries": ["Read", "Write"], "summary": "It is asked for"}}
BEGUN: JSON = {"tool": "update_plan", "arguments": {"steps": {"s1": "completed", "s2": "in_progress"}}}
GET: JSON = {"tool": "get_plan"}
OWN: JSON = {"sessionUpdate": "plan", "entries": [entry("own")]}
DONE: JSON = {"sessionUpdate": "plan", "entries": [entry("own", "completed")]}


def tooled(folder: Path, *more: str, journal: str | None = None) -> Relayed:
    """The journal is named to the relay alone: its environment, which the server has too, names another."""
    options = ("--tools", "--journal", journal or str(folder / "plans.db"))
    return Relayed("tooled.py", str(folder / "agent.jsonl"), *more, options=options)


def shown(updates: list[JSON]) -> list[Any]:
    """What a client makes of updates: lists of what is to be done, and results."""
    seen: list[Any] = []
    for each in updates:
        if each["sessionUpdate"] == "agent_message_chunk":
            seen.append(json.loads(each["content"]["text"]))
        elif each["sessionUpdate"] in ("plan", "plan_update"):
            entries = each.get("plan", each)["entries"]
            seen.append([(step["content"], step["status"]) for step in entries])
    return seen


def journalled(folder: Path, session: str) -> list[Event]:
    with open_journal(folder / "plans.db") as journal:
        return [recorded.event for recorded in journal.read(session)]


def test_an_agent_plans_with_the_tools_and_the_client_sees_it_in_order(tmp_path: Path) -> None:
    """R8: a v1 client gets one list. The agent waits for its servers before it answers `session/new`."""
    with tooled(tmp_path) as relayed:
        session = relayed.begin()
        seen = shown(relayed.prompt(session, OWN, SET, DONE, BEGUN))
        own, beside, made, own_again, begun, changed = seen
        assert own == [("own", "pending")]
        assert beside == [("Plan: own", "pending"), ("Plan 2: Read", "pending"), ("Plan 2: Write", "pending")]
        assert (made["version"], made["new_steps"]) == (1, ["s1", "s2"])
        assert own_again[0] == ("Plan: own", "completed")
        assert begun[1:] == [("Plan 2: Read", "completed"), ("Plan 2: Write", "in_progress")]
        assert changed["revision"] > made["revision"]
        assert relayed.end() == (0, "")
    events = journalled(tmp_path, session)
    made_with_tools = [event for event in events if isinstance(event, PlanSet) and event.via == "tools"]
    assert [event.summary for event in made_with_tools] == ["It is asked for"]
    assert [event.changes for event in events if isinstance(event, PlanChanged)] == [
        (SetStatus("s1", "completed"), SetStatus("s2", "in_progress"))
    ]
    assert len([event for event in events if isinstance(event, PlanSet) and event.via == ACP]) == 2


def test_the_journal_has_lists_and_calls_in_the_order_in_which_the_agent_sent_them(tmp_path: Path) -> None:
    """Relay and server are two writers. Each step comes ten milliseconds behind the one before. A machine that stops
    for as long may cost one try its order, and not three of them."""
    steps = [SET]
    for number in range(20):
        own = {"sessionUpdate": "plan", "entries": [entry(f"own {number}")]}
        call = {"tool": "update_plan", "arguments": {"note": f"note {number}"}}
        steps += [own, {"seconds": 0.01}, call, {"seconds": 0.01}]
    found: list[list[str | None]] = []
    wanted = [f"{word} {number}" for number in range(20) for word in ("own", "note")]
    while wanted not in found and len(found) < 3:
        folder = tmp_path / str(len(found))
        folder.mkdir()
        with tooled(folder) as relayed:
            session = relayed.begin()
            relayed.prompt(session, *steps)
            relayed.end()
        with open_journal(folder / "plans.db") as journal:
            recorded = [*journal.read(session)]
        found.append(words_in_order(recorded))
        assert sorted(map(str, found[-1])) == sorted(wanted)
        assert [each.at for each in recorded] == sorted(each.at for each in recorded)
    assert wanted in found


def words_in_order(recorded: Iterable[Recorded]) -> list[str | None]:
    words: list[str | None] = []
    for each in recorded:
        if isinstance(each.event, PlanChanged):
            words.append(each.event.note)
        elif isinstance(each.event, PlanSet) and each.event.via == ACP:
            words += [one.content for one in entries_of(each.event.plan) or ()]
    return words


@pytest.mark.parametrize("version", [1, 2])
def test_a_loaded_session_has_its_plan_again_for_everybody(version: int, tmp_path: Path) -> None:
    """R37, R39: also in another process, and in either version."""
    hello: JSON = {"protocolVersion": version, "clientCapabilities": PLANS if version == 1 else {}}
    with tooled(tmp_path, str(version)) as relayed:
        relayed.ask("initialize", **hello)
        session = relayed.ask("session/new", cwd=str(tmp_path), mcpServers=[])[0]["sessionId"]
        *_, before = shown(relayed.prompt(session, SET, BEGUN, GET))
        relayed.end()
    events = journalled(tmp_path, session)
    setting_up: JSON = {"sessionId": session, "cwd": str(tmp_path), "mcpServers": []}
    with tooled(tmp_path, str(version)) as relayed:
        relayed.ask("initialize", **hello)
        method = "session/load" if version == 1 else "session/resume"
        more = {} if version == 1 else {"replayFrom": {"type": "start"}}
        _, updates = relayed.ask(method, **setting_up, **more)
        assert shown(updates) == [[("Read", "completed"), ("Write", "in_progress")]]
        assert updates[0]["plan"]["planId"] == "main"
        (after,) = shown(relayed.prompt(session, GET))
        assert after == before
        assert relayed.end() == (0, "")
    assert [event for event in journalled(tmp_path, session)[len(events) :] if isinstance(event, PlanSet)] == []
    entries = [json.loads(each).get("servers") for each in (tmp_path / "agent.jsonl").read_text().splitlines()]
    types = [server.get("type") for servers in entries if servers for server in servers]
    assert types == ([None, None] if version == 1 else ["stdio", "stdio"])


def test_a_binding_is_for_the_user_alone_and_gone_with_the_relay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    with tooled(tmp_path) as relayed:
        session = relayed.begin()
        relayed.prompt(session, SET)
        (folder,) = (tmp_path / "temporary").iterdir()
        (file,) = (each for each in folder.iterdir() if each.is_file() and not each.suffix)
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        found = read_handoff(file)
        assert found is not None
        assert (found.journal, found.session, found.folder) == (f"sqlite:{tmp_path}/plans.db", session, "/project")
        assert str(tmp_path / "plans.db") not in (tmp_path / "agent.jsonl").read_text()
        relayed.end()
    assert list((tmp_path / "temporary").iterdir()) == []


def test_the_bindings_of_a_relay_that_was_killed_go_with_the_next_relay_and_those_of_a_running_one_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    (temporary / "planwire-relay-of-somebody").mkdir(parents=True)
    monkeypatch.setenv("TMPDIR", str(temporary))
    before = {*temporary.iterdir()}
    with tooled(tmp_path) as running:
        running.begin()
        kept = {*temporary.iterdir()}
        with tooled(tmp_path) as killed:
            killed.begin()
            (left,) = {*temporary.iterdir()} - kept
            killed.process.kill()
            killed.process.wait(SOON)
        assert left.is_dir()
        with tooled(tmp_path) as relayed:
            relayed.begin()
            (new,) = {*temporary.iterdir()} - kept
            assert new != left
            assert kept < {*temporary.iterdir()}
            relayed.end()
        session = running.ask("session/new", cwd="/project", mcpServers=[])[0]["sessionId"]
        running.prompt(session, SET)
        running.end()
    assert {*temporary.iterdir()} == before


def test_plans_that_are_made_while_a_client_floods_and_does_not_read_reach_it_in_the_end(tmp_path: Path) -> None:
    path, memory = tmp_path / "plans.db", tmp_path / "agent.jsonl"
    with Relayed("scripted.py", str(memory), options=("--tools", "--journal", str(path))) as relayed:
        session = relayed.begin()
        until(lambda: bool(journalled(tmp_path, session)))
        with open_journal(path) as journal:
            for number in range(40):
                text = f"{'x' * 100_000}\n- [ ] Step {number}\n"
                deciding.write(journal, session, Stamped(0, "agent", PlanSet(MarkdownPlan("main", text))))
        asked = 300
        for number in range(asked):
            blocks = [{"type": "text", "text": "y" * 5_000}]
            relayed.write(request("session/prompt", 1_000 + number, sessionId=session, prompt=blocks) + b"\n")
        answers, last = 0, ""
        while answers < asked or last != "Step 39":
            message = json.loads(relayed.line())
            if "result" in message:
                answers += 1
            elif message["params"]["update"]["sessionUpdate"] == "plan":
                last = message["params"]["update"]["entries"][0]["content"]
        code, said = relayed.end()
        assert (code, said.count("has not started planwire's MCP server"), said.count("\n")) == (0, 1, 1)


def _memory(_folder: Path) -> str:
    return "memory:"


def _no_file(folder: Path) -> str:
    (folder / "plans.db").mkdir()
    return str(folder / "plans.db")


def _other_file(folder: Path) -> str:
    (folder / "plans.db").write_bytes(b"precious notes" * 1_000)
    return str(folder / "plans.db")


def _no_engine(_folder: Path) -> str:
    return "nowhere://host/plans"


@pytest.mark.parametrize("name", [_memory, _no_file, _other_file, _no_engine])
def test_without_a_journal_to_share_there_are_no_tools_and_that_is_said_once(name: Any, tmp_path: Path) -> None:
    with tooled(tmp_path, journal=name(tmp_path)) as relayed:
        relayed.ask("initialize", protocolVersion=1)
        numbers = count()

        def has_no_tools() -> bool:  # as soon as the journal was tried
            relayed.ask("session/new", cwd=f"/project/{next(numbers)}", mcpServers=[])
            return bool(json.loads((tmp_path / "agent.jsonl").read_text().splitlines()[-1])["servers"] == [])

        until(has_no_tools)
        code, errors = relayed.end()
    assert code == 0
    assert errors.count("planwire: the agent runs without the plan tools: ") == 1
    assert errors.count("planwire: ") <= 2, "the other is the number of changes that were not recorded"
    assert "Traceback" not in errors


# -- the server's side


def write_binding(path: Path, **words: Any) -> None:
    draft = path.with_suffix(".new")
    draft.write_bytes(json.dumps(words).encode())
    draft.replace(path)


def host(path: Path) -> Client:
    _, *arguments = own_command("mcp", "--binding", str(path))
    server = StdioServerParameters(command=sys.executable, args=arguments, cwd=str(path.parent))
    return Client(server, read_timeout_seconds=SOON, cache=None)


def test_a_server_is_there_before_its_session_is_and_finds_it_later(tmp_path: Path) -> None:
    """Agents wait for their servers before they say which session it is."""
    path = tmp_path / "binding"
    with open_journal(tmp_path / "plans.db") as journal:
        deciding.write(journal, "s", Stamped(0, "agent", a_plan("old")))

    async def work() -> None:
        async with host(path) as client:
            assert len((await client.list_tools()).tools) == 4
            assert (await client.list_resources()).resources == []
            waiting = asyncio.create_task(client.call_tool("update_plan", {"add": ["new"]}))
            write_binding(path, journal=f"sqlite:{tmp_path}/plans.db")
            write_binding(path, journal=f"sqlite:{tmp_path}/plans.db", session="s", told=9)
            assert (await waiting).structured_content == {
                "plan_id": "main",
                "version": 1,
                "revision": 2,
                "new_steps": ["s2"],
            }
            assert [each.name for each in (await client.list_resources()).resources] == ["main"]

    asyncio.run(asyncio.wait_for(work(), SOON))
    with open_journal(tmp_path / "plans.db") as journal:
        assert [recorded.seq for recorded in journal.read("s")] == [1, 2], "who and where is the relay's to say"


def test_a_server_without_a_journal_says_so_to_the_model(tmp_path: Path) -> None:
    path = tmp_path / "binding"
    write_binding(path, journal="sqlite:/nowhere", problem="the disk is full")

    async def work() -> None:
        async with host(path) as client:
            result = await client.call_tool("set_plan", {"entries": ["a"]})
            assert result.is_error
            assert result.structured_content["error"]["message"] == "no plans are kept here: the disk is full"

    asyncio.run(asyncio.wait_for(work(), SOON))


def test_an_answer_waits_for_the_client_to_be_told_and_not_for_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "binding"
    relayed = RelayedSession(path)

    async def work() -> None:
        await relayed.told(1)  # the relay is gone
        path.write_bytes(b'{"journal":"x"')
        await relayed.told(1)  # it is no binding
        write_binding(path, journal="x", session="s", told=1)
        await relayed.told(1)
        waiting = asyncio.create_task(relayed.told(2))
        await asyncio.sleep(0)
        assert not waiting.done()
        write_binding(path, journal="x", session="s", told=2)
        await waiting
        monkeypatch.setattr("planwire.mcp.bound_session.TOLD_SECONDS", 0.05)
        await relayed.told(3)

    asyncio.run(asyncio.wait_for(work(), SOON))


def test_a_journal_is_named_so_that_everybody_finds_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert shared_url("plans.db") == shared_url("sqlite:plans.db") == f"sqlite:{tmp_path}/plans.db"
    assert shared_url("sqlite:///var/plans.db") == "sqlite:/var/plans.db"
    assert shared_url("~/plans.db") == f"sqlite:{tmp_path}/home/plans.db"
    assert shared_url("memory:") is None
    monkeypatch.setenv("PLANWIRE_JOURNAL", "memory:")
    assert shared_url() is None
    monkeypatch.delenv("PLANWIRE_JOURNAL")
    assert str(shared_url()).startswith("sqlite:/")
    assert shared_url("postgresql://host/plans") == "postgresql://host/plans"
