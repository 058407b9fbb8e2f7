"""What a line is, decoded no deeper than that takes; and small readers for values that may be anything."""

import re
from typing import Any, Final, TypeAlias

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from planwire.acp.conversation import value_of
from planwire.acp.read import read
from planwire.model.plan import Fields, ItemsPlan

#: A line without any of these words has no sign of a compaction in it, and no report of one.
WORDS_OF_SIGNS: Final = (b"ompact", b"ompress", b"ummari")
#: A line without any of these words does not concern the policy: the pipes pass it on unread.
WORDS_OF_CLIENT: Final = (b'"id"', b'"session/cancel"', b'"$/cancel_request"')
WORDS_OF_AGENT: Final = (
    b'"id"',
    b'"plan',
    b'"user_message',
    b'"usage_update"',
    b'"state_update"',
    b'"available_commands_update"',
    b'"session_info_update"',
    b'"switch_mode"',
    b'"$/cancel_request"',
    *WORDS_OF_SIGNS,
)
#: What a line too long to be decoded says, unless it is inside a text, where its quotes have escapes.
_PLAN_UPDATE: Final = re.compile(rb'"sessionUpdate"\s*:\s*"plan')
_SESSION_ID: Final = re.compile(rb'"sessionId"\s*:\s*("(?:[^"\\]|\\.){0,500}")')

JsonId: TypeAlias = int | float | str | None


class _UpdateHead(Struct):
    sessionUpdate: str | UnsetType = UNSET  # noqa: N815  (as it is on the wire)


class _ParamsHead(Struct):
    sessionId: str | UnsetType = UNSET  # noqa: N815
    update: _UpdateHead | UnsetType = UNSET


class FromAgent(Struct):
    """A line of the agent's, decoded no deeper than it takes to tell what it is."""

    id: JsonId | UnsetType = UNSET
    method: str | UnsetType = UNSET
    params: _ParamsHead | UnsetType = UNSET
    result: Raw | UnsetType = UNSET
    error: Raw | UnsetType = UNSET


class FromClient(Struct):
    id: JsonId | UnsetType = UNSET
    method: str | UnsetType = UNSET
    params: Raw | UnsetType = UNSET
    result: Raw | UnsetType = UNSET


peek_agent = msgspec.json.Decoder(FromAgent).decode
peek_client = msgspec.json.Decoder(FromClient).decode


def session_of_plan(beginning: bytes) -> str | None:
    """The session that a line sets a plan in, as far as its beginning tells; "" if it does not tell which."""
    if _PLAN_UPDATE.search(beginning) is None:
        return None
    named = _SESSION_ID.search(beginning)
    return str(value_of(Raw(named[1])) or "") if named else ""


def list_on(line: bytes) -> ItemsPlan | None:
    """The list on a line of the agent's; None if it has none."""
    updates = read(line).updates
    plan = updates[0].body if updates else None
    return plan if isinstance(plan, ItemsPlan) else None


def update_of(line: bytes) -> Fields | None:
    match value_of(line):
        case {"params": {"update": dict(update)}}:
            return update
    return None


def text_of(value: Any, name: str) -> str:
    text = value.get(name) if isinstance(value, dict) else None
    return text if isinstance(text, str) else ""


def first_text(prompt: Any) -> str:
    """The text that a prompt begins with, if there is one."""
    for part in prompt if isinstance(prompt, list) else ():
        if text_of(part, "type") == "text":
            return text_of(part, "text").lstrip()
    return ""


def last_text(prompt: Any) -> str:
    """The text that a prompt ends with, if it ends with one."""
    return text_of(prompt[-1], "text") if isinstance(prompt, list) and prompt else ""
