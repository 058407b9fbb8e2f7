"""Events named by Claude Code, which other agents took over with most of their fields.

An agent's own reader has a table of them (`EventTable`). Events that are not in it don't concern planwire.
"""

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from planwire.hooks.happenings import (
    Chance,
    Child,
    ChildBegan,
    ChildEnded,
    Compacted,
    Ended,
    Happening,
    HookCall,
    OwnCall,
    Started,
    Titled,
    TurnOver,
)
from planwire.hooks.loose_fields import id_in, text_in
from planwire.hooks.own_tools import own_tool
from planwire.hooks.plan_calls import PLAN_CALLS, PROPOSALS
from planwire.model.plan import Fields
from planwire.model.stop_reasons import STOP_END_TURN

#: What an event means: what its answer can do, and what happened. None if it means nothing.
Meaning: TypeAlias = tuple[Chance, tuple[Happening, ...]] | None
EventTable: TypeAlias = Mapping[str, Callable[[Fields], Meaning]]

_STARTUP: Final = "startup"
_COMPACT: Final = "compact"
_FAILURE: Final = "error"


def heard(agent: str, events: EventTable, fields: Fields, turn: str) -> HookCall | None:
    """What a payload says, by an agent's table of events; `turn` is the field with the id of the turn. An agent with an
    id and no type works inside the session, for example to compact it: what it does changes nothing."""
    event, session, child = text_in(fields, "hook_event_name"), id_in(fields, "session_id"), id_in(fields, "agent_id")
    kind = text_in(fields, "agent_type")
    meaning = events.get(event)
    if meaning is None or session is None or (fields.get("agent_id") and not kind):
        return None
    meant = meaning(fields)
    if meant is None:
        return None
    folder, call = text_in(fields, "cwd") or None, id_in(fields, "tool_use_id")
    within = Child(child, kind) if child else None
    return HookCall(agent, session, event, *meant, folder=folder, call=call, turn=id_in(fields, turn), child=within)


def session_started(fields: Fields) -> Meaning:
    """A session begins or goes on, or its context was compacted."""
    source, title = text_in(fields, "source") or _STARTUP, text_in(fields, "session_title")
    began: Happening = Compacted() if source == _COMPACT else Started(source)
    return Chance.START, (began, Titled(title)) if title else (began,)


def before_call(fields: Fields) -> Meaning:
    """Before a call: one of planwire's own can be allowed, and a proposal can be shown."""
    name, arguments = text_in(fields, "tool_name"), fields.get("tool_input")
    if tool := own_tool(name):
        return Chance.CALL, (OwnCall(tool, arguments),)
    proposed = PROPOSALS.get(name)
    return (Chance.PASSIVE, proposed(arguments, None)) if proposed else None


def after_plan_call(fields: Fields) -> Meaning:
    """The end of a tool call. The result of any tool can bring a text to the model."""
    name, arguments = text_in(fields, "tool_name"), fields.get("tool_input")
    if tool := own_tool(name):
        return Chance.TOOL, (OwnCall(tool, arguments),)
    call = PLAN_CALLS.get(name)
    return Chance.TOOL, call(arguments, fields.get("tool_response")) if call else ()


def after_failed_call(fields: Fields) -> Meaning:
    """A failed call changed nothing, but one of planwire's own is over."""
    tool = own_tool(text_in(fields, "tool_name"))
    return Chance.PASSIVE, (OwnCall(tool, fields.get("tool_input")),) if tool else ()


def child_began(fields: Fields) -> Meaning:
    """A sub-agent begins to work."""
    return (Chance.PASSIVE, (ChildBegan(),)) if id_in(fields, "agent_id") else None


def child_ended(fields: Fields) -> Meaning:
    """A sub-agent is done."""
    return (Chance.PASSIVE, (ChildEnded(),)) if id_in(fields, "agent_id") else None


def turn_over(fields: Fields) -> Meaning:
    """The agent stops working, of its own accord."""
    return Chance.PASSIVE, (TurnOver(STOP_END_TURN),)


def turn_failed(fields: Fields) -> Meaning:
    """The agent stops working, because of an error."""
    return Chance.PASSIVE, (TurnOver(text_in(fields, "error") or _FAILURE),)


def session_ended(fields: Fields) -> Meaning:
    """The agent leaves the session."""
    return Chance.PASSIVE, (Ended(text_in(fields, "reason")),)
