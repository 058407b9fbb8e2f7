"""Calls that the server of a provider answers: nothing is invented for them, and nothing stands inside their pairs."""

import pytest

from planwire.chat import ChatStream, Ordinary, chat_format
from planwire.chat.stream import units
from planwire.model.plan import Fields
from tests.chats import Chat, plan, result, says

RESPONSES = "openai-responses"
PROGRAM: Fields = {"type": "program", "id": "p", "call_id": "p1", "code": "await read()", "fingerprint": "f"}
DONE: Fields = {"type": "program_output", "id": "o", "call_id": "p1", "result": "1", "status": "completed"}
WORDS: Fields = {"type": "message", "role": "assistant", "content": "I go on"}
CODE: Fields = {"type": "server_tool_use", "id": "srv", "name": "code_execution", "input": {}}
RAN: Fields = {"type": "code_execution_tool_result", "tool_use_id": "srv", "content": {}}


def nested(call_id: str) -> Fields:
    caller = {"type": "program", "caller_id": "p1"}
    return {"type": "function_call", "call_id": call_id, "name": "read", "arguments": "{}", "caller": caller}


def kinds(context: list[Fields]) -> list[str]:
    return ["<plan>" if "<plan " in str(each) else each["type"] for each in context]


def test_a_client_search_of_tools_is_answered_by_its_own_output() -> None:
    chat = Chat(RESPONSES)
    call: Fields = {"type": "tool_search_call", "call_id": "t", "execution": "client", "arguments": {}}
    output: Fields = {"type": "tool_search_output", "call_id": "t", "execution": "client", "tools": []}
    chat.add(call, output)
    assert chat.ask() == [call, output]


def test_an_output_that_an_older_version_invented_is_left_out() -> None:
    call: Fields = {"type": "tool_search_call", "call_id": "t", "execution": "client", "arguments": {}}
    output: Fields = {"type": "tool_search_output", "call_id": "t", "execution": "client", "tools": []}
    invented: Fields = {"type": "tool_search_call_output", "call_id": "t", "output": "cancelled: …"}
    stored = [
        Ordinary("m1", call),
        Ordinary("m2", output),
        Ordinary("m1-cancelled-1", invented, {"cancelled": True}),
    ]
    assert ChatStream(chat_format(RESPONSES), stored).context() == [call, output]


def test_a_hidden_message_waits_for_a_program_through_all_its_requests() -> None:
    chat = Chat(RESPONSES)
    chat.add(PROGRAM, nested("c0"), plan("p"))
    chat.add(result(RESPONSES, "c0"))
    assert kinds(chat.ask()) == ["program", "function_call", "function_call_output"]
    chat.add(nested("c1"), result(RESPONSES, "c1"))
    assert kinds(chat.ask())[-1] == "function_call_output"
    chat.add(DONE, WORDS)
    assert kinds(chat.ask())[-3:] == ["program_output", "<plan>", "message"]


def test_a_request_in_the_middle_of_a_program_shows_no_block_that_would_move_later() -> None:
    chat = Chat(RESPONSES)
    chat.add(PROGRAM, nested("c0"), plan("p"))
    assert kinds(chat.stream.context()) == ["program", "function_call", "function_call_output"]
    assert kinds(chat.ask()) == ["program", "function_call", "function_call_output"]


def test_a_hidden_message_does_not_wait_for_a_program_that_the_model_left() -> None:
    chat = Chat(RESPONSES)
    chat.add(PROGRAM, nested("c0"), plan("p"), result(RESPONSES, "c0"), WORDS)
    assert kinds(chat.ask()) == ["program", "function_call", "function_call_output", "message", "<plan>"]
    chat.add(DONE)
    assert chat.ask()[-1] == DONE, "an answer that comes after all has its place"


@pytest.mark.parametrize("execution", ["server", None])
def test_a_new_turn_ends_what_the_server_owes_and_invents_nothing(execution: str | None) -> None:
    chat = Chat(RESPONSES)
    search: Fields = {"type": "tool_search_call", "call_id": None, "execution": execution, "arguments": {}}
    chat.add(search, plan("p"), {"type": "message", **says(RESPONSES, "Stop")})
    assert kinds(chat.ask()) == ["tool_search_call", "<plan>", "message"]


def test_anthropic_gets_nothing_but_results_while_its_server_runs_code() -> None:
    chat = Chat("anthropic")
    used = {
        "type": "tool_use",
        "id": "c0",
        "name": "read",
        "input": {},
        "caller": {"type": "code_execution_20260120", "tool_id": "srv"},
    }
    chat.add({"role": "assistant", "content": [CODE, used]}, plan("p"), result("anthropic", "c0"))
    assert chat.ask()[1:] == [result("anthropic", "c0")]
    chat.add({"role": "assistant", "content": [RAN]})
    assert ["<plan " in str(each) for each in chat.ask()] == [False, False, False, True]


def test_a_call_of_gemini_in_python_spelling_is_answered_in_the_same_message() -> None:
    chat = Chat("gemini")
    parts = [{"executable_code": {"code": "1"}}, {"code_execution_result": {"output": "1"}}]
    chat.add({"role": "model", "parts": parts}, plan("p"))
    assert len(chat.ask()) == 2, "nothing is open, and the plan does not wait"


def test_a_compaction_keeps_a_program_with_its_calls_and_its_output() -> None:
    items = [says(RESPONSES, "Go"), PROGRAM, nested("c0"), result(RESPONSES, "c0"), DONE, says(RESPONSES, "Thanks")]
    stored = [Ordinary(f"m{number}", item) for number, item in enumerate(items)]
    assert units(stored, chat_format(RESPONSES)) == [range(1), range(1, 5), range(5, 6)]


def test_a_hidden_message_does_not_wait_while_the_model_calls_without_the_program() -> None:
    chat = Chat(RESPONSES)
    chat.add(PROGRAM, nested("c0"), plan("p"), result(RESPONSES, "c0"))
    chat.add({"type": "function_call", "call_id": "c1", "name": "read", "arguments": "{}"}, result(RESPONSES, "c1"))
    assert kinds(chat.ask())[-3:] == ["function_call", "function_call_output", "<plan>"]


def test_a_program_without_an_output_does_not_make_the_rest_of_a_chat_one_unit() -> None:
    form = chat_format(RESPONSES)
    call: Fields = {"type": "function_call", "call_id": "x", "name": "read", "arguments": "{}"}
    turn = [call, result(RESPONSES, "x")]
    stored = [Ordinary(f"m{number}", item) for number, item in enumerate([PROGRAM, *turn * 5])]
    assert units(stored, form) == [range(5), range(5, 7), range(7, 9), range(9, 11)]
