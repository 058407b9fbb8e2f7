"""What providers are sent, checked with the types of their own official packages."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planwire.chat import chat_format, compact
from planwire.chat.formats import CHAT_FORMATS, CallRef
from planwire.model.plan import Fields
from planwire.tools.schemas import tool_schemas
from tests.chats import FORMATS, Chat, answers, chats, delta, event, plan, rendered, result, says
from tests.strategies import a_third_each


@cache
def adapters() -> dict[str, Any]:
    """What checks a message of each format. (Pydantic looks names up here, too: no name of a type may hide another.)"""
    from anthropic.types import MessageParam
    from google.genai import types as google
    from openai.types.chat import ChatCompletionMessageParam
    from openai.types.responses import ResponseInputItemParam
    from pydantic import TypeAdapter

    return {
        "openai-chat": TypeAdapter(ChatCompletionMessageParam),
        "openai-responses": TypeAdapter(ResponseInputItemParam),
        "anthropic": TypeAdapter(MessageParam),
        "gemini": TypeAdapter(google.Content),
    }


def understood(form: str, message: Fields) -> Any:
    """A message as the package understood it. What it does not know it leaves out, so nothing may be missing."""
    adapter = adapters()[form]
    value = adapter.validate_python(message)
    if form == "gemini":
        return value.model_dump(mode="json", by_alias=True, exclude_unset=True)
    return complete(value)


def complete(value: Any) -> Any:
    """A value with all that pydantic checks only when somebody looks at it."""
    match value:
        case dict():
            return {key: complete(inner) for key, inner in value.items()}
        case str() | int() | float() | bool() | None:
            return value
    return [complete(inner) for inner in value]


def assert_the_package_knows(form: str, messages: Iterator[Fields] | list[Fields]) -> None:
    for message in messages:
        assert understood(form, message) == message


def told_at_length(form: str) -> Chat:
    """A chat in which everything happens that planwire has words for."""
    chat = Chat(form)
    chat.add(says(form, "Go"), plan("p", "# Title\n- [ ] a <b> & c"), answers(form, "I will"))
    chat.call(2)
    chat.add(event("e1", "tick"), result(form, "c0"), delta("d1", "note", seq=1), result(form, "c1"))
    chat.call(2)
    chat.add(result(form, "c2"), says(form, "Stop"), result(form, "c3"))
    for number in range(5):
        chat.add(event(f"x{number}", "process_completed", "exec", "done", exit_code=0))
    chat.add(plan("p2", version=2))
    chat.call(1)
    return chat


@pytest.mark.parametrize("form", FORMATS)
def test_a_whole_context_is_what_the_package_of_its_provider_takes(form: str) -> None:
    chat = told_at_length(form)
    assert_the_package_knows(form, chat.stream.context())
    assert_the_package_knows(form, chat.ask())


@pytest.mark.parametrize("form", FORMATS)
def test_a_compacted_context_is_what_the_package_of_its_provider_takes(form: str) -> None:
    chat = told_at_length(form)
    chat.ask()
    after = compact(chat.stream.messages, chat_format(form), budget=100, tail=3)
    assert after.written
    assert_the_package_knows(form, rendered(form, after.messages))


@pytest.mark.parametrize("form", FORMATS)
@a_third_each
@given(st.data())
def test_any_context_is_what_the_package_of_its_provider_takes(form: str, data: st.DataObject) -> None:
    assert_the_package_knows(form, data.draw(chats(form)).stream.context())


@pytest.mark.parametrize("form", FORMATS)
def test_the_packages_refuse_the_hidden_roles(form: str) -> None:
    """So a test that finds nothing wrong has looked. Gemini's package takes any role."""
    from pydantic import ValidationError

    message = {**says(form, "x"), "role": "plan"}
    if form == "gemini":
        message["content"] = "x"
    with pytest.raises(ValidationError):
        understood(form, message)


@pytest.mark.parametrize(
    "kind",
    [
        "function_call",
        "custom_tool_call",
        "computer_call",
        "local_shell_call",
        "shell_call",
        "apply_patch_call",
    ],
)
def test_every_kind_of_call_is_cancelled_in_its_own_shape(kind: str) -> None:
    form = chat_format("openai-responses")
    cancelled = form.cancelled(CallRef("c1", "read", kind))
    assert understood("openai-responses", cancelled) == cancelled
    assert list(form.results(cancelled)) == [CallRef("c1")]


def test_calls_of_old_functions_are_cancelled_as_such() -> None:
    cancelled = chat_format("openai-chat").cancelled(CallRef("", "read"))
    assert understood("openai-chat", cancelled) == cancelled
    assert cancelled["role"] == "function"


def test_the_plan_tools_are_what_openai_takes() -> None:
    from openai.types.chat import ChatCompletionToolParam
    from openai.types.responses import FunctionToolParam
    from pydantic import TypeAdapter

    for form, shape in (("openai-chat", ChatCompletionToolParam), ("openai-responses", FunctionToolParam)):
        for tool in tool_schemas(form):
            assert complete(TypeAdapter(shape).validate_python(tool)) == tool


def test_the_plan_tools_are_what_anthropic_takes() -> None:
    from anthropic.types import ToolParam
    from pydantic import TypeAdapter

    for tool in tool_schemas("anthropic"):
        assert complete(TypeAdapter(ToolParam).validate_python(tool)) == tool


def test_the_plan_tools_are_what_google_takes() -> None:
    from google.genai.types import FunctionDeclaration

    for tool in tool_schemas("gemini"):
        declared = FunctionDeclaration.model_validate(tool)
        assert declared.model_dump(mode="json", by_alias=True, exclude_unset=True) == tool


def test_there_are_tools_for_every_chat_format() -> None:
    assert [len(tool_schemas(form)) for form in CHAT_FORMATS] == [4, 4, 4, 4]
