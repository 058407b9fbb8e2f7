"""Chats for tests: an author's messages in every provider's format, hidden messages, and whole streams by chance."""

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from planwire.chat import (
    CHAT_FORMATS,
    ChatStream,
    EventMessage,
    Format,
    Ordinary,
    PlanMessage,
    Stored,
    chat_format,
)
from planwire.chat.roles import PLAN_DELTA, SUBKINDS
from planwire.model.plan import Fields
from tests.strategies import objects, texts

FORMATS = tuple(CHAT_FORMATS)

# An author's messages, in every format


def says(form: str, text: str) -> Fields:
    """A person's message."""
    forms: dict[str, Fields] = {
        "openai-chat": {"role": "user", "content": text},
        "openai-responses": {"role": "user", "content": text},
        "anthropic": {"role": "user", "content": text},
        "gemini": {"role": "user", "parts": [{"text": text}]},
    }
    return forms[form]


def answers(form: str, text: str) -> Fields:
    """The model's message."""
    content = [{"type": "output_text", "text": text, "annotations": []}]
    forms: dict[str, Fields] = {
        "openai-chat": {"role": "assistant", "content": text},
        "openai-responses": {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "status": "completed",
            "content": content,
        },
        "anthropic": {"role": "assistant", "content": [{"type": "text", "text": text}]},
        "gemini": {"role": "model", "parts": [{"text": text}]},
    }
    return forms[form]


def calls(form: str, *ids: str) -> list[Fields]:
    """The messages with which the model calls tools."""
    match form:
        case "openai-chat":
            made: list[Fields] = [
                {"id": each, "type": "function", "function": {"name": "read", "arguments": "{}"}} for each in ids
            ]
            return [{"role": "assistant", "content": None, "tool_calls": made}]
        case "openai-responses":
            reasoning = {"type": "reasoning", "id": f"rs_{ids[0]}", "summary": []}
            return [
                reasoning,
                *({"type": "function_call", "call_id": each, "name": "read", "arguments": "{}"} for each in ids),
            ]
        case "anthropic":
            used = [{"type": "tool_use", "id": each, "name": "read", "input": {}} for each in ids]
            return [{"role": "assistant", "content": used}]
    return [{"role": "model", "parts": [{"functionCall": {"id": each, "name": "read", "args": {}}} for each in ids]}]


def result(form: str, call_id: str, text: str = "done") -> Fields:
    """The answer to a call."""
    answer = {"id": call_id, "name": "read", "response": {"output": text}}
    forms: dict[str, Fields] = {
        "openai-chat": {"role": "tool", "tool_call_id": call_id, "content": text},
        "openai-responses": {"type": "function_call_output", "call_id": call_id, "output": text},
        "anthropic": {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": call_id, "content": text}],
        },
        "gemini": {"role": "user", "parts": [{"functionResponse": answer}]},
    }
    return forms[form]


def parts(message: Fields) -> list[Any]:
    """The blocks of a message, where it has blocks."""
    found = message.get("content", message.get("parts"))
    return found if isinstance(found, list) else []


def called(form: str, message: Fields) -> list[str]:
    """The ids of the calls that a message makes, found without planwire's help."""
    match form:
        case "openai-chat":
            return [call["id"] for call in message.get("tool_calls", ())]
        case "openai-responses":
            return [message["call_id"]] if message.get("type") == "function_call" else []
        case "anthropic":
            return [part["id"] for part in parts(message) if part.get("type") == "tool_use"]
    return [part["functionCall"]["id"] for part in parts(message) if "functionCall" in part]


def answered(form: str, message: Fields) -> list[str]:
    """The ids of the calls that a message answers."""
    match form:
        case "openai-chat":
            return [message["tool_call_id"]] if message["role"] == "tool" else []
        case "openai-responses":
            return [message["call_id"]] if message.get("type") == "function_call_output" else []
        case "anthropic":
            return [part["tool_use_id"] for part in parts(message) if part.get("type") == "tool_result"]
    return [part["functionResponse"]["id"] for part in parts(message) if "functionResponse" in part]


def assert_a_provider_takes(form: str, context: Iterable[Fields]) -> None:
    """Results stand right behind their calls, each exactly once, and nobody has a role that is ours."""
    waiting: list[str] = []
    for message in context:
        assert message.get("role") not in ("plan", "event")
        results = answered(form, message)
        made = called(form, message)
        if waiting and not (form == "openai-responses" and message.get("role") != "user" and not results):
            assert results, f"{message} stands between calls and their results"
            if form in ("anthropic", "gemini"):
                assert sorted(results) == sorted(waiting), "the results of a batch are one message"
        for each in results:
            waiting.remove(each)
        waiting += made
    assert not waiting, "every call has a result"


# Hidden messages


def plan(
    message_id: str, content: str = "- [ ] a", plan_id: str = "main", version: int = 1, **more: Any
) -> PlanMessage:
    return PlanMessage(message_id, content, {"id": plan_id, "version": version, **more})


def delta(message_id: str, note: str = "", plan_id: str = "main", **payload: Any) -> EventMessage:
    whole = {"plan_id": plan_id, **payload}
    return EventMessage(message_id, note, {"subkind": PLAN_DELTA, "source": "tool.update_plan", "payload": whole})


def event(message_id: str, subkind: str, source: str = "test", content: str = "", **payload: Any) -> EventMessage:
    return EventMessage(message_id, content, {"subkind": subkind, "source": source, "payload": payload})


# Streams by chance


class Chat:
    """A stream that is used as a session uses it. What an author says has no id of its own."""

    def __init__(self, form: str) -> None:
        self.form = form
        self.stream = ChatStream(chat_format(form))
        self.added: list[Stored] = []
        self.requests: list[list[Fields]] = []
        self.made: list[str] = []

    def add(self, *messages: Fields | Stored) -> None:
        for message in messages:
            stored = Ordinary(f"m{len(self.added)}", message) if isinstance(message, dict) else message
            self.added.append(stored)
            self.stream.add(stored)

    def call(self, number: int) -> None:
        ids = [f"c{len(self.made) + each}" for each in range(number)]
        self.made += ids
        self.add(*calls(self.form, *ids))

    def answer(self, number: int) -> None:
        """Answer one of the calls that were ever made, or one that never was."""
        self.add(result(self.form, self.made[-1 - number % len(self.made)] if self.made else "never"))

    def ask(self) -> list[Fields]:
        """What is sent now. Calls without an answer are cancelled for good."""
        for cancelled in self.stream.unanswered():
            self.stream.add(cancelled)
        self.requests.append(self.stream.context())
        return self.requests[-1]


_hidden: SearchStrategy[Callable[[str], Stored]] = st.one_of(
    st.builds(
        lambda text, version, plan_id: lambda name: plan(name, text, plan_id, version),
        texts,
        st.integers(1, 3),
        st.sampled_from(("main", "other")),
    ),
    st.builds(
        lambda note, plan_id, more: lambda name: delta(name, note, plan_id, **more),
        texts,
        st.sampled_from(("main", "other")),
        st.sampled_from(({"seq": 1}, {"seq": 2, "wish": True}, {"withdrawn": 2}, {"removed": True})),
    ),
    st.builds(
        lambda subkind, source, payload: (
            lambda name: EventMessage(name, "", {"subkind": subkind, "source": source, "payload": payload})
        ),
        st.sampled_from((*SUBKINDS, "something_new")),
        st.sampled_from(("one", "two")),
        objects,
    ),
)

_moves: SearchStrategy[Callable[[Chat], object]] = st.one_of(
    texts.map(lambda text: lambda chat: chat.add(says(chat.form, text))),
    texts.map(lambda text: lambda chat: chat.add(answers(chat.form, text))),
    st.integers(1, 3).map(lambda number: lambda chat: chat.call(number)),
    st.integers(0, 2).map(lambda number: lambda chat: chat.answer(number)),
    st.integers(0, 2).map(lambda number: lambda chat: chat.answer(number)),
    _hidden.map(lambda make: lambda chat: chat.add(make(f"h{len(chat.added)}"))),
    _hidden.map(lambda make: lambda chat: chat.add(make(f"h{len(chat.added)}"))),
    st.just(lambda chat: chat.ask()),
)


def chats(form: str, max_size: int = 24) -> SearchStrategy[Chat]:
    """Chats in which anything may happen at any time, played to the end."""
    return st.lists(_moves, max_size=max_size).map(lambda moves: _played(form, moves))


def _played(form: str, moves: Iterable[Callable[[Chat], object]]) -> Chat:
    chat = Chat(form)
    for move in moves:
        move(chat)
    chat.ask()
    return chat


def rendered(form: str, messages: Iterable[Stored]) -> Iterator[Fields]:
    """What a stream of these messages shows."""
    found: Format = chat_format(form)
    yield from ChatStream(found, messages).context()


def by_fours(message: Fields) -> int:
    """A counter of tokens that tests can calculate with: four bytes each."""
    return len(json.dumps(message, separators=(",", ":"))) // 4 + 1
