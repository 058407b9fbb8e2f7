"""Chats of every item, block and part that the packages know, interrupted anywhere: what a provider gets is valid,
every call of the client is answered once, nothing is invented for the server's, and no block stands inside a pair."""

import base64
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import planwire.chat.openai_items as responses
from planwire.chat import chat_format
from planwire.chat.anthropic_blocks import HOSTED_RESULTS
from planwire.chat.stream import units
from planwire.model.plan import Fields
from tests.chat.test_formats import complete, understood
from tests.chats import Chat, event, plan, says
from tests.sdk_types import blocks, example, items

#: Who answers a call of the model, in these tests.
CLIENT, SERVER = "client", "server"
OUTPUTS = {
    **{f"{kind}_call": f"{kind}_call_output" for kind in ("function", "custom_tool", "computer", "local_shell")},
    **{f"{kind}_call": f"{kind}_call_output" for kind in ("shell", "apply_patch")},
    "tool_search_call": "tool_search_output",
    "mcp_approval_request": "mcp_approval_response",
    "program": "program_output",
}
#: The calls that a program of the server's can make.
NESTED = ("function_call", "custom_tool_call", "shell_call", "apply_patch_call")
HOSTED = ("program", "tool_search_call", "shell_call")
PLAIN_ITEMS = sorted(responses.PLAIN - {"agent_message", "compaction_trigger", "reasoning"})
PLAIN_BLOCKS = (
    "text",
    "thinking",
    "redacted_thinking",
    "compaction",
    "container_upload",
    "fallback",
    "mcp_tool_listing",
)
PLAIN_PARTS: tuple[Fields, ...] = (
    {"text": "words"},
    {"text": "hm", "thought": True},
    {"inlineData": {"mimeType": "image/png", "data": base64.b64encode(b"x").decode()}},
    {"fileData": {"fileUri": "gs://a/b", "mimeType": "image/png"}},
)


class Calls:
    """The calls of one chat: which there are, who answers each, and how it looks."""

    def __init__(self, form: str) -> None:
        self.chat = Chat(form)
        self.made: dict[str, tuple[str, str]] = {}
        self.owed: list[str] = []  # by the server, which answers once, and before the chat goes on without it
        self.paid: list[str] = []

    def call(self, kind: str, who: str) -> Fields:
        """The item, block or part of a new call."""
        call_id, owed = f"c{len(self.made)}", self.owed
        nested = {} if who == SERVER or not owed else {"caller": {"type": "program", "caller_id": owed[-1]}}
        self.made[call_id] = (kind, who)
        if who == SERVER:
            self.owed.append(call_id)
        match self.chat.form:
            case "openai-responses":
                where = {"environment": {"type": "container_reference", "container_id": "x"}} if who == SERVER else {}
                given = {"id": f"i_{call_id}", "call_id": call_id, "execution": who, **where, **nested}
                return example(items()[kind], **{**given, **({"id": call_id} if kind.startswith("mcp") else {})})
            case "anthropic":
                tool = {"caller": {"type": "code_execution_20250825", "tool_id": owed[-1]}} if nested else {}
                return example(blocks()[kind], id=call_id, input={}, **tool)
        if kind == "executableCode":
            return {kind: {"id": call_id, "code": "1", "language": "PYTHON"}}
        named = {"name": "read"} if who == CLIENT else {"toolType": "URL_CONTEXT"}
        return {kind: {"id": call_id, **named, "args": {}}}

    def answer(self, call_id: str) -> Fields:
        """The item, block or part that answers a call."""
        kind, who = self.made[call_id]
        if who == SERVER:
            self.owed.remove(call_id)
            self.paid.append(call_id)
        match self.chat.form:
            case "openai-responses":
                output = OUTPUTS[kind]
                ids = {"call_id": call_id, "approval_request_id": call_id, "execution": who}
                return example(items()[output], **ids, id=call_id if output.startswith("local") else f"o_{call_id}")
            case "anthropic":
                result = "tool_result" if who == CLIENT else sorted(HOSTED_RESULTS)[len(call_id) % len(HOSTED_RESULTS)]
                return example(blocks()[result], tool_use_id=call_id)
        if kind == "executableCode":
            return {"codeExecutionResult": {"id": call_id, "outcome": "OUTCOME_OK", "output": "1"}}
        field, named = ("functionResponse", {"name": "read"}) if who == CLIENT else ("toolResponse", {})
        return {field: {"id": call_id, **named, "response": {}}}

    def add(self, *parts: Fields, role: str) -> None:
        """Add items, or one message of blocks or parts."""
        if self.chat.form == "openai-responses":
            self.chat.add(*parts)
        elif self.chat.form == "anthropic":
            self.chat.add({"role": role, "content": [*parts]})
        else:
            self.chat.add({"role": "model" if role == "assistant" else role, "parts": [*parts]})


CALLABLE: dict[str, dict[str, tuple[str, ...]]] = {
    "openai-responses": {CLIENT: tuple(kind for kind in OUTPUTS if kind != "program"), SERVER: HOSTED},
    "anthropic": {CLIENT: ("tool_use",), SERVER: ("server_tool_use", "mcp_tool_use")},
    "gemini": {CLIENT: ("functionCall",), SERVER: ("executableCode", "toolCall")},
}
CALLED = st.sampled_from((CLIENT, SERVER))


def plain(form: str, number: int) -> Fields:
    if form == "openai-responses":
        kind = PLAIN_ITEMS[number % len(PLAIN_ITEMS)]
        return example(items()[kind], role="developer" if kind == "additional_tools" else "assistant")
    if form == "anthropic":
        return example(blocks()[PLAIN_BLOCKS[number % len(PLAIN_BLOCKS)]])
    return PLAIN_PARTS[number % len(PLAIN_PARTS)]


def speak(who: list[str], numbers: list[int], *, answered: bool) -> Callable[[Calls], None]:
    """The model says something and makes calls; the server answers its own at once, or not yet."""

    def move(calls: Calls) -> None:
        form = calls.chat.form
        if form == "gemini" or CLIENT not in who:
            calls.owed.clear()
        words = [plain(form, number) for number in numbers]
        goes_on = bool(calls.owed)  # a program of the server's makes its next calls before the model says anything
        said = [] if goes_on else [*words]
        for number, each in enumerate(sorted(who) if goes_on else who):
            kinds = NESTED if goes_on and form == "openai-responses" and each == CLIENT else CALLABLE[form][each]
            said.append(calls.call(kinds[(number + len(calls.made)) % len(kinds)], each))
            if each == SERVER and answered:
                said.append(calls.answer([*calls.made][-1]))
        calls.add(*said, *(words if goes_on else ()), role="assistant")

    return move


def answer(who: str, number: int) -> Callable[[Calls], None]:
    """An answer to any call ever made, in time or not."""

    def move(calls: Calls) -> None:
        by_client = [call_id for call_id, made in calls.made.items() if made[1] == CLIENT]
        found = by_client if who == CLIENT else calls.owed
        if found:
            call_id = found[-1 - number % len(found)]
            calls.add(calls.answer(call_id), role="user" if who == CLIENT else "assistant")

    return move


def hide(number: int) -> Callable[[Calls], None]:
    def move(calls: Calls) -> None:
        name = f"h{len(calls.chat.added)}"
        calls.chat.add(plan(name, version=number) if number else event(name, "tick"))

    return move


def stop(calls: Calls) -> None:
    calls.owed.clear()
    calls.chat.add(says(calls.chat.form, "Stop"))


MOVES = st.one_of(
    st.builds(
        lambda who, numbers, answered: speak(who, numbers, answered=answered),
        st.lists(CALLED, max_size=3),
        st.lists(st.integers(0, 20), min_size=1, max_size=2),
        st.booleans(),
    ),
    st.builds(answer, CALLED, st.integers(0, 2)),
    st.builds(answer, st.just(CLIENT), st.integers(0, 2)),
    st.builds(hide, st.integers(0, 3)),
    st.just(stop),
    st.just(lambda calls: calls.chat.ask()),
)


@cache
def of_anthropic() -> Any:
    from anthropic.types.beta import BetaMessageParam
    from pydantic import TypeAdapter

    return TypeAdapter(BetaMessageParam)


def assert_the_package_takes(form: str, message: Fields) -> None:
    known = complete(of_anthropic().validate_python(message)) if form == "anthropic" else understood(form, message)
    assert known == message


def places(form: str, context: list[Fields], call_id: str) -> list[int]:
    """Where a call and its answers stand. (An item of a call has its id; so has its answer.)"""
    if form == "openai-responses":
        keys = ("call_id", "approval_request_id", "id")
        return [at for at, each in enumerate(context) if call_id in (each.get(key) for key in keys)]
    inner = [(at, part) for at, each in enumerate(context) for part in each.get("parts") or each["content"]]
    named = [(at, next(iter(part.values())) if form == "gemini" else part) for at, part in inner if part != "Stop"]
    found = [(at, part) for at, part in named if isinstance(part, dict)]
    return [at for at, part in found if call_id in (part.get("id"), part.get("tool_use_id"))]


@pytest.mark.parametrize("form", list(CALLABLE))
@given(st.lists(MOVES, max_size=12))
def test_any_chat_of_every_type_is_valid_and_no_pair_is_torn(form: str, moves: list[Callable[[Calls], None]]) -> None:
    calls = Calls(form)
    for move in moves:
        move(calls)
    context = calls.chat.ask()
    for message in context:
        assert_the_package_takes(form, message)
    told = [at for at, each in enumerate(context) if str(each).find("<plan ") >= 0 or str(each).find("<event ") >= 0]
    for call_id, (kind, who) in calls.made.items():
        [start, *answers] = places(form, context, call_id)
        expected = 1 if who == CLIENT or call_id in calls.paid else 0
        assert len(answers) == expected, f"{kind} {call_id} is answered once, and no answer of the server is invented"
        assert not [at for at in told if answers and start < at < answers[0]], f"{kind} {call_id} is torn"
    for earlier, later in zip(calls.chat.requests, calls.chat.requests[1:], strict=False):
        assert later[: len(earlier)] == earlier, "a request begins with the one before it"
    spans = units(calls.chat.stream.messages, chat_format(form))
    assert [index for span in spans for index in span] == [*range(len(calls.chat.stream))]
