"""Where messages stand in what a provider is sent, and that they stay there."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planwire.chat import ChatStream, Ordinary, chat_format, read_stream, write_stream
from planwire.model.plan import Fields
from tests.chats import (
    FORMATS,
    Chat,
    answered,
    answers,
    assert_a_provider_takes,
    called,
    calls,
    chats,
    delta,
    event,
    parts,
    plan,
    result,
    says,
)
from tests.strategies import a_third_each

every_format = pytest.mark.parametrize("form", FORMATS)


def text_of(message: Fields) -> str:
    found: Any = message.get("content") or parts(message)
    return found if isinstance(found, str) else str(found[0].get("text", ""))


@every_format
def test_a_hidden_message_comes_where_it_was_added(form: str) -> None:
    chat = Chat(form)
    chat.add(says(form, "Go"), plan("p"), answers(form, "Yes"))
    shown = chat.stream.context()
    assert [shown[0], shown[2]] == [says(form, "Go"), answers(form, "Yes")]
    assert text_of(shown[1]).startswith("<plan ")
    assert shown[1]["role"] == "user"


@every_format
def test_a_hidden_message_waits_until_all_open_calls_are_answered(form: str) -> None:
    chat = Chat(form)
    chat.add(says(form, "Go"))
    chat.call(2)
    chat.add(plan("p"), result(form, "c0"), delta("d", "changed"), result(form, "c1"), says(form, "Thanks"))
    shown = chat.ask()
    assert_a_provider_takes(form, shown)
    assert [text_of(each)[:6] for each in shown[-3:]] == ["<plan ", "<plan-", "Thanks"]
    assert [each.id for each in chat.stream.messages][-3:] == ["p", "d", chat.added[-1].id]


@pytest.mark.parametrize("form", ["anthropic", "gemini"])
def test_the_results_of_a_batch_become_one_message_where_the_provider_demands_it(form: str) -> None:
    chat = Chat(form)
    chat.call(3)
    chat.add(result(form, "c2"), result(form, "c0"), result(form, "c1"))
    [_, merged] = chat.ask()
    assert answered(form, merged) == ["c2", "c0", "c1"]
    assert merged["role"] == "user"


@pytest.mark.parametrize(("form", "field"), [("anthropic", "content"), ("gemini", "parts")])
def test_results_come_first_in_a_merged_message(form: str, field: str) -> None:
    """Anthropic refuses a message in which a text stands before a result."""
    chat = Chat(form)
    chat.call(2)
    first, second = parts(result(form, "c0")), parts(result(form, "c1"))
    words = parts(chat.stream.format.context("and this"))
    chat.add({"role": "user", field: [*first, *words]}, result(form, "c1"))
    assert parts(chat.ask()[-1]) == [*first, *second, *words]


def test_a_single_result_message_is_passed_on_as_it_is() -> None:
    chat = Chat("anthropic")
    chat.call(1)
    message: Fields = {**result("anthropic", "c0"), "name": "someone"}
    chat.add(message)
    assert chat.stream.context()[-1] is message


@every_format
def test_calls_that_a_message_interrupts_get_stored_results(form: str) -> None:
    chat = Chat(form)
    chat.call(2)
    chat.add(result(form, "c0"), says(form, "Stop"))
    stored = chat.stream.messages
    [cancelled] = [each for each in stored if isinstance(each, Ordinary) and each.extra == {"cancelled": True}]
    assert answered(form, cancelled.message) == ["c1"]
    assert "cancelled" in str(cancelled.message)
    assert stored.index(cancelled) == len(stored) - 2
    assert_a_provider_takes(form, chat.ask())


@every_format
def test_admit_tells_what_to_store_and_changes_nothing(form: str) -> None:
    chat = Chat(form)
    chat.call(1)
    before = chat.stream.messages
    cancelled, message = chat.stream.admit(Ordinary("stop", says(form, "Stop")))
    assert answered(form, cancelled.message) == ["c0"]  # type: ignore[union-attr]
    assert message.id == "stop"
    assert chat.stream.messages == before
    chat.stream.add(cancelled)
    assert chat.stream.admit(message) == (message,)


@every_format
def test_open_calls_are_shown_as_cancelled_and_stay_open_until_that_is_stored(form: str) -> None:
    chat = Chat(form)
    chat.call(2)
    chat.add(result(form, "c0"), plan("p"))
    shown = chat.stream.context()
    assert_a_provider_takes(form, shown)
    assert text_of(shown[-1]).startswith("<plan ")
    chat.add(result(form, "c1"))
    assert_a_provider_takes(form, chat.ask())
    assert "cancelled" not in str(chat.requests[-1])


@every_format
def test_a_result_that_comes_too_late_becomes_a_notice(form: str) -> None:
    chat = Chat(form)
    chat.call(1)
    chat.add(says(form, "Stop"), result(form, "c0", "forty-two"), says(form, "Go on"))
    shown = chat.ask()
    assert_a_provider_takes(form, shown)
    assert [text_of(each)[:40] for each in shown[-3:]] == [
        "Stop",
        '<event subkind="system_notice" source="t',
        "Go on",
    ]
    assert "forty-two" in text_of(shown[-2])


@every_format
def test_a_result_for_a_call_that_never_was_becomes_a_notice_and_interrupts_nothing(form: str) -> None:
    chat = Chat(form)
    chat.call(1)
    chat.add(result(form, "c9"), result(form, "c0"))
    assert_a_provider_takes(form, chat.ask())
    assert "tool.late_result" in text_of(chat.requests[-1][-1])


def test_a_second_answer_to_a_call_is_a_late_one() -> None:
    chat = Chat("openai-chat")
    chat.call(1)
    chat.add(result("openai-chat", "c0", "first"), result("openai-chat", "c0", "second"))
    assert_a_provider_takes("openai-chat", chat.ask())


def test_the_ids_of_cancelled_results_are_not_used_again_after_a_compaction() -> None:
    names = []
    for message_id in ("m1", "m99"):  # the second time in a stream from which all else is gone
        stream = ChatStream(chat_format("openai-chat"))
        stream.add(Ordinary(message_id, *calls("openai-chat", "a", "b")))
        names += [each.id for each in stream.unanswered()]
    assert len(set(names)) == 4


def test_nothing_comes_between_reasoning_and_what_it_led_to() -> None:
    chat = Chat("openai-responses")
    reasoning, call = calls("openai-responses", "c0")
    chat.add(reasoning, plan("p"), call, result("openai-responses", "c0"))
    shown = chat.ask()
    assert shown[:2] == [reasoning, call]
    assert text_of(shown[-1]).startswith("<plan ")


def test_items_of_one_answer_may_call_several_tools_one_after_the_other() -> None:
    chat = Chat("openai-responses")
    chat.add(*calls("openai-responses", "a", "b"), answers("openai-responses", "Reading both"))
    chat.add(result("openai-responses", "a"), result("openai-responses", "b"))
    assert "cancelled" not in str(chat.ask())


def test_gemini_calls_without_ids_are_answered_by_name() -> None:
    stream = ChatStream(chat_format("gemini"))
    made: list[Fields] = [{"functionCall": {"name": name, "args": {}}} for name in ("read", "read", "write")]
    stream.add(Ordinary("m1", {"role": "model", "parts": made}))
    for number, name in enumerate(("write", "read")):
        part = {"function_response": {"name": name, "response": {}}}
        stream.add(Ordinary(f"r{number}", {"role": "user", "parts": [part]}))
    [cancelled] = stream.unanswered()
    assert cancelled.message["parts"][0]["functionResponse"]["name"] == "read"
    stream.add(cancelled)
    assert len(stream.context()) == 2


def test_calls_of_functions_as_they_were_before_tools_are_calls_too() -> None:
    stream = ChatStream(chat_format("openai-chat"))
    stream.add(Ordinary("m1", {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": ""}}))
    stream.add(plan("p"))
    assert len(stream.context()) == 3
    stream.add(Ordinary("m2", {"role": "function", "name": "f", "content": "1"}))
    assert [each["role"] for each in stream.context()] == ["assistant", "function", "user"]


@pytest.mark.parametrize(
    "message",
    [
        {"role": "assistant", "tool_calls": [{"id": 1, "function": "f"}, 2], "function_call": "f"},
        {"role": "tool", "tool_call_id": None},
        {"type": 3, "call_id": []},
        {"role": "user", "content": [None, {"type": "tool_use"}, {"type": "tool_result", "tool_use_id": {}}]},
        {"role": "model", "parts": [{"functionCall": None}, {"functionResponse": []}, "x"]},
        {},
    ],
)
@every_format
def test_messages_of_no_known_shape_are_passed_on_and_break_nothing(form: str, message: Fields) -> None:
    stream = ChatStream(chat_format(form), [Ordinary("m1", message), plan("p"), Ordinary("m2", message)])
    for cancelled in stream.unanswered():
        stream.add(cancelled)
    assert isinstance(stream.context(), list)


def test_plans_that_a_compaction_retired_are_stored_and_not_shown() -> None:
    marker = event("r", "summarization_marker", retired=["p1"])
    stream = ChatStream(chat_format("openai-chat"), [marker, plan("p1"), plan("p2")])
    assert len(stream) == 3
    assert len(stream.context()) == 1


# Cache breakpoints


def breakpoints(messages: list[Fields]) -> list[int]:
    return [index for index, message in enumerate(messages) for part in parts(message) if "cache_control" in str(part)]


def test_for_anthropic_the_first_two_plans_are_breakpoints_and_stay_so() -> None:
    chat = Chat("anthropic")
    chat.add(says("anthropic", "Go"), plan("p"), answers("anthropic", "Yes"), plan("q"))
    early = chat.ask()
    chat.add(*(plan(f"p{number}") for number in range(5)), answers("anthropic", "Done"))
    assert breakpoints(early) == breakpoints(chat.ask()) == [1, 3]


def test_a_preview_of_cancelled_calls_costs_no_breakpoint() -> None:
    chat = Chat("anthropic")
    chat.call(1)
    chat.add(plan("p"))
    assert breakpoints(chat.stream.context()) == breakpoints(chat.stream.context()) == [2]


def test_an_author_who_sets_breakpoints_in_messages_gets_no_others() -> None:
    """The provider takes four at most, wherever they stand."""
    chat = Chat("anthropic")
    marked = {"type": "text", "text": "a long document", "cache_control": {"type": "ephemeral"}}
    inner = {"type": "tool_result", "tool_use_id": "c0", "content": [marked]}
    chat.call(1)
    chat.add({"role": "user", "content": [inner]}, plan("p"), plan("q"))
    assert breakpoints(chat.ask()) == [1]


@pytest.mark.parametrize("form", [form for form in FORMATS if form != "anthropic"])
def test_no_other_format_has_breakpoints(form: str) -> None:
    chat = Chat(form)
    chat.add(answers(form, "Yes"), plan("p"))
    assert "cache_control" not in str(chat.ask())


# What holds whatever happens


@every_format
@a_third_each
@given(st.data())
def test_a_request_begins_with_the_request_before_it(form: str, data: st.DataObject) -> None:
    requests = data.draw(chats(form)).requests
    for earlier, later in pairwise(requests):
        assert later[: len(earlier)] == earlier


@every_format
@a_third_each
@given(st.data())
def test_nothing_stands_between_calls_and_their_results_in_any_request(form: str, data: st.DataObject) -> None:
    for request in data.draw(chats(form)).requests:
        assert_a_provider_takes(form, request)


@every_format
@a_third_each
@given(st.data())
def test_an_authors_messages_are_untouched_and_in_order(form: str, data: st.DataObject) -> None:
    chat = data.draw(chats(form))
    own = [each.message for each in chat.added if isinstance(each, Ordinary) and not answered(form, each.message)]
    shown = chat.stream.context()
    passed = iter(shown)
    assert all(any(message is each for each in passed) for message in own)
    made = [each for message in own for each in called(form, message)]
    assert sorted(each for message in shown for each in answered(form, message)) == sorted(made)


@every_format
@a_third_each
@given(st.data())
def test_a_stream_that_was_stored_shows_the_same_again(form: str, data: st.DataObject) -> None:
    chat = data.draw(chats(form))
    again = ChatStream(chat_format(form), read_stream(write_stream(chat.stream.messages)))
    assert again.context() == chat.stream.context()
    assert again.messages == chat.stream.messages
