"""opencode: what planwire's file in it says, and how that is answered.

opencode has functions instead of hooks, so the payloads are our own: `opencode_plugin.js` describes their shape, and
takes a text for the model as `{"text": …}` and the words that send a plan back as `{"deny": …}`. A list of steps comes
from the tool call; the event about it has no ids and would double it.
"""

from collections.abc import Container
from typing import Final

from planwire.hooks.answers import Answer, SendBack, Tell
from planwire.hooks.claude_events import EventTable, Meaning
from planwire.hooks.happenings import (
    Chance,
    Child,
    ChildBegan,
    ChildEnded,
    Compacted,
    Ended,
    HookCall,
    OwnCall,
    Proposed,
    Started,
    Titled,
    TurnBegan,
    TurnOver,
)
from planwire.hooks.loose_fields import fields_in, id_in, text_in
from planwire.hooks.own_tools import own_tool
from planwire.hooks.plan_calls import PLAN_CALLS, plan_file_draft
from planwire.model.plan import PLAN_MODE, Fields
from planwire.model.stop_reasons import STOP_CANCELLED, STOP_END_TURN

NAME: Final = "opencode"
TITLE: Final = "opencode"

_PLAN_EXIT: Final = "plan_exit"
#: opencode's name for the error when a person stops a turn.
_ABORTED: Final = "MessageAbortedError"
_FAILURE: Final = "error"


def is_caller(fields: Fields, environment: Container[str]) -> bool:
    """Whether a payload is from planwire's file in opencode, which says so."""
    return fields.get("agent") == NAME and "event" in fields and "hook_event_name" not in fields


def read(fields: Fields) -> HookCall | None:
    """What a payload says; None if it says nothing."""
    event, session = text_in(fields, "event"), id_in(fields, "session_id")
    child_id = id_in(fields, "child_id")
    child = Child(child_id, text_in(fields, "child_kind")) if child_id else None
    meaning = (_CHILD_EVENTS if child else _EVENTS).get(event)
    meant = meaning(fields) if meaning and session else None
    if meant is None or session is None:
        return None
    return HookCall(
        NAME,
        session,
        event,
        *meant,
        folder=text_in(fields, "cwd") or None,
        call=id_in(fields, "call_id"),
        child=child,
    )


def speak(heard: HookCall, fields: Fields, answer: Answer) -> Fields | None:
    """An answer for planwire's own file. opencode never asks about planwire's tools, and always asks about a plan, so
    neither is ever allowed here."""
    match heard.moment, answer:
        case ((Chance.START | Chance.PROMPT | Chance.TOOL), Tell(text=text)):
            return {"text": text}
        case Chance.REVIEW, SendBack(words=words):
            return {"deny": words}
    return None


def _created(fields: Fields) -> Meaning:
    return Chance.PASSIVE, (Started(text_in(fields, "source") or "startup"),)


def _message(fields: Fields) -> Meaning:
    source = text_in(fields, "source")
    began = TurnBegan(text_in(fields, "prompt"))
    return Chance.PROMPT, (Started(source), began) if source else (began,)


def _before_call(fields: Fields) -> Meaning:
    name = text_in(fields, "tool")
    if tool := own_tool(name):
        return Chance.CALL, (OwnCall(tool, fields.get("arguments")),)
    path = text_in(fields, "plan_path")
    return (Chance.REVIEW, (Proposed(PLAN_MODE, path=path),) if path else ()) if name == _PLAN_EXIT else None


def _after_call(fields: Fields) -> Meaning:
    name, arguments, result = text_in(fields, "tool"), fields.get("arguments"), fields_in(fields, "result")
    if tool := own_tool(name):
        return Chance.TOOL, (OwnCall(tool, arguments),)
    if call := PLAN_CALLS.get(name):
        return Chance.TOOL, call(arguments, result)
    # The file sends the arguments of no other call that writes.
    return Chance.TOOL, plan_file_draft(name, arguments, lambda path: path.endswith(".md"))


def _retelling(fields: Fields) -> Meaning:
    return Chance.START, ()


def _compacted(fields: Fields) -> Meaning:
    return Chance.PASSIVE, (Compacted(),)


def _idle(fields: Fields) -> Meaning:
    return Chance.PASSIVE, (TurnOver(STOP_END_TURN),)


def _error(fields: Fields) -> Meaning:
    reason = text_in(fields, "reason")
    return Chance.PASSIVE, (TurnOver(STOP_CANCELLED if reason == _ABORTED else reason or _FAILURE),)


def _updated(fields: Fields) -> Meaning:
    title = text_in(fields, "title")
    return (Chance.PASSIVE, (Titled(title),)) if title else None


def _deleted(fields: Fields) -> Meaning:
    return Chance.PASSIVE, (Ended(text_in(fields, "reason")),)


def _child_began(fields: Fields) -> Meaning:
    return Chance.PASSIVE, (ChildBegan(),)


def _child_ended(fields: Fields) -> Meaning:
    return Chance.PASSIVE, (ChildEnded(),)


def _child_message(fields: Fields) -> Meaning:
    return Chance.PROMPT, ()


#: The events that mean something, by opencode's names for them.
_EVENTS: Final[EventTable] = {
    "session.created": _created,
    "chat.message": _message,
    "tool.execute.before": _before_call,
    "tool.execute.after": _after_call,
    "system.transform": _retelling,
    "session.compacted": _compacted,
    "session.idle": _idle,
    "session.error": _error,
    "session.updated": _updated,
    "session.deleted": _deleted,
}
#: The events of a sub-agent, whose session does not count as one in planwire.
_CHILD_EVENTS: Final[EventTable] = {
    "session.created": _child_began,
    "chat.message": _child_message,
    "tool.execute.before": _before_call,
    "tool.execute.after": _after_call,
    "system.transform": _retelling,
    "session.compacted": _compacted,
    "session.idle": _child_ended,
    "session.error": _child_ended,
}
