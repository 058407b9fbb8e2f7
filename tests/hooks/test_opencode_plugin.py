"""planwire's file for opencode: what it sends planwire, what it makes of the answers, and that nothing breaks opencode.

The file is called as opencode calls it, by Node; its commands are small shell scripts that note what they get.
"""

import json
import shlex
import subprocess
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from planwire.hooks.agents import read_hook
from tests.availability import or_skip
from tests.peers.install import node

HOST = Path(__file__).parent / "opencode_host.mjs"
ROLES = ("record", "tell", "news", "call")
Call = dict[str, Any]


class Opencode:
    """A file for opencode with its commands, and all that they were sent."""

    def __init__(self, folder: Path) -> None:
        self.log = folder / "sent"
        self.file = folder / "planwire.mjs"
        self.install(
            {role: self.command(role, '{"text": "Hello"}' if role in ("tell", "news") else "") for role in ROLES}
        )

    def command(self, role: str, answer: str) -> str:
        """A command that notes its role and its payload, and answers."""
        noted = f"{{ printf '%s ' {role}; cat; echo; }} >> {shlex.quote(str(self.log))}"
        return f"{noted}; printf '%s' {shlex.quote(answer)}"

    def install(self, commands: dict[str, str]) -> None:
        text = files("planwire.hooks").joinpath("opencode_plugin.js").read_text()
        self.file.write_text(text.replace("__COMMANDS__", json.dumps(commands), 1))

    def run(self, *calls: Call) -> list[Any]:
        """What each call left behind."""
        command = [program(), str(HOST), str(self.file)]
        done = subprocess.run(command, input=json.dumps(calls), capture_output=True, text=True, timeout=60, check=True)
        printed = json.loads(done.stdout)
        assert printed["exports"] == ["Planwire"]
        results: list[Any] = printed["results"]
        return results

    def sent(self) -> list[tuple[str, dict[str, Any]]]:
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [(role, json.loads(payload)) for role, _, payload in (line.partition(" ") for line in lines)]


def program() -> str:
    return or_skip(lambda: node(20))


@pytest.fixture
def opencode(tmp_path: Path) -> Opencode:
    return Opencode(tmp_path)


def event(kind: str, **properties: Any) -> Call:
    return {"name": "event", "input": {"event": {"type": kind, "properties": properties}}}


def created(session: str, parent: str | None = None) -> Call:
    return event("session.created", info={"id": session, "parentID": parent, "title": "New session - 2026"})


def message(session: str, text: str) -> Call:
    parts = [{"id": "prt_1", "type": "text", "text": text, "messageID": "msg_1", "sessionID": session}]
    output = {"message": {"id": "msg_1", "agent": "build"}, "parts": parts}
    return {"name": "chat.message", "input": {"sessionID": session}, "output": output}


def before(session: str, tool: str, **arguments: Any) -> Call:
    given = {"tool": tool, "sessionID": session, "callID": "call_1"}
    return {"name": "tool.execute.before", "input": given, "output": {"args": arguments}}


def after(session: str, tool: str, output: Any = None, **arguments: Any) -> Call:
    given = {"tool": tool, "sessionID": session, "callID": "call_1", "args": arguments}
    return {"name": "tool.execute.after", "input": given, "output": output or {"output": "done"}}


def transform(session: str) -> Call:
    return {
        "name": "experimental.chat.system.transform",
        "input": {"sessionID": session},
        "output": {"system": ["You"]},
    }


def test_a_text_goes_with_the_prompt_as_a_part_of_its_own(opencode: Opencode) -> None:
    _, left = opencode.run(created("a"), message("a", "make a plan"))
    assert [part["text"] for part in left["parts"]] == ["make a plan", "Hello"]
    assert (left["parts"][1]["messageID"], left["parts"][1]["sessionID"]) == ("msg_1", "a")
    assert left["parts"][1]["id"].startswith("prt_")
    common = {"agent": "opencode", "session_id": "a", "cwd": "/home/user/project"}
    assert opencode.sent() == [
        ("record", {**common, "event": "session.created", "source": "startup"}),
        ("tell", {**common, "event": "chat.message", "prompt": "make a plan"}),
    ]


def test_a_text_goes_with_the_result_of_a_tool_of_either_kind(opencode: Opencode) -> None:
    own, other = opencode.run(after("a", "todowrite", todos=[]), after("a", "docs_find", {"content": []}))
    assert own["output"] == "done\n\nHello"
    assert other["content"] == [{"type": "text", "text": "Hello"}]


def test_only_calls_about_plans_are_sent_with_their_arguments(opencode: Opencode) -> None:
    plan = "/home/user/.local/share/opencode/plans/1-a.md"
    opencode.run(
        after("a", "bash", command="echo hi"),
        after("a", "write", filePath="/home/user/project/secret.txt", content="secret"),
        after("a", "write", filePath=plan, content="# Plan"),
        after("a", "todowrite", todos=[{"content": "Read", "status": "pending"}]),
        before("a", "planwire_set_plan", entries=["Read"]),
        before("a", "bash", command="echo hi"),
    )
    sent = [(role, payload["tool"], payload.get("arguments")) for role, payload in opencode.sent()]
    assert sent == [
        ("news", "bash", None),
        ("news", "write", None),
        ("tell", "write", {"filePath": plan, "content": "# Plan"}),
        ("tell", "todowrite", {"todos": [{"content": "Read", "status": "pending"}]}),
        ("call", "planwire_set_plan", {"entries": ["Read"]}),
    ]


def test_a_session_with_a_parent_is_a_child_of_the_first_one(opencode: Opencode) -> None:
    opencode.run(
        created("a"), created("b", "a"), created("c", "b"), message("c", "look"), event("session.idle", sessionID="c")
    )
    told = [(payload["session_id"], payload.get("child_id")) for _, payload in opencode.sent()]
    assert told == [("a", None), ("a", "b"), ("a", "c"), ("a", "c"), ("a", "c")]


def test_a_session_from_before_is_resumed_once(opencode: Opencode) -> None:
    opencode.run(message("a", "go on"), message("a", "and on"), message("b<a", "look"))
    sources = [(payload["session_id"], payload.get("source")) for _, payload in opencode.sent()]
    assert sources == [("a", "resume"), ("a", None), ("a", "resume")]


def test_a_list_is_heard_once(opencode: Opencode) -> None:
    todos = [{"content": "Read", "status": "pending"}]
    opencode.run(event("todo.updated", sessionID="a", todos=todos), after("a", "todowrite", todos=todos))
    assert len(opencode.sent()) == 1


def test_a_turn_ends_once(opencode: Opencode) -> None:
    idle = event("session.idle", sessionID="a")
    error = event("session.error", sessionID="a", error={"name": "MessageAbortedError"})
    opencode.run(message("a", "1"), idle, idle, message("a", "2"), error, idle, idle)
    ends = [payload["event"] for role, payload in opencode.sent() if role == "record"]
    assert ends == ["session.idle", "session.error"]


def test_only_a_title_that_says_something_is_sent_and_once(opencode: Opencode) -> None:
    titles = ("New session - 2026-11-15T16:20:45.702Z", "Read the config", "Read the config")
    opencode.run(*(event("session.updated", info={"id": "a", "title": title}) for title in titles))
    assert [payload["title"] for _, payload in opencode.sent()] == ["Read the config"]


def test_after_a_compaction_the_plan_stands_in_the_system_prompt(opencode: Opencode) -> None:
    compacted = event("session.compacted", sessionID="a")
    _, before_it, _, first, second = opencode.run(
        message("a", "1"), transform("a"), compacted, transform("a"), transform("a")
    )
    assert [each["system"] for each in (before_it, first, second)] == [["You"], ["You", "Hello"], ["You", "Hello"]]
    assert [payload["event"] for _, payload in opencode.sent()] == [
        "chat.message",
        "session.compacted",
        "system.transform",
    ]


def test_a_plan_is_only_recorded_if_nobody_reviews_it(opencode: Opencode) -> None:
    path = "/home/user/project/.opencode/plans/1-a.md"
    _, left = opencode.run(after("a", "write", filePath=path, content="# Plan"), before("a", "plan_exit"))
    assert left == {"args": {}}
    role, payload = opencode.sent()[-1]
    assert (role, payload["plan_path"]) == ("record", path)


def test_a_plan_that_is_sent_back_fails_with_the_words(opencode: Opencode) -> None:
    opencode.install({"ask": opencode.command("ask", '{"deny": "Smaller steps"}')})
    assert opencode.run(before("a", "plan_exit"), before("a", "bash")) == [{"threw": "Smaller steps"}, {"args": {}}]


def test_a_plan_goes_on_to_the_dialog_if_nothing_is_answered(opencode: Opencode) -> None:
    opencode.install({"ask": opencode.command("ask", "")})
    assert opencode.run(before("a", "plan_exit")) == [{"args": {}}]


@pytest.mark.parametrize("command", ["exit 2", "printf nonsense", "printf '[1]'", "/no/such/program", "printf null"])
def test_a_command_that_fails_changes_nothing(opencode: Opencode, command: str) -> None:
    opencode.install(dict.fromkeys((*ROLES, "ask"), command))
    calls = (message("a", "1"), before("a", "plan_exit"), after("a", "bash"), transform("a"), created("b"))
    assert opencode.run(*calls) == [each.get("output") for each in calls]


def test_what_opencode_never_sends_throws_nothing(opencode: Opencode) -> None:
    names = ("event", "chat.message", "tool.execute.before", "tool.execute.after", "experimental.chat.system.transform")
    strange: list[Any] = [
        None,
        {},
        {"event": {"type": "session.created"}},
        {"sessionID": 7, "tool": None},
        {"event": 1},
    ]
    outputs: list[Any] = [None, {}]
    calls = [
        {"name": name, "input": each, "output": output} for name in names for each in strange for output in outputs
    ]
    assert not any("threw" in each for each in opencode.run(*calls) if each)


def test_every_payload_is_read(opencode: Opencode) -> None:
    opencode.run(
        created("a"),
        created("b", "a"),
        message("a", "1"),
        after("b", "bash"),
        event("session.compacted", sessionID="a"),
    )
    read = [read_hook(json.dumps(payload).encode()) for _, payload in opencode.sent()]
    assert [each.heard.event for each in read if each] == [payload["event"] for _, payload in opencode.sent()]
