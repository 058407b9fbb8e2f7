"""The blocks of Anthropic's messages. The results of a batch of calls are in the one user message after it, before
anything else. The server's results are in a message of the model: that of the call, or a later one.

Anthropic caches a prompt up to breakpoints on blocks, at most four in a request. planwire sets two, on the first plans,
and leaves two to the author for tools and system prompt. A breakpoint never moves: the provider must see every message
again byte for byte. A breakpoint at the end of the chat belongs to the request (`cache_control={"type":
"ephemeral"}`). An author who sets breakpoints in messages knows better, so from then on planwire sets none.
"""

from collections.abc import Sequence
from typing import Final

from planwire.chat.calls import CANCELLED_TEXT, TEXT, CallRef, objects, text, unmatched
from planwire.model.plan import Fields

#: How many breakpoints planwire sets in a request.
BREAKPOINTS: Final = 2

#: The roles that the provider takes.
ROLES: Final = frozenset(("assistant", "system", "user"))
CALL: Final = "tool_use"
RESULT: Final = "tool_result"
#: Calls that the server answers.
HOSTED_CALLS: Final = frozenset(("mcp_tool_use", "server_tool_use"))
HOSTED_RESULTS: Final = frozenset(
    (
        "advisor_tool_result",
        "bash_code_execution_tool_result",
        "code_execution_tool_result",
        "mcp_tool_result",
        "text_editor_code_execution_tool_result",
        "tool_search_tool_result",
        "web_fetch_tool_result",
        "web_search_tool_result",
    )
)
_COMPACTION: Final = "compaction"
PLAIN: Final = frozenset(
    (
        _COMPACTION,
        "container_upload",
        "document",
        "fallback",
        "image",
        "mcp_tool_listing",
        "redacted_thinking",
        "search_result",
        "text",
        "thinking",
        "tool_addition",
        "tool_removal",
    )
)


def calls(message: Fields) -> Sequence[CallRef]:
    """The calls of a message: those for the client, then those that the server has yet to answer."""
    blocks = objects(message.get("content"))
    made = [_call(each) for each in blocks if each.get("type") == CALL]
    return [*made, *_hosted(blocks)[0]]


def _call(block: Fields) -> CallRef:
    caller = block.get("caller")
    tool = text(caller.get("tool_id")) if isinstance(caller, dict) else ""
    return CallRef(text(block.get("id")), text(block.get("name")), caller=tool)


def results(message: Fields) -> Sequence[CallRef]:
    blocks = objects(message.get("content"))
    return [CallRef(text(block.get("tool_use_id"))) for block in blocks if block.get("type") == RESULT]


def answered_by_server(message: Fields) -> Sequence[CallRef]:
    """The calls of earlier messages that the server answers in this one."""
    return _hosted(objects(message.get("content")))[1]


def _hosted(blocks: Sequence[Fields]) -> tuple[list[CallRef], list[CallRef]]:
    made = [each for each in blocks if text(each.get("type")) in HOSTED_CALLS]
    answered = [each for each in blocks if text(each.get("type")) in HOSTED_RESULTS]
    return unmatched(
        [CallRef(text(each.get("id")), kind="server", is_hosted=True) for each in made],
        [CallRef(text(each.get("tool_use_id")), kind="server") for each in answered],
    )


def part(kind: str, data: str) -> Fields:
    """A block of a message: a text, or an image as base64."""
    if kind == TEXT:
        return {"type": "text", "text": data}
    return {"type": "image", "source": {"type": "base64", "media_type": kind, "data": data}}


def cancellation(call: CallRef) -> Fields:
    result = {"type": RESULT, "tool_use_id": call.id, "content": CANCELLED_TEXT, "is_error": True}
    return {"role": "user", "content": [result]}


def stands_for_all_before(message: Fields) -> bool:
    """Whether the server put its summary of all earlier messages here. A failed compaction has no content."""
    blocks = objects(message.get("content"))
    return any(each.get("type") == _COMPACTION and each.get("content") is not None for each in blocks)


def has_breakpoint(message: Fields) -> bool:
    """Whether the author put a breakpoint into a message, on a block or inside the result of a tool."""
    return any("cache_control" in block or has_breakpoint(block) for block in objects(message.get("content")))


def with_breakpoint(message: Fields) -> Fields:
    """A message of blocks, with a breakpoint on the last of them."""
    *blocks, last = message["content"]
    return {**message, "content": [*blocks, {**last, "cache_control": {"type": "ephemeral"}}]}
