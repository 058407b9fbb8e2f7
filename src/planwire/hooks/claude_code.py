"""Claude Code: what its hooks say, and how it is answered.

`SessionStart(compact)` is the one sign of a compaction; the events around it say nothing more, and neither do
`TaskCreated` and `TaskCompleted` after the tool calls that they stand for. The compaction runs as an agent inside the
session, with an id and no type: what it tries to do changes nothing.
"""

import re
from collections.abc import Callable, Container
from typing import Final, TypeAlias

from planwire.hooks.answers import AllowCall, Answer, Approve, SendBack, Tell
from planwire.hooks.happenings import (
    Child,
    ChildBegan,
    ChildEnded,
    Compacted,
    Ended,
    Happening,
    Heard,
    Moment,
    OwnCall,
    Started,
    Titled,
    TurnBegan,
    TurnOver,
)
from planwire.hooks.loose_fields import id_in, text_in
from planwire.hooks.own_tools import is_of_plugin, own_tool
from planwire.hooks.plan_calls import PLAN_CALLS, PROPOSALS, plan_file_draft
from planwire.model.plan import Fields
from planwire.model.stop_reasons import STOP_END_TURN

__all__ = ["NAME", "TITLE", "is_caller", "is_plan_file", "read", "speak"]

NAME: Final = "claude-code"
TITLE: Final = "Claude Code"

#: What an event means: what its answer can do, and what happened.
_Meaning: TypeAlias = tuple[Moment, tuple[Happening, ...]]

_TRANSCRIPT: Final = re.compile(r"[\\/]projects[\\/][^\\/]+[\\/][^\\/]+\.jsonl\Z")
_PLAN_FILE: Final = re.compile(r"[\\/]plans[\\/][^\\/]+\.md\Z")
_HOME: Final = re.compile(r"[\\/]\.claude[\\/]plans[\\/][^\\/]+\.md\Z")
#: Fields that other agents have in every payload, and this one in none.
_FOREIGN: Final = ("timestamp", "sessionId")
_FOREIGN_VARIABLES: Final = ("COPILOT_CLI", "QWEN_CODE_CLI", "GEMINI_SESSION_ID")
#: What begins a prompt that no person wrote.
_MACHINE_MADE: Final = ("<task-notification>", "<system-reminder>", "<local-command", "<command-")
_SOURCE: Final = "startup"
_COMPACT: Final = "compact"
_FAILURE: Final = "error"


def is_caller(fields: Fields, environment: Container[str]) -> bool:
    """Whether a payload is of Claude Code: by where its transcript is, by fields that only it has, and only then by the
    environment, which may be that of an agent outside."""
    if _TRANSCRIPT.search(text_in(fields, "transcript_path")):
        return True
    if any(each in fields for each in _FOREIGN):
        return False
    if "prompt_id" in fields or "effort" in fields:
        return True
    if "turn_id" in fields or not text_in(fields, "transcript_path") or not text_in(fields, "hook_event_name"):
        return False
    return "CLAUDECODE" in environment and not any(each in environment for each in _FOREIGN_VARIABLES)


def is_plan_file(path: str, transcript: str = "") -> bool:
    """Whether a path is that of a plan that Claude Code drafts: in the folder of plans beside its transcripts, wherever
    a person has moved them."""
    home = _TRANSCRIPT.sub("", transcript)
    if home != transcript and path.startswith(home):
        return _PLAN_FILE.fullmatch(path[len(home) :]) is not None
    return _HOME.search(path) is not None


def read(fields: Fields) -> Heard | None:
    """What a payload says; None if that is nothing."""
    event, session = text_in(fields, "hook_event_name"), id_in(fields, "session_id")
    meaning = _EVENTS.get(event)
    if meaning is None or session is None or _is_inner(fields):
        return None
    meant = meaning(fields)
    if meant is None:
        return None
    agent_id = id_in(fields, "agent_id")
    return Heard(
        NAME,
        session,
        event,
        meant[0],
        meant[1],
        folder=text_in(fields, "cwd") or None,
        call=id_in(fields, "tool_use_id"),
        turn=id_in(fields, "prompt_id"),
        child=Child(agent_id, text_in(fields, "agent_type")) if agent_id else None,
    )


def speak(heard: Heard, fields: Fields, answer: Answer) -> Fields | None:
    """An answer as Claude Code takes it; None where it would not hear it, or shows it to the person as an error."""
    arguments = fields.get("tool_input")
    match heard.moment, answer:
        case ((Moment.START | Moment.PROMPT | Moment.TOOL), Tell(text=text)):
            said: Fields = {"additionalContext": text}
        case Moment.CALL, AllowCall() if is_of_plugin(fields):
            said = {"permissionDecision": "allow"}
        case Moment.REVIEW, Approve(text=edited) if isinstance(arguments, dict):
            # Without its arguments an approval is ignored, and the dialog stays.
            changed = arguments if edited is None else {**arguments, "plan": edited}
            said = {"decision": {"behavior": "allow", "updatedInput": changed}}
        case Moment.REVIEW, SendBack(words=words):
            said = {"decision": {"behavior": "deny", "message": words}}
        case _:
            return None
    return {"hookSpecificOutput": {"hookEventName": heard.event, **said}}


def _is_inner(fields: Fields) -> bool:
    """Whether a payload is of the agent that compacts the session."""
    return bool(fields.get("agent_id")) and not text_in(fields, "agent_type")


def _session_start(fields: Fields) -> _Meaning:
    source = text_in(fields, "source") or _SOURCE
    began: Happening = Compacted() if source == _COMPACT else Started(source)
    title = text_in(fields, "session_title")
    return Moment.START, (began, Titled(title)) if title else (began,)


def _prompt(fields: Fields) -> _Meaning:
    prompt = text_in(fields, "prompt")
    return Moment.PROMPT, (TurnBegan("" if prompt.startswith(_MACHINE_MADE) else prompt),)


def _before_call(fields: Fields) -> _Meaning | None:
    name, arguments = text_in(fields, "tool_name"), fields.get("tool_input")
    if tool := own_tool(name):
        return Moment.CALL, (OwnCall(tool, arguments),)
    proposed = PROPOSALS.get(name)
    return (Moment.PASSIVE, proposed(arguments, None)) if proposed else None


def _after_call(fields: Fields) -> _Meaning:
    name, arguments = text_in(fields, "tool_name"), fields.get("tool_input")
    if tool := own_tool(name):
        return Moment.TOOL, (OwnCall(tool, arguments),)
    if call := PLAN_CALLS.get(name):
        return Moment.TOOL, call(arguments, fields.get("tool_response"))
    transcript = text_in(fields, "transcript_path")
    return Moment.TOOL, plan_file_draft(name, arguments, lambda path: is_plan_file(path, transcript))


def _after_failure(fields: Fields) -> _Meaning:
    """A call that failed changed nothing, but one of planwire's own is over."""
    tool = own_tool(text_in(fields, "tool_name"))
    return Moment.PASSIVE, (OwnCall(tool, fields.get("tool_input")),) if tool else ()


def _permission(fields: Fields) -> _Meaning | None:
    proposed = PROPOSALS.get(text_in(fields, "tool_name"))
    return (Moment.REVIEW, proposed(fields.get("tool_input"), None)) if proposed else None


def _stop(fields: Fields) -> _Meaning:
    return Moment.PASSIVE, (TurnOver(STOP_END_TURN),)


def _stop_failure(fields: Fields) -> _Meaning:
    return Moment.PASSIVE, (TurnOver(text_in(fields, "error") or _FAILURE),)


def _child_began(fields: Fields) -> _Meaning | None:
    return (Moment.PASSIVE, (ChildBegan(),)) if id_in(fields, "agent_id") else None


def _child_ended(fields: Fields) -> _Meaning | None:
    return (Moment.PASSIVE, (ChildEnded(),)) if id_in(fields, "agent_id") else None


def _session_end(fields: Fields) -> _Meaning:
    return Moment.PASSIVE, (Ended(text_in(fields, "reason")),)


#: The events that mean something. One that is not here is none of planwire's business.
_EVENTS: Final[dict[str, Callable[[Fields], _Meaning | None]]] = {
    "SessionStart": _session_start,
    "UserPromptSubmit": _prompt,
    "PreToolUse": _before_call,
    "PermissionRequest": _permission,
    "PostToolUse": _after_call,
    "PostToolUseFailure": _after_failure,
    "SubagentStart": _child_began,
    "SubagentStop": _child_ended,
    "Stop": _stop,
    "StopFailure": _stop_failure,
    "SessionEnd": _session_end,
}
