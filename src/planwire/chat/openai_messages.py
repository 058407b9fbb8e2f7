"""The messages of OpenAI's chat completions: tool calls, and the function calls that came before them."""

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from planwire.chat.calls import CANCELLED_TEXT, TEXT, CallRef, objects, text
from planwire.model.plan import Fields

#: The roles that the provider takes.
ROLES: Final = frozenset(("assistant", "developer", "function", "system", "tool", "user"))
#: The types of tool calls: each has its name in a field of that name.
CALL_TYPES: Final = ("function", "custom")
#: Refact stores the result of a call that changed files as a `diff`; the provider gets it as a tool's result.
_DIFF: Final = "diff"
RESULT_ROLES: Final = ("tool", "function", _DIFF)


def calls(message: Fields) -> Sequence[CallRef]:
    made = objects(message.get("tool_calls"))
    found = [CallRef(text(call.get("id")), _name(call.get("function") or call.get("custom"))) for call in made]
    return [*found, CallRef("", _name(message["function_call"]))] if message.get("function_call") else found


def results(message: Fields) -> Sequence[CallRef]:
    role = message.get("role")
    if role not in RESULT_ROLES or (role == _DIFF and not message.get("tool_call_id")):
        return ()
    return (CallRef(text(message.get("tool_call_id")), _name(message)),)


def cancellation(call: CallRef) -> Fields:
    if not call.id:
        return {"role": "function", "name": call.name, "content": CANCELLED_TEXT}
    return {"role": "tool", "tool_call_id": call.id, "content": CANCELLED_TEXT}


def as_result(message: Fields) -> Fields:
    """The result of a tool with the role `tool`, whatever its own role is."""
    content: Any = message.get("content")
    words = content if isinstance(content, str) else msgspec.json.encode(content).decode()
    return {"role": "tool", "tool_call_id": message["tool_call_id"], "content": words}


def part(kind: str, data: str) -> Fields:
    """A part of a message: a text, or an image as base64."""
    if kind == TEXT:
        return {"type": "text", "text": data}
    return {"type": "image_url", "image_url": {"url": f"data:{kind};base64,{data}"}}


def _name(value: Any) -> str:
    return text(value.get("name")) if isinstance(value, dict) else ""
