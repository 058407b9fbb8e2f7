"""Agents that do not report a compaction: the signs of it, and that the very next prompt has the plan."""

from typing import Any

import pytest

from planwire.model.events import ContextCompacted
from tests.agents.driving import Talk
from tests.wire import JSON, answer, entry, line, plan, refusal, request

COMMANDS: JSON = {
    "sessionUpdate": "available_commands_update",
    "availableCommands": [{"name": name, "description": "…"} for name in ("init", "compact", "compress", "summary")],
}


def said(text: str, **meta: Any) -> bytes:
    chunk = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
    return line({**chunk, **({"_meta": meta} if meta else {})})


def call(title: str, status: str, update: str = "tool_call", **more: Any) -> bytes:
    return line({"sessionUpdate": update, "toolCallId": "c1", "title": title, "status": status, **more})


QWENS = [
    said("Compressing context...", contextCompression={"phase": "progress"}),
    said("Context compressed.", contextCompression={"phase": "done", "originalTokenCount": 60_000}),
]
VIBES = [
    call("Compacting conversation history...", "in_progress", kind="other"),
    call("Compacted conversation history", "completed", "tool_call_update"),
]
CODEXS = [
    call("Compact conversation", "in_progress", kind="think"),
    line({"sessionUpdate": "tool_call_update", "toolCallId": "c1", "status": "completed"}),
]


def talk_with_plan() -> Talk:
    talk = Talk()
    talk.agent(line(COMMANDS))
    talk.agent(plan(entry("Write the parser")))
    return talk


def is_told(talk: Talk) -> bool:
    """Whether the next prompt has the plan."""
    parts = talk.prompt()["params"]["prompt"]
    talk.end_turn()
    return len(parts) > 1 and "Write the parser" in parts[1]["text"]


def compactions(talk: Talk) -> list[str | None]:
    return [event.reason for event in talk.events() if isinstance(event, ContextCompacted)]


@pytest.mark.parametrize("command", ["/compact", "/compress", "/compact the tests are done"])
def test_a_command_that_compacts_is_noticed_when_its_turn_has_ended(command: str) -> None:
    talk = talk_with_plan()
    talk.prompt(command)
    talk.end_turn()
    assert [is_told(talk), is_told(talk)] == [True, False]
    assert compactions(talk) == [f"the command {command.split(maxsplit=1)[0]} ended"]


@pytest.mark.parametrize("command", ["/compact", "/compress"])
def test_a_command_that_nobody_advertised_is_only_a_text(command: str) -> None:
    talk = Talk()
    talk.agent(plan(entry("Write the parser")))
    talk.prompt(command)
    talk.end_turn()
    assert not is_told(talk)


@pytest.mark.parametrize("text", ["/summary", "/init", "compact", "please /compact", "/"])
def test_other_prompts_compact_nothing(text: str) -> None:
    talk = talk_with_plan()
    talk.prompt(text)
    talk.end_turn()
    assert not is_told(talk)


@pytest.mark.parametrize(
    "end", [refusal("p"), answer("p", {"stopReason": "cancelled"}), answer("p", {"stopReason": "refusal"})]
)
def test_a_command_that_did_not_end_well_compacted_nothing(end: bytes) -> None:
    talk = talk_with_plan()
    talk.prompt("/compact")
    talk.agent(end)
    assert not is_told(talk)


def test_a_command_that_was_cancelled_compacted_nothing_though_the_agent_says_it_ended() -> None:
    talk = talk_with_plan()
    talk.prompt("/compact")
    talk.client(request("session/cancel", "", sessionId="s1"))
    talk.end_turn()
    assert not is_told(talk)


@pytest.mark.parametrize("lines", [QWENS, VIBES, CODEXS], ids=["qwen", "vibe", "codex"])
@pytest.mark.parametrize("prompt", ["Go on.", "/compact"], ids=["by itself", "by a command"])
def test_an_agent_that_says_so_in_its_own_way_has_compacted_once(lines: list[bytes], prompt: str) -> None:
    talk = talk_with_plan()
    talk.prompt(prompt)
    for each in lines:
        assert talk.agent(each) == [each]
    talk.end_turn()
    assert [is_told(talk), is_told(talk)] == [True, False]
    assert len(compactions(talk)) == 1


@pytest.mark.parametrize("title", ["Context compacted", "Summarized conversation history", "Summarizing chat…"])
def test_a_title_that_says_nothing_else_is_a_sign(title: str) -> None:
    talk = talk_with_plan()
    talk.prompt()
    talk.agent(call(title, "completed"))
    talk.end_turn()
    assert is_told(talk)


def test_a_tool_call_that_failed_compacted_nothing() -> None:
    talk = talk_with_plan()
    talk.prompt()
    talk.agent(call("Compacting conversation history...", "in_progress"))
    talk.agent(call("Compacting conversation history...", "failed", "tool_call_update"))
    talk.end_turn()
    assert not is_told(talk)


@pytest.mark.parametrize(
    "other",
    [
        call("grep -r 'compact the context' src", "completed", kind="execute"),
        call("Read context_compaction.py", "completed", kind="read"),
        call("Review the chat history and summarize it", "completed", kind="think"),
        call("Summarize the conversation module", "completed", kind="think"),
        call('{"entries":["Read the context","Compact the tables"]}', "completed", kind="other"),
        said("I compacted the conversation history."),
        said("Context compressed.", contextCompression={"phase": "progress"}),
        said("…", note={"status": "completed"}),
        line({"sessionUpdate": "usage_update", "used": 0, "size": 100}),
    ],
)
def test_words_like_these_are_no_sign(other: bytes) -> None:
    talk = talk_with_plan()
    talk.agent(line({"sessionUpdate": "usage_update", "used": 50_000, "size": 100_000}))
    talk.prompt()
    talk.agent(other)
    talk.end_turn()
    assert not is_told(talk)


def test_a_fall_of_usage_after_a_command_is_the_same_compaction() -> None:
    talk = talk_with_plan()
    talk.agent(line({"sessionUpdate": "usage_update", "used": 61_801, "size": 128_000}))
    talk.prompt("/compact")
    talk.end_turn()
    talk.prompt()
    talk.agent(line({"sessionUpdate": "usage_update", "used": 11_426, "size": 128_000}))
    talk.end_turn()
    assert len(compactions(talk)) == 1


@pytest.mark.parametrize("lines", [QWENS, VIBES])
def test_signs_in_a_history_that_is_retold_are_old(lines: list[bytes]) -> None:
    """R37."""
    talk = talk_with_plan()
    talk.learn()
    talk.client(request("session/load", "l", sessionId="s1", cwd="/project", mcpServers=[]))
    for each in (plan(entry("Write the parser")), *lines):
        talk.agent(each)
    talk.agent(answer("l", {}))
    assert not is_told(talk)
