"""The providers' formats: one table, one row per format.

An author's own messages pass through as they are. A row says how to give a model a text as user context, which tool
calls a message makes or answers, how to answer an interrupted call, and how to declare a tool. A new format is a new
row, with its functions, in this file.

Anthropic caches a prompt up to breakpoints on blocks, at most four in a request. planwire sets two, on the first plans,
and leaves two to the author for tools and system prompt. A breakpoint never moves: a provider must see every message
again byte for byte. One that follows the end of the chat is for the request itself (`cache_control={"type":
"ephemeral"}`). An author who sets breakpoints in messages knows better, so from then on planwire sets none.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeVar

from msgspec import Struct

from planwire.errors import FormatError
from planwire.model.plan import Fields

__all__ = [
    "BREAKPOINTS",
    "CHAT_FORMATS",
    "CallRef",
    "Format",
    "chat_format",
    "has_breakpoint",
    "still_open",
    "with_breakpoint",
]

Key = TypeVar("Key")

#: How many breakpoints planwire sets in a request.
BREAKPOINTS: Final = 2
CANCELLED_TEXT: Final = "cancelled: the turn was interrupted before this call was answered"


class CallRef(Struct, frozen=True, gc=False):
    """A tool call, as its message or its result names it. Old messages and Gemini's may have no id: then the name
    counts."""

    id: str
    name: str = ""
    kind: str = ""

    def answers(self, call: "CallRef") -> bool:
        return self.id == call.id if self.id and call.id else self.name == call.name


def still_open(calls: Mapping[Key, CallRef], results: Iterable[CallRef]) -> dict[Key, CallRef]:
    """The calls that these results leave unanswered. A result answers one call, the oldest that it names."""
    remaining = dict(calls)
    for result in results:
        answered = next((key for key, call in remaining.items() if result.answers(call)), None)
        if answered is not None:
            del remaining[answered]
    return remaining


class Format(Struct, frozen=True, kw_only=True):
    """One row: the shape of a provider's messages and tools."""

    name: str
    context: Callable[[str], Fields]
    calls: Callable[[Fields], Sequence[CallRef]]
    results: Callable[[Fields], Sequence[CallRef]]
    cancelled: Callable[[CallRef], Fields]
    #: The declaration of a tool: name, description, schema of its arguments.
    tool: Callable[[str, str, Fields], Fields]
    #: The field that holds all answers to one batch of calls; None if the provider takes a message for each.
    batch: str | None = None
    #: One answer of the model is several items, which follow each other.
    in_items: bool = False
    #: Messages mark how far the provider may cache the prompt.
    has_breakpoints: bool = False

    def answers(self, messages: Sequence[Fields]) -> list[Fields]:
        """The answers to a batch of calls, as the provider takes them: results come before anything else."""
        field = self.batch
        if field is None or len(messages) < 2:
            return list(messages)
        parts = [part for message in messages for part in message[field]]
        return [{**messages[0], field: sorted(parts, key=lambda part: not self.results({field: [part]}))}]

    def is_of_model(self, message: Fields) -> bool:
        """Whether an item is part of an answer of the model (formats in items only)."""
        return self.in_items and not self.results(message) and message.get("role", "assistant") == "assistant"

    def stands_for_all_before(self, message: Fields) -> bool:
        """Whether a message stands for the whole chat before it."""
        return self.in_items and message.get("type") == "compaction"

    def holds_the_next(self, message: Fields) -> bool:
        """Whether the item that follows belongs to this one, so that nothing may come between them."""
        return self.in_items and message.get("type") == "reasoning"


def _objects(values: Any) -> Sequence[Fields]:
    return [value for value in values if isinstance(value, dict)] if isinstance(values, list) else ()


def _name(value: Any) -> str:
    return _text(value.get("name")) if isinstance(value, dict) else ""


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def has_breakpoint(message: Fields) -> bool:
    """Whether the author put a breakpoint into a message, on a block or inside the result of a tool."""
    return any("cache_control" in block or has_breakpoint(block) for block in _objects(message.get("content")))


def with_breakpoint(message: Fields) -> Fields:
    """A message of blocks, with a breakpoint on the last of them."""
    *blocks, last = message["content"]
    return {**message, "content": [*blocks, {**last, "cache_control": {"type": "ephemeral"}}]}


# OpenAI chat completions, and the function calls that came before its tool calls


def _openai_calls(message: Fields) -> Sequence[CallRef]:
    calls = _objects(message.get("tool_calls"))
    found = [CallRef(_text(call.get("id")), _name(call.get("function") or call.get("custom"))) for call in calls]
    return [*found, CallRef("", _name(message["function_call"]))] if message.get("function_call") else found


def _openai_results(message: Fields) -> Sequence[CallRef]:
    if message.get("role") not in ("tool", "function"):
        return ()
    return (CallRef(_text(message.get("tool_call_id")), _name(message)),)


def _openai_cancelled(call: CallRef) -> Fields:
    if not call.id:
        return {"role": "function", "name": call.name, "content": CANCELLED_TEXT}
    return {"role": "tool", "tool_call_id": call.id, "content": CANCELLED_TEXT}


# OpenAI responses: one item each. An item with a `call_id` that is not an output waits for its output.


def _responses_calls(item: Fields) -> Sequence[CallRef]:
    kind, call_id = _text(item.get("type")), _text(item.get("call_id"))
    return (CallRef(call_id, _text(item.get("name")), kind),) if call_id and kind.endswith("_call") else ()


def _responses_results(item: Fields) -> Sequence[CallRef]:
    if not _text(item.get("type")).endswith("_call_output"):
        return ()
    return (CallRef(_text(item.get("call_id") or item.get("id"))),)


#: What the output of a call holds where it is not text.
_CANCELLED_OUTPUTS: Final[dict[str, Fields]] = {
    "computer_call": {"output": {"type": "computer_screenshot"}, "status": "incomplete"},
    "shell_call": {"output": [{"stdout": "", "stderr": CANCELLED_TEXT, "outcome": {"type": "exit", "exit_code": 1}}]},
    "apply_patch_call": {"output": CANCELLED_TEXT, "status": "failed"},
}


def _responses_cancelled(call: CallRef) -> Fields:
    key = "id" if call.kind == "local_shell_call" else "call_id"
    output = _CANCELLED_OUTPUTS.get(call.kind, {"output": CANCELLED_TEXT})
    return {"type": f"{call.kind}_output", key: call.id, **output}


# Anthropic: the results of a batch stand in the one user message behind it, before anything else in it.


def _anthropic_calls(message: Fields) -> Sequence[CallRef]:
    blocks = _objects(message.get("content"))
    calls = [block for block in blocks if block.get("type") == "tool_use"]
    return [CallRef(_text(call.get("id")), _text(call.get("name"))) for call in calls]


def _anthropic_results(message: Fields) -> Sequence[CallRef]:
    blocks = _objects(message.get("content"))
    return [CallRef(_text(block.get("tool_use_id"))) for block in blocks if _is_result(block)]


def _is_result(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") == "tool_result"


def _anthropic_cancelled(call: CallRef) -> Fields:
    result = {"type": "tool_result", "tool_use_id": call.id, "content": CANCELLED_TEXT, "is_error": True}
    return {"role": "user", "content": [result]}


# Gemini: the same, in parts. Both the REST spelling and that of the Python package are read.


def _gemini_parts(message: Fields, *keys: str) -> Sequence[CallRef]:
    parts = _objects(message.get("parts"))
    calls = _objects([part[key] for part in parts for key in keys if key in part])
    return [CallRef(_text(call.get("id")), _text(call.get("name"))) for call in calls]


def _gemini_cancelled(call: CallRef) -> Fields:
    answer: Fields = {"name": call.name, "response": {"error": CANCELLED_TEXT}}
    return {"role": "user", "parts": [{"functionResponse": {"id": call.id, **answer} if call.id else answer}]}


_TABLE: Final = (
    Format(
        name="openai-chat",
        context=lambda text: {"role": "user", "content": text},
        calls=_openai_calls,
        results=_openai_results,
        cancelled=_openai_cancelled,
        tool=lambda name, words, schema: {
            "type": "function",
            "function": {"name": name, "description": words, "parameters": schema},
        },
    ),
    Format(
        name="openai-responses",
        context=lambda text: {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]},
        calls=_responses_calls,
        results=_responses_results,
        cancelled=_responses_cancelled,
        tool=lambda name, words, schema: {
            "type": "function",
            "name": name,
            "description": words,
            "parameters": schema,
            "strict": False,
        },
        in_items=True,
    ),
    Format(
        name="anthropic",
        context=lambda text: {"role": "user", "content": [{"type": "text", "text": text}]},
        calls=_anthropic_calls,
        results=_anthropic_results,
        cancelled=_anthropic_cancelled,
        tool=lambda name, words, schema: {"name": name, "description": words, "input_schema": schema},
        batch="content",
        has_breakpoints=True,
    ),
    Format(
        name="gemini",
        context=lambda text: {"role": "user", "parts": [{"text": text}]},
        calls=lambda message: _gemini_parts(message, "functionCall", "function_call"),
        results=lambda message: _gemini_parts(message, "functionResponse", "function_response"),
        cancelled=_gemini_cancelled,
        tool=lambda name, words, schema: {"name": name, "description": words, "parametersJsonSchema": schema},
        batch="parts",
    ),
)
#: The rows by their names.
CHAT_FORMATS: Final = {form.name: form for form in _TABLE}


def chat_format(name: str) -> Format:
    """The format with this name."""
    try:
        return CHAT_FORMATS[name]
    except KeyError:
        raise FormatError(f"there is no chat format {name!r}: use one of {', '.join(CHAT_FORMATS)}") from None
