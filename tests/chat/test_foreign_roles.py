"""Roles that a provider does not know: of Refact's trajectories, of other providers, of anyone."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planwire import BlockingPlanSession, open_journal
from planwire.chat import (
    ChatStream,
    EventMessage,
    Ordinary,
    PlanMessage,
    Said,
    block,
    chat_format,
    compact,
    read_stream,
    read_trajectory,
    said_in,
    write_message,
    write_stream,
)
from planwire.model.plan import Fields
from tests.chat.test_formats import understood
from tests.chats import FORMATS, Chat, calls, plan, result, says
from tests.strategies import a_third_each, json_values, objects, texts

every_format = pytest.mark.parametrize("form", FORMATS)
TAKEN: dict[str, set[str | None]] = {
    "openai-chat": {"system", "developer", "user", "assistant", "tool", "function"},
    "openai-responses": {"system", "developer", "user", "assistant", None},
    "anthropic": {"user", "assistant", "system"},
    "gemini": {"user", "model"},
}

CALL = {"id": "c1", "type": "function", "index": 0, "function": {"name": "patch", "arguments": "{}"}}
OTHER = {**CALL, "id": "c2"}


def hidden(name: str, subkind: str, content: str = "", **payload: Any) -> Fields:
    event = {"subkind": subkind, "source": "chat.goal_monitor", "payload": payload}
    return {"message_id": name, "role": "event", "content": content, "event": event}


#: A trajectory as Refact stores it.
TRAJECTORY: Fields = {
    "id": "chat-1",
    "title": "Fix the parser",
    "mode": "agent",
    "messages": [
        {"message_id": "a", "role": "system", "content": "You are an agent."},
        {"message_id": "", "role": "cd_instruction", "content": "Look around first."},
        {"message_id": "", "role": "user", "content": "Fix the parser"},
        {
            "message_id": "g",
            "role": "goal",
            "content": "No test fails & <all> is fast",
            "goal": {"mode": "agent", "version": 1, "created_at_ms": 1, "supersedes": None, "active": True},
        },
        {"message_id": "b", "role": "assistant", "content": "", "tool_calls": [CALL, OTHER], "finish_reason": "stop"},
        {"message_id": "d", "role": "diff", "content": '[{"file_name":"a.py"}]', "tool_call_id": "c1"},
        {"message_id": "f", "role": "context_file", "content": [{"file_name": "a.py", "file_content": "x = 1"}]},
        {"message_id": "t", "role": "tool", "content": "done", "tool_call_id": "c2"},
        {
            "message_id": "p",
            "role": "plan",
            "content": "- [ ] find it",
            "plan": {"mode": "agent", "version": 1, "created_at_ms": 1, "supersedes": None},
        },
        hidden("n", "plan_delta", "It is in the lexer", seq=1, summary=None),
        hidden("gd", "goal_delta", "and <no> warning", seq=1),
        hidden("gp", "goal_pursuit", "", kind="paused", at_ms=1),
        hidden("gq", "goal_pursuit", "There are gaps", kind="verification_gaps", gaps=["tests"]),
        {"message_id": "s", "role": "summarization", "content": "All that was"},
        {"message_id": "z", "role": "compression_report", "content": "2 of 9"},
    ],
}
DATA = msgspec.json.encode(TRAJECTORY)


def test_a_trajectory_is_read_whole_and_given_back() -> None:
    stored, around = read_trajectory(DATA)
    assert len(stored) == len(TRAJECTORY["messages"])
    assert read_stream(DATA) == stored
    written = msgspec.json.decode(write_stream(stored, around))
    assert {**written, "messages": []} == {**TRAJECTORY, "messages": []}
    again, around_again = read_trajectory(write_stream(stored, around))
    assert (again, around_again) == (stored, around)
    for before, after in zip(TRAJECTORY["messages"], written["messages"], strict=True):
        flat = {**after, **after.get("extra", {})}
        assert {key: flat[key] for key in before} == {
            **before,
            "message_id": before["message_id"] or flat["message_id"],
        }


@every_format
def test_no_role_of_a_trajectory_reaches_a_provider_that_does_not_know_it(form: str) -> None:
    context = ChatStream(chat_format(form), read_stream(DATA)).context()
    assert {each.get("role") for each in context} <= TAKEN[form]


#: What Refact adds to a message.
FOREIGN: Fields = {
    "checkpoints": [{"hash": "x"}],
    "citations": [{"url": "x"}],
    "finish_reason": "stop",
    "preserve": True,
    "server_content_blocks": [{"type": "x"}],
    "summarization_tier": "x",
    "summarized_range": [0, 1],
    "summarized_token_estimate": 3,
    "thinking_blocks": [{"type": "thinking"}],
    "tool_failed": False,
    "usage": {"total_tokens": 1},
}


@every_format
def test_a_provider_gets_no_field_and_no_kind_of_part_that_only_refact_knows(form: str) -> None:
    text, image = {"m_type": "text", "m_content": "Look"}, {"m_type": "image/png", "m_content": "aGk="}
    content = "parts" if form == "gemini" else "content"
    plain: Fields = {"role": "user", content: [{"text": "Go"}] if form == "gemini" else "Go"}
    asked: Fields = {"role": "user", "content": [text, image], **FOREIGN}
    chat = Chat(form)
    chat.add({**plain, **FOREIGN}, asked, says(form, "Go"))
    first, second, _ = chat.ask()
    assert first == plain
    assert understood(form, first) == first
    assert not FOREIGN.keys() & second.keys()
    assert "m_type" not in str(second)
    assert "Look" in str(second)
    assert "aGk=" in str(second)
    if form != "gemini":  # which has no `content`
        assert understood(form, second) == second
    assert write_message(chat.stream.messages[1]).items() >= asked.items(), "stored as it was"


def test_the_times_of_calls_and_their_results_stay_with_refact() -> None:
    timed = {**CALL, "started_at_ms": 1, "completed_at_ms": 2}
    said: Fields = {"role": "assistant", "content": "", "tool_calls": [timed], **FOREIGN}
    chat = Chat("openai-chat")
    done: Fields = {"role": "tool", "tool_call_id": "c1", "content": [{"m_type": "text", "m_content": "Look"}]}
    chat.add(said, {**done, **FOREIGN}, says("openai-chat", "Go"))
    assert chat.ask()[:2] == [
        {"role": "assistant", "content": "", "tool_calls": [CALL]},
        {**done, "content": [{"type": "text", "text": "Look"}]},
    ]


def test_what_a_gateway_knows_is_no_field_of_refact() -> None:
    said: Fields = {"role": "assistant", "content": "Go", "thinking_blocks": [{"type": "thinking"}]}
    chat = Chat("openai-chat")
    chat.add(said)
    assert chat.ask() == [said]


def test_the_blocks_of_a_trajectory() -> None:
    shown = ChatStream(chat_format("openai-chat"), read_stream(DATA)).context()
    assert [each["role"] for each in shown[4:8]] == ["assistant", "tool", "tool", "user"]
    assert shown[5] == {"role": "tool", "tool_call_id": "c1", "content": '[{"file_name":"a.py"}]'}
    texts = [each["content"] for each in shown if each["role"] == "user"]
    assert texts == [
        '<event subkind="message" source="cd_instruction">\n<message>Look around first.</message>\n</event>',
        "Fix the parser",
        '<goal version="1">\n<text>No test fails &amp; &lt;all> is fast</text>\n</goal>',
        '<event subkind="message" source="context_file">\n'
        '<message>[{"file_name":"a.py","file_content":"x = 1"}]</message>\n</event>',
        '<plan id="main" version="1" mode="agent">\n'
        '<text>- [ ] find it</text>\n<index step="s1" words="find it"/>\n</plan>',
        '<plan-update id="main" seq="1">\n<note>It is in the lexer</note>\n</plan-update>',
        '<goal-update seq="1">\n<note>and &lt;no> warning</note>\n</goal-update>',
        '<event subkind="goal_pursuit" source="chat.goal_monitor">\n'
        '<payload>{"kind":"verification_gaps","gaps":["tests"]}</payload>\n<message>There are gaps</message>\n</event>',
        '<event subkind="message" source="summarization">\n<message>All that was</message>\n</event>',
        '<event subkind="message" source="compression_report">\n<message>2 of 9</message>\n</event>',
    ]


def test_a_session_shows_the_same_of_a_trajectory_after_it_is_opened_again() -> None:
    with open_journal("memory:") as journal:
        agent = BlockingPlanSession(journal, "s")
        agent.add(*(write_message(each) for each in read_stream(DATA)))
        shown = agent.context()
        assert BlockingPlanSession(journal, "s").context() == shown
    assert [each["role"] for each in shown] == [
        each["role"] for each in ChatStream(chat_format("openai-chat"), read_stream(DATA)).context()
    ]


def test_goals_survive_every_compaction() -> None:
    form = chat_format("openai-chat")
    after = compact(read_stream(DATA), form, budget=1, tail=0)
    assert {"g", "gd", "p", "n"} <= {each.id for each in after.messages}


@every_format
@a_third_each
@given(role=st.sampled_from(("goal", "context_file", "critic", "PLAN", "")), text=texts)
def test_a_text_in_any_role_is_told_exactly_and_imitates_nothing(form: str, role: str, text: str) -> None:
    chat = Chat(form)
    chat.add(says(form, "Go"), {"role": role, "content": text})
    [first, *told] = chat.ask()
    assert first == says(form, "Go")
    said = said_in(block(Ordinary("m", {"role": role, "content": text})))
    kind, author = ("text", "") if role == "goal" else ("message", role)
    assert said == ((Said(author, kind, "", text),) if text else ())
    assert len(told) == bool(text)
    assert {each.get("role") for each in told} <= {"user"}


@every_format
def test_a_message_in_a_foreign_role_interrupts_no_call(form: str) -> None:
    chat = Chat(form)
    chat.add(*calls(form, "c0", "c1"), result(form, "c0"), {"role": "context_file", "content": "x"}, plan("p"))
    chat.add(result(form, "c1"))
    shown = chat.ask()
    assert "cancelled" not in str(shown)
    assert ["context_file" in str(each) for each in shown[-2:]] == [True, False]


def test_a_role_of_another_provider_is_told_as_context() -> None:
    chat = Chat("anthropic")
    chat.add({"role": "developer", "content": "Be brief."}, {"role": "system", "content": "Be kind."})
    [told, system] = chat.ask()
    assert 'source="developer"' in told["content"][0]["text"]
    assert system == {"role": "system", "content": "Be kind."}


@every_format
@a_third_each
@given(objects, st.sampled_from(("role", "type", "content", "parts", "call_id", "tool_calls")), json_values)
def test_no_message_is_too_odd_to_be_shown(form: str, message: Fields, field: str, value: Any) -> None:
    chat = Chat(form)
    odd = [{**message, field: value}, {**message, "content": [{field: value}], "parts": [{field: value}]}]
    chat.add(says(form, "Go"), *odd, plan("p"))
    assert {str(each.get("role")) for each in chat.ask()} <= {*map(str, TAKEN[form]), "None"}


def test_results_in_a_foreign_role_get_the_right_one() -> None:
    chat = Chat("gemini")
    chat.add(*calls("gemini", "c0"), {**result("gemini", "c0"), "role": "tool"})
    assert chat.ask()[-1] == result("gemini", "c0")


def test_a_change_that_says_nothing_makes_no_block() -> None:
    def delta(payload: Any) -> EventMessage:
        return EventMessage("d", "", {"subkind": "plan_delta", "source": "x", "payload": payload})

    assert [block(delta(payload)) for payload in (None, "", {}, {"seq": 1})] == ["", "", "", ""]
    assert block(delta("it is <done>")) == (
        '<plan-update id="main">\n<payload>"it is &lt;done>"</payload>\n</plan-update>'
    )
    chat = Chat("openai-chat")
    chat.add(delta({}))
    assert chat.ask() == []


def test_a_plan_of_another_kind_names_its_type() -> None:
    message = PlanMessage("p", '{"nodes":[]}', {"id": "main", "version": 1, "kind": "other", "type": "_tree"})
    assert block(message).startswith('<plan id="main" version="1" type="_tree">')
