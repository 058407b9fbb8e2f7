"""A scripted turn in each provider's format: one JSON answer, or a stream of events."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from msgspec import Struct

from planwire.check.script import ModelTurn

Json: TypeAlias = dict[str, Any]
Body: TypeAlias = Mapping[str, Any]
Event: TypeAlias = tuple[str | None, Json | str]
"""A name, where the provider names its events, and the data."""


class Asked(Struct, frozen=True):
    """One request: its body, and what an answer to it needs from outside: the time, and new ids by their prefix."""

    body: Body
    now: int
    new_id: Callable[[str], str]


class Api(Struct, frozen=True):
    """One provider's API: which paths are its own, and how it words a scripted turn."""

    name: str
    owns: Callable[[str], bool]
    streams: Callable[[str, Body], bool]
    tools: Callable[[Body], dict[str, Json]]
    whole: Callable[[ModelTurn, Asked], Json]
    events: Callable[[ModelTurn, Asked], Iterator[Event]]


def api_for(path: str) -> Api | None:
    """The API that a path without its query belongs to."""
    return next((api for api in APIS if api.owns(path)), None)


def _halves(text: str) -> Iterator[str]:
    """Two pieces, as a stream would cut a text, in the middle of a word if need be."""
    middle = len(text) // 2
    yield from (piece for piece in (text[:middle], text[middle:]) if piece)


def _asked_to_stream(_: str, body: Body) -> bool:
    return bool(body.get("stream"))


def _anthropic_whole(turn: ModelTurn, asked: Asked) -> Json:
    content: list[Json] = [{"type": "text", "text": turn.text}] if turn.text or not turn.calls else []
    content += [
        {"type": "tool_use", "id": asked.new_id("toolu_"), "name": call.name, "input": call.arguments}
        for call in turn.calls
    ]
    return {
        "id": asked.new_id("msg_"),
        "type": "message",
        "role": "assistant",
        "model": asked.body.get("model", ""),
        "content": content,
        "stop_reason": "tool_use" if turn.calls else "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": turn.usage.input,
            "output_tokens": turn.usage.output,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
        },
    }


def _anthropic_events(turn: ModelTurn, asked: Asked) -> Iterator[Event]:
    def event(type: str, **fields: Any) -> Event:
        return type, {"type": type, **fields}

    message = _anthropic_whole(turn, asked)
    yield event("message_start", message={**message, "content": [], "stop_reason": None})
    for index, block in enumerate(message["content"]):
        if block["type"] == "text":
            yield event("content_block_start", index=index, content_block={"type": "text", "text": ""})
            deltas = [{"type": "text_delta", "text": piece} for piece in _halves(block["text"])]
        else:
            yield event("content_block_start", index=index, content_block={**block, "input": {}})
            pieces = _halves(json.dumps(block["input"]))
            deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
        for delta in deltas:
            yield event("content_block_delta", index=index, delta=delta)
        yield event("content_block_stop", index=index)
    ending = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield event("message_delta", delta=ending, usage=message["usage"])
    yield event("message_stop")


def _chat_usage(turn: ModelTurn) -> Json:
    taken, said = turn.usage.input, turn.usage.output
    return {"prompt_tokens": taken, "completion_tokens": said, "total_tokens": taken + said}


def _chat_calls(turn: ModelTurn, asked: Asked) -> list[Json]:
    return [
        {
            "id": asked.new_id("call_"),
            "type": "function",
            "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
        }
        for call in turn.calls
    ]


def _chat_whole(turn: ModelTurn, asked: Asked) -> Json:
    message: Json = {"role": "assistant", "content": turn.text or None, "refusal": None}
    if turn.calls:
        message["tool_calls"] = _chat_calls(turn, asked)
    ending = "tool_calls" if turn.calls else "stop"
    return {
        "id": asked.new_id("chatcmpl-"),
        "object": "chat.completion",
        "created": asked.now,
        "model": asked.body.get("model", ""),
        "choices": [{"index": 0, "message": message, "finish_reason": ending, "logprobs": None}],
        "usage": _chat_usage(turn),
    }


def _chat_events(turn: ModelTurn, asked: Asked) -> Iterator[Event]:
    head = {
        "id": asked.new_id("chatcmpl-"),
        "object": "chat.completion.chunk",
        "created": asked.now,
        "model": asked.body.get("model", ""),
    }

    def chunk(delta: Json, ending: str | None = None) -> Event:
        return None, {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": ending}]}

    yield chunk({"role": "assistant", "content": ""})
    for piece in _halves(turn.text):
        yield chunk({"content": piece})
    for index, call in enumerate(_chat_calls(turn, asked)):
        name, arguments = call["function"]["name"], call["function"]["arguments"]
        yield chunk({"tool_calls": [{**call, "index": index, "function": {"name": name, "arguments": ""}}]})
        for piece in _halves(arguments):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield chunk({}, "tool_calls" if turn.calls else "stop")
    if (asked.body.get("stream_options") or {}).get("include_usage"):
        yield None, {**head, "choices": [], "usage": _chat_usage(turn)}
    yield None, "[DONE]"


def _in_its_group(name: str) -> Json:
    """The name of a tool in a group of tools, such as an MCP server's: `group.name`."""
    group, _, own = name.rpartition(".")
    return {"name": own, "namespace": group} if group else {"name": own}


def _responses_whole(turn: ModelTurn, asked: Asked) -> Json:
    output: list[Json] = []
    if turn.text or not turn.calls:
        part = {"type": "output_text", "text": turn.text, "annotations": []}
        output.append(
            {
                "type": "message",
                "id": asked.new_id("msg_"),
                "role": "assistant",
                "status": "completed",
                "content": [part],
            }
        )
    output += [
        {
            "type": "function_call",
            "id": asked.new_id("fc_"),
            "call_id": asked.new_id("call_"),
            **_in_its_group(call.name),
            "arguments": json.dumps(call.arguments),
            "status": "completed",
        }
        for call in turn.calls
    ]
    taken, said = turn.usage.input, turn.usage.output
    return {
        "id": asked.new_id("resp_"),
        "object": "response",
        "created_at": asked.now,
        "model": asked.body.get("model", ""),
        "status": "completed",
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": taken,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": said,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": taken + said,
        },
    }


def _responses_events(turn: ModelTurn, asked: Asked) -> Iterator[Event]:
    whole = _responses_whole(turn, asked)
    started = {**whole, "status": "in_progress", "output": [], "usage": None}
    events: list[Json] = [{"type": "response.created", "response": started}]
    for index, item in enumerate(whole["output"]):
        place = {"output_index": index, "item_id": item["id"]}
        if item["type"] == "message":
            part, blank = item["content"][0], {"status": "in_progress", "content": []}
            inside = {**place, "content_index": 0}
            kind, said = "response.output_text", part["text"]
            before = [{"type": "response.content_part.added", **inside, "part": {**part, "text": ""}}]
            after = [
                {"type": f"{kind}.done", **inside, "text": said, "logprobs": []},
                {"type": "response.content_part.done", **inside, "part": part},
            ]
        else:
            blank, inside = {"status": "in_progress", "arguments": ""}, place
            kind, said = "response.function_call_arguments", item["arguments"]
            before, after = [], [{"type": f"{kind}.done", **place, "name": item["name"], "arguments": said}]
        events += [
            {"type": "response.output_item.added", "output_index": index, "item": {**item, **blank}},
            *before,
            *({"type": f"{kind}.delta", **inside, "delta": piece, "logprobs": []} for piece in _halves(said)),
            *after,
            {"type": "response.output_item.done", "output_index": index, "item": item},
        ]
    events.append({"type": "response.completed", "response": whole})
    for number, event in enumerate(events):
        yield event["type"], {**event, "sequence_number": number}


def _gemini_whole(turn: ModelTurn, asked: Asked) -> Json:
    parts: list[Json] = [{"text": turn.text}] if turn.text or not turn.calls else []
    parts += [{"functionCall": {"id": asked.new_id("fc-"), "name": c.name, "args": c.arguments}} for c in turn.calls]
    taken, said = turn.usage.input, turn.usage.output
    return {
        "candidates": [{"index": 0, "content": {"role": "model", "parts": parts}, "finishReason": "STOP"}],
        "usageMetadata": {
            "promptTokenCount": taken,
            "candidatesTokenCount": said,
            "totalTokenCount": taken + said,
        },
        "modelVersion": "scripted",
        "responseId": asked.new_id(""),
    }


def _gemini_events(turn: ModelTurn, asked: Asked) -> Iterator[Event]:
    yield None, _gemini_whole(turn, asked)


#: Where a tool keeps the schema of its arguments.
_SCHEMAS: Final = ("parameters", "input_schema", "parametersJsonSchema")


def _named(tools: Any, within: str | None = None) -> dict[str, Json]:
    """The schemas of tools by their names. `within` is the member of each that holds the tool, or several of them."""
    found: dict[str, Json] = {}
    for tool in tools if isinstance(tools, list) else ():
        inner = tool.get(within, tool) if within and isinstance(tool, dict) else tool
        for each in inner if isinstance(inner, list) else [inner]:
            if isinstance(each, dict):
                schema: Json = next((each[key] for key in _SCHEMAS if isinstance(each.get(key), dict)), {})
                found[str(each.get("name") or each.get("type", ""))] = schema
    return found


APIS = (
    Api(
        "anthropic",
        owns=lambda path: path.endswith("/messages"),
        streams=_asked_to_stream,
        tools=lambda body: _named(body.get("tools")),
        whole=_anthropic_whole,
        events=_anthropic_events,
    ),
    Api(
        "openai-chat",
        owns=lambda path: path.endswith("/chat/completions"),
        streams=_asked_to_stream,
        tools=lambda body: _named(body.get("tools"), "function"),
        whole=_chat_whole,
        events=_chat_events,
    ),
    Api(
        "openai-responses",
        owns=lambda path: path.endswith("/responses"),
        streams=_asked_to_stream,
        tools=lambda body: _named(body.get("tools")),
        whole=_responses_whole,
        events=_responses_events,
    ),
    Api(
        "gemini",
        owns=lambda path: path.endswith((":generateContent", ":streamGenerateContent")),
        streams=lambda path, _: path.endswith(":streamGenerateContent"),
        tools=lambda body: _named(body.get("tools"), "functionDeclarations"),
        whole=_gemini_whole,
        events=_gemini_events,
    ),
)
