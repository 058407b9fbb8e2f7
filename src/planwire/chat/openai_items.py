"""The items of OpenAI's Responses API: which is a call, which item answers it, and how to cancel it.

One answer of the model is several items. A type that is in no table here passes through, and gets no made-up result.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

from msgspec import Struct

from planwire.chat.calls import CANCELLED_TEXT, TEXT, CallRef, text
from planwire.model.plan import Fields

#: The roles of messages. Other items have none, except settings.
ROLES: Final = frozenset(("assistant", "developer", "system", "user"))


class CallItem(Struct, frozen=True, kw_only=True):
    """One row: a type of call, the type of its output, and the fields of an output for a cancelled call, or None if
    only the server makes outputs."""

    type: str
    output: str
    cancelled: Fields | None
    #: Where the call has its id, and where the output names it.
    id: str = "call_id"
    names: str = "call_id"
    #: Whether the server answers this one itself.
    is_hosted: Callable[[Fields], bool] = lambda item: False


def _runs_in_a_container(item: Fields) -> bool:
    environment = item.get("environment")
    return isinstance(environment, dict) and environment.get("type") == "container_reference"


def _is_searched_by_the_server(item: Fields) -> bool:
    return item.get("execution") != "client"


CALLS: Final = (
    CallItem(type="function_call", output="function_call_output", cancelled={"output": CANCELLED_TEXT}),
    CallItem(type="custom_tool_call", output="custom_tool_call_output", cancelled={"output": CANCELLED_TEXT}),
    CallItem(
        type="computer_call",
        output="computer_call_output",
        cancelled={"output": {"type": "computer_screenshot"}, "status": "incomplete"},
    ),
    CallItem(
        type="local_shell_call", output="local_shell_call_output", cancelled={"output": CANCELLED_TEXT}, names="id"
    ),
    CallItem(
        type="shell_call",
        output="shell_call_output",
        cancelled={"output": [{"stdout": "", "stderr": CANCELLED_TEXT, "outcome": {"type": "exit", "exit_code": 1}}]},
        is_hosted=_runs_in_a_container,
    ),
    CallItem(
        type="apply_patch_call",
        output="apply_patch_call_output",
        cancelled={"output": CANCELLED_TEXT, "status": "failed"},
    ),
    CallItem(
        type="tool_search_call",
        output="tool_search_output",
        cancelled={"execution": "client", "status": "incomplete", "tools": []},
        is_hosted=_is_searched_by_the_server,
    ),
    CallItem(
        type="mcp_approval_request",
        output="mcp_approval_response",
        cancelled={"approve": False, "reason": CANCELLED_TEXT},
        id="id",
        names="approval_request_id",
    ),
    CallItem(type="program", output="program_output", cancelled=None),
    CallItem(type="multi_agent_call", output="multi_agent_call_output", cancelled=None),
)
#: An item that holds all items before it, encrypted.
COMPACTION: Final = "compaction"
#: Items that the next one belongs to. The trigger of a compaction must come last, and the server answers it.
HOLD_THE_NEXT: Final = ("reasoning", "compaction_trigger")
#: The other types: texts, and calls whose item also holds the server's result.
PLAIN: Final = frozenset(
    (
        "additional_tools",
        "agent_message",
        "code_interpreter_call",
        COMPACTION,
        "compaction_trigger",
        "configuration_update",
        "file_search_call",
        "image_generation_call",
        "item_reference",
        "mcp_call",
        "mcp_list_tools",
        "message",
        "reasoning",
        "web_search_call",
    )
)
_BY_TYPE: Final = {row.type: row for row in CALLS}
_BY_OUTPUT: Final = {row.output: row for row in CALLS}


def calls(item: Fields) -> Sequence[CallRef]:
    row = _row(_BY_TYPE, item)
    if row is None:
        return ()
    call_id, caller = text(item.get(row.id)), item.get("caller")
    is_hosted = not call_id or row.cancelled is None or row.is_hosted(item)
    name = text(item.get("name"))
    if not isinstance(caller, dict):
        return (CallRef(call_id, name, row.type, is_hosted),)
    return (CallRef(call_id, name, row.type, is_hosted, text(caller.get("caller_id")), {"caller": caller}),)


def results(item: Fields) -> Sequence[CallRef]:
    row = _row(_BY_OUTPUT, item)
    return () if row is None else (CallRef(text(item.get(row.names)), text(item.get("name")), row.type),)


def part(kind: str, data: str) -> Fields:
    """A part of a message: a text, or an image as base64."""
    if kind == TEXT:
        return {"type": "input_text", "text": data}
    return {"type": "input_image", "detail": "auto", "image_url": f"data:{kind};base64,{data}"}


def cancellation(call: CallRef) -> Fields:
    row = _BY_TYPE[call.kind]
    return {"type": row.output, row.names: call.id, **(row.cancelled or {}), **(call.repeated or {})}


def is_of_model(item: Fields) -> bool:
    """Whether an item is part of an answer of the model, or at least no new turn: settings interrupt nothing."""
    row = _row(_BY_OUTPUT, item)
    if row is not None:
        return row.cancelled is None or item.get("execution") == "server"
    return item.get("role", "assistant") == "assistant" or item.get("type") == "additional_tools"


def _row(rows: dict[str, CallItem], item: Fields) -> CallItem | None:
    kind: Any = item.get("type")
    return rows.get(kind) if isinstance(kind, str) else None
