"""Signs that the model made a plan, reported or not: tool calls that write a list, and approvals of a plan."""

import re
from typing import Any, Final

from planwire.acp.permissions import allows, options_of, selected, tool_call_of
from planwire.acp.words import SWITCH_MODE

_APPROVAL: Final = re.compile(
    r"exit.?plan|(approve|accept|review|ready).*\bplan|\bplan\b.*(approv|review)", re.IGNORECASE
)


def written_list(call: Any) -> bool:
    """Whether a tool call writes a list of tasks, as to-do tools and `update_plan` tools of agents do."""
    given = call.get("rawInput") if isinstance(call, dict) else None
    if not isinstance(given, dict):
        return False
    lists = (given.get("todos"), given.get("plan"))
    return any(isinstance(each, list) and each and all(isinstance(task, dict) for task in each) for each in lists)


def approved_plan(params: Any, result: Any) -> bool:
    """Whether a permission request asked to go on with a plan, and the answer allowed it (R43)."""
    return _is_about_a_plan(params) and allows(selected(options_of(params), result)[1])


def asks_about_a_plan(params: Any) -> bool:
    """Whether a permission request is about a plan, or about leaving a mode: to allow either only lets the agent go
    on."""
    call = tool_call_of(params)
    return call is not None and (call.get("kind") == SWITCH_MODE or _is_about_a_plan(params))


def _is_about_a_plan(params: Any) -> bool:
    call = tool_call_of(params)
    if call is None:
        return False
    given = call.get("rawInput")
    if isinstance(given, dict) and isinstance(given.get("plan"), str) and given["plan"].strip():
        return True
    names = (call.get("name"), call.get("title"), params.get("title"))
    is_switch = call.get("kind") in (SWITCH_MODE, None)
    return is_switch and any(isinstance(name, str) and _APPROVAL.search(name) for name in names)
