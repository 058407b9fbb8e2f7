"""`planwire check --learn`: an agent's ways are observed while it is driven, and kept as a row for the relay."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from planwire.check.observing import ECHOED, TOOLS, Observer
from planwire.check.offers import COMPACT, LOAD
from planwire.check.script import ModelRequest
from planwire.cli.learning import learned_row
from planwire.own_process import own_command
from planwire.relay.agents import AGENTS, AgentRow, matches
from tests.wire import answer, line, request

OFFERING = Path(__file__).parents[1] / "agents" / "offering.py"
DEFAULT = AgentRow(agent="x", names=())


def observed(*told: tuple[str, bytes], name: str = "Toy") -> Observer:
    observer = Observer()
    observer.hear(answer(1, {"protocolVersion": 1, "agentInfo": {"name": name}}), "agent")
    for part, said in told:
        observer.begin(part)
        observer.hear(said, "agent")
    return observer


def row(observer: Observer, *calls: str) -> AgentRow:
    learned = learned_row(observer.seen, "toy", calls)
    assert learned is not None
    return learned


def commands(*names: str) -> bytes:
    return line({"sessionUpdate": "available_commands_update", "availableCommands": [{"name": each} for each in names]})


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (["autocompact", "compact"], "compact"),
        (["init", "/chat-compress"], "chat-compress"),
        (["autocompact", "review"], None),
    ],
)
def test_the_command_that_compacts_is_told_from_those_about_it(names: list[str], found: str | None) -> None:
    observer = observed(("", commands(*names)))
    assert observer.seen.command == found
    assert row(observer).compact_commands[0] == (found or "compact")


def test_what_an_agent_sends_while_it_compacts_becomes_a_sign_if_it_is_none_yet() -> None:
    folded = line({"sessionUpdate": "tool_call", "title": "Folding the past", "toolCallId": "t"})
    known = line({"sessionUpdate": "tool_call", "title": "Compacted the history", "toolCallId": "t"})
    meta = line({"sessionUpdate": "agent_message_chunk", "_meta": {"toy": {"compacting": "over"}}})
    elsewhere = line({"sessionUpdate": "tool_call", "title": "Read a file", "toolCallId": "t"})
    learned = row(observed((COMPACT, folded), (COMPACT, known), (COMPACT, meta), ("prompt", elsewhere)))
    assert learned.compact_titles == ("folding the past", *DEFAULT.compact_titles)
    assert learned.compact_meta == ("toy.compacting=over", *DEFAULT.compact_meta)


@pytest.mark.parametrize(("between", "joiner"), [("\n\n", "\n\n"), (" ", " "), (None, None)])
def test_the_joiner_is_what_stands_between_two_texts_that_come_back(between: str | None, joiner: str | None) -> None:
    texts = ECHOED if between is None else (between.join(ECHOED),)
    parts = ({"type": "text", "text": text} for text in texts)
    told = [(LOAD, line({"sessionUpdate": "user_message_chunk", "content": part})) for part in parts]
    assert row(observed(*told)).joiner == joiner


@pytest.mark.parametrize(
    ("tools", "text", "hides"),
    [
        (["trialserver-trialtool"], "", False),
        ([], "- trialserver: Looks at samples.", False),
        (["tool_search"], "Hello.", True),
    ],
)
def test_tools_are_hidden_if_the_model_hears_nothing_of_the_server(tools: list[str], text: str, hides: bool) -> None:
    observer = observed()
    observer.hear_model([ModelRequest("/", "x", {"system": text}, {}, {name: {} for name in tools})])
    assert row(observer, "initialize").hides_tools == hides
    assert row(observer).hides_tools == DEFAULT.hides_tools


def test_a_tool_is_spelled_as_in_the_question_about_it() -> None:
    call: dict[str, Any] = {"title": "Run trialserver-trialtool?", "kind": "other"}
    asked = request("session/request_permission", 7, sessionId="s", toolCall=call, options=[])
    assert row(observed((TOOLS, asked))).tool_names == ("SERVER-TOOL", *DEFAULT.tool_names)
    assert row(observed(("prompt", asked))).tool_names == DEFAULT.tool_names


def test_a_known_agent_keeps_what_is_known_of_it() -> None:
    known = next(each for each in AGENTS if each.joiner)
    assert row(observed(name=known.names[0].replace("*", ""))).joiner == known.joiner


@pytest.mark.parametrize("name", ["*", "Toy [beta]", "?oy"])
def test_a_name_or_a_title_is_no_pattern_for_others(name: str) -> None:
    title = line({"sessionUpdate": "tool_call", "title": "Folding [*]", "toolCallId": "t"})
    learned = row(observed((COMPACT, title), name=name))
    assert matches(name.casefold(), learned.names)
    assert not matches("toy", learned.names)
    assert matches("folding [*]", learned.compact_titles)
    assert not matches("folding *", learned.compact_titles)


def test_an_agent_without_a_name_gets_no_row() -> None:
    seen = Observer().seen
    assert learned_row(seen, "/usr/bin/python3.11", ()) is None
    named = learned_row(seen, "/opt/toy-acp", ())
    assert named is not None
    assert named.names == ("toy-acp",)


def test_a_row_is_kept_where_the_relay_reads_it(tmp_path: Path) -> None:
    agent = [sys.executable, str(OFFERING), json.dumps({"name": "Toy", "load": "plan"})]
    command = [*own_command(), "check", "--learn", "--json", "--", *agent]
    environment = {**os.environ, "XDG_CONFIG_HOME": str(tmp_path)}
    result = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60, env=environment)
    verdict = json.loads(result.stdout)
    assert verdict["driven"] == {"prompt": True, "load": True}
    assert verdict["learned"][:2] == [
        "compaction: no command is advertised",
        "MCP servers: the agent never connected",
    ]
    assert json.loads((tmp_path / "planwire" / "agents" / "toy.json").read_text()) == {"agent": "Toy", "names": ["toy"]}
