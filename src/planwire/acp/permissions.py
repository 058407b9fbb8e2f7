"""Permission requests: the tool call that one is about, its options, and the option that the client's answer selects.

Any field may hold anything. A request counts as approved only if the answer selects an option that was offered, of an
allow kind (R43).
"""

from typing import Any

from msgspec import Struct

from planwire.acp.words import OUTCOME_CANCELLED
from planwire.model.plan import Fields


class Option(Struct, frozen=True):
    """An answer on offer: its name, as people read it, and its kind."""

    name: str
    kind: str


def tool_call_of(params: Any) -> Fields | None:
    """The tool call of a request, in version 1 or in version 2."""
    match params:
        case {"toolCall": dict(call)} | {"subject": {"toolCall": dict(call)}}:
            return call
    return None


def options_of(params: Any) -> dict[str, Option]:
    """The options of a request by their ids, in order. One without a name goes by its id."""
    options = params.get("options") if isinstance(params, dict) else None
    offered = {}
    for option in options if isinstance(options, list) else ():
        if isinstance(option, dict) and isinstance(option_id := option.get("optionId"), str):
            name, kind = option.get("name"), option.get("kind")
            name = name if isinstance(name, str) and name.strip() else option_id
            offered[option_id] = Option(name, kind if isinstance(kind, str) else "")
    return offered


def selected(options: dict[str, Option], result: Any) -> tuple[str, Option] | tuple[None, None]:
    """The option that the `result` of a request selects, with its id; None if it selects none of these."""
    match result:
        case {"outcome": {"outcome": "selected", "optionId": str(option_id)}} if option_id in options:
            return option_id, options[option_id]
    return None, None


def selection(option_id: str | None) -> Fields:
    """The `result` of a request that selects an option; None cancels the request."""
    if option_id is None:
        return {"outcome": {"outcome": OUTCOME_CANCELLED}}
    return {"outcome": {"outcome": "selected", "optionId": option_id}}


def allows(option: Option | None) -> bool:
    return option is not None and option.kind.startswith("allow")


def rejects(option: Option | None) -> bool:
    return option is not None and option.kind.startswith("reject")
