"""Qwen Code: what its hooks say, and how it is answered.

It has Claude Code's events with differences. `UserPromptSubmit` comes before every request of a turn, and only the
first has a person's words; the others are a chance to tell something, but no new turn. `TodoCreated` and
`TodoCompleted` come twice for each step, while the tool call has the whole list. A person is asked
(`PermissionRequest`) before `PreToolUse`, so only the answer to the first can spare them the dialog; no hook gets more
than a minute to answer.
"""

import re
from collections.abc import Container
from typing import Any, Final

import msgspec

from planwire.hooks.answers import AllowCall, Answer, Approve, SendBack, Tell
from planwire.hooks.claude_events import (
    EventTable,
    Meaning,
    after_failed_call,
    before_call,
    child_began,
    child_ended,
    session_ended,
    session_started,
    turn_failed,
    turn_over,
)
from planwire.hooks.happenings import (
    Chance,
    Child,
    Happening,
    HookCall,
    ListHeard,
    OwnCall,
    TurnBegan,
)
from planwire.hooks.loose_fields import id_in, text_in
from planwire.hooks.own_tools import own_tool
from planwire.hooks.plan_calls import GOAL, PLAN_CALLS, PROPOSALS
from planwire.model.plan import Entry, Fields
from planwire.model.statuses import DEFAULT_STATUS, folded_status

NAME: Final = "qwen"
TITLE: Final = "Qwen Code"

_TRANSCRIPT: Final = re.compile(r"[\\/]projects[\\/][^\\/]+[\\/]chats[\\/][^\\/]+\.jsonl\Z")
#: What separates the session's id and the turn's number in the id of a turn.
_SEPARATOR: Final = "########"
_GOALS: Final = ("get_goal", "update_goal")
_PERMISSION: Final = "PermissionRequest"


def is_caller(fields: Fields, environment: Container[str]) -> bool:
    """Whether a payload is from Qwen Code: by where its transcript is, by how it numbers turns, or by a time together
    with a permission mode, which no other agent has."""
    if not text_in(fields, "hook_event_name") or "session_id" not in fields:
        return False
    if _TRANSCRIPT.search(text_in(fields, "transcript_path")) or _SEPARATOR in text_in(fields, "prompt_id"):
        return True
    return "timestamp" in fields and "permission_mode" in fields


def read(fields: Fields) -> HookCall | None:
    """What a payload says; None if it says nothing."""
    event, session = text_in(fields, "hook_event_name"), id_in(fields, "session_id")
    meaning = _EVENTS.get(event)
    meant = meaning(fields) if meaning and session else None
    if meant is None or session is None:
        return None
    agent_id = id_in(fields, "agent_id")
    return HookCall(
        NAME,
        session,
        event,
        *meant,
        folder=text_in(fields, "cwd") or None,
        call=id_in(fields, "tool_call_id") or id_in(fields, "tool_use_id"),
        turn=id_in(fields, "prompt_id"),
        child=Child(agent_id, text_in(fields, "agent_type")) if agent_id else None,
    )


def speak(heard: HookCall, fields: Fields, answer: Answer) -> Fields | None:
    """An answer as Qwen takes it; None if it would not hear it. A payload does not say whose the server is: it must be
    certain before a hook for the permissions of planwire's tools is registered."""
    match heard.moment, answer:
        case ((Chance.START | Chance.PROMPT | Chance.TOOL), Tell(text=text)):
            said: Fields = {"additionalContext": text}
        case Chance.CALL, AllowCall() if heard.event == _PERMISSION:
            said = {"decision": {"behavior": "allow"}}
        case Chance.REVIEW, Approve():
            said = {"decision": {"behavior": "allow"}}
        case Chance.REVIEW, SendBack(words=words):
            said = {"decision": {"behavior": "deny", "message": words}}
        case _:
            return None
    return {"hookSpecificOutput": {"hookEventName": heard.event, **said}}


def _prompt(fields: Fields) -> Meaning:
    prompt = text_in(fields, "submitted_prompt") or text_in(fields, "prompt")
    return Chance.PROMPT, (TurnBegan(prompt),) if prompt else ()


def _permission(fields: Fields) -> Meaning:
    name, arguments = text_in(fields, "tool_name"), fields.get("tool_input")
    if own_tool(name):
        return Chance.CALL, ()
    proposed = PROPOSALS.get(name)
    return (Chance.REVIEW, proposed(arguments, None)) if proposed else None


def _after_call(fields: Fields) -> Meaning:
    name, arguments, result = text_in(fields, "tool_name"), fields.get("tool_input"), fields.get("tool_response")
    if tool := own_tool(name):
        return Chance.TOOL, (OwnCall(tool, arguments),)
    call = _goal if name in _GOALS else PLAN_CALLS.get(name)
    return Chance.TOOL, call(arguments, result) if call else ()


def _goal(arguments: Any, result: Any) -> tuple[Happening, ...]:
    """A goal, which Qwen tells its model as JSON in a text. The model's own proposal for it decides nothing yet."""
    try:
        goal = msgspec.json.decode(text_in(result, "llmContent"))
    except (msgspec.MsgspecError, RecursionError):
        return ()
    objective, status = text_in(goal, "objective"), text_in(goal, "status")
    entry = Entry(objective, None, folded_status(status) or status or DEFAULT_STATUS)
    return (ListHeard(GOAL, (entry,)),) if objective else ()


#: The events that mean something. Others don't concern planwire.
_EVENTS: Final[EventTable] = {
    "SessionStart": session_started,
    "UserPromptSubmit": _prompt,
    "PreToolUse": before_call,
    _PERMISSION: _permission,
    "PostToolUse": _after_call,
    "PostToolUseFailure": after_failed_call,
    "SubagentStart": child_began,
    "SubagentStop": child_ended,
    "Stop": turn_over,
    "StopFailure": turn_failed,
    "SessionEnd": session_ended,
}
