"""Copilot CLI: what its hooks say, and how it is answered.

Its own hooks get payloads in camelCase that do not name their event; hooks of a plugin in Claude Code's form get most
in snake_case, with Claude Code's names of events and tools, and some in a mixture. All are read alike. A sub-agent has
an id of its own in place of the session's, and names its parent. Its steps are rows that the model writes by SQL into a
database of the session, which sub-agents share; a plan is a file beside it. Neither is in a payload.

There is no event after a compaction: the plan is told again with the next prompt. `/clear` looks like an end and a new
start: only the process, which is still the same, tells that one session goes on from another.
"""

import re
from collections.abc import Container
from typing import Any, Final

import msgspec

from planwire.hooks.answers import AllowCall, Answer, SendBack, Tell
from planwire.hooks.claude_events import EventTable, Meaning, after_failed_call, child_began, child_ended
from planwire.hooks.happenings import (
    Chance,
    Child,
    Compacted,
    Ended,
    Happening,
    HookCall,
    OwnCall,
    Proposed,
    Started,
    TodosInDatabase,
    TurnBegan,
    TurnOver,
)
from planwire.hooks.loose_fields import id_in, text_in
from planwire.hooks.own_tools import own_tool
from planwire.hooks.plan_calls import PLAN_CALLS, TODOS
from planwire.model.plan import PLAN_MODE, Fields
from planwire.model.stop_reasons import STOP_END_TURN

NAME: Final = "copilot"
TITLE: Final = "Copilot CLI"

_TRANSCRIPT: Final = re.compile(r"([\\/]session-state[\\/](?P<session>[^\\/]{1,200})[\\/])events\.jsonl\Z")
#: Where a session keeps its files, if the payload does not say where its transcript is.
_STATE: Final = "~/.copilot/session-state/{}/"
_PLAN_FILE: Final = re.compile(r"[\\/]session-state[\\/][^\\/]+[\\/]plan\.md\Z")
_PLAIN_ID: Final = re.compile(r"[\w-]+")
_CAPITAL: Final = re.compile(r"(?<=[a-z])[A-Z]")
#: A statement about the table of steps, or the one of their dependencies.
ABOUT_TODOS: Final = re.compile(r"\btodos?(?:_deps)?\b", re.IGNORECASE)
WRITERS: Final = ("create", "edit", "Write", "Edit")
#: The beginning of a prompt that a mode of Copilot's has wrapped in its own words.
_WRAPPED: Final = re.compile(r"\A\[\[\w+\]\].*?^My request: ", re.DOTALL | re.MULTILINE)
_NEW: Final = "new"
_LEFT: Final = "user_exit"
_CLEAR: Final = "clear"
_PERMISSION: Final = "PermissionRequest"

#: The fields that tell the event of a payload that does not name it, the surest signs first.
_SIGNS: Final = (
    ("PostToolUse", ("tool_name", "tool_result")),
    ("PostToolUseFailure", ("tool_name", "error")),
    ("PreToolUse", ("tool_name", "tool_input")),
    ("UserPromptSubmit", ("prompt",)),
    ("SessionStart", ("source",)),
    ("SessionEnd", ("reason",)),
    ("PreCompact", ("trigger",)),
    ("SubagentStop", ("agent_name", "stop_reason")),
    ("SubagentStart", ("agent_name",)),
    ("Stop", ("stop_reason",)),
)
#: Fields that have another name in camelCase, not only another form of it.
_RENAMED: Final = {"tool_args": "tool_input", "hook_name": "hook_event_name"}
_EVENT_NAMES: Final = {"permissionRequest": _PERMISSION}


def is_caller(fields: Fields, environment: Container[str]) -> bool:
    """Whether a payload is from Copilot CLI: by camelCase, by where its transcript is, or by a time in a payload that
    has neither a transcript nor a permission mode."""
    if "session_id" not in fields:
        return "sessionId" in fields
    if not text_in(fields, "hook_event_name"):
        return False
    if _TRANSCRIPT.search(text_in(fields, "transcript_path")):
        return True
    return "timestamp" in fields and not any(each in fields for each in ("transcript_path", "permission_mode"))


def read(fields: Fields) -> HookCall | None:
    """What a payload says; None if it says nothing."""
    plain = _plain(fields)
    event, session = _event(plain), id_in(plain, "session_id")
    meaning = _EVENTS.get(event)
    if meaning is None or session is None:
        return None
    agent_id, parent = id_in(plain, "agent_id"), id_in(plain, "parent_agent_id")
    home = _TRANSCRIPT.search(text_in(plain, "transcript_path"))
    root = home["session"] if home else parent if agent_id == session and parent else session
    meant = meaning({**plain, "session_id": root})
    if meant is None:
        return None
    moment, what = meant
    child = Child(agent_id, text_in(plain, "agent_type")) if agent_id else None
    if child and any(isinstance(each, TodosInDatabase) for each in what):
        # The steps are the session's, whoever wrote them, so nothing is told to the child with this hook.
        moment, child = Chance.PASSIVE, None
    elif child:
        what = tuple(each for each in what if not isinstance(each, Started | TurnBegan | TurnOver | Ended))
    return HookCall(NAME, root, event, moment, what, folder=text_in(plain, "cwd") or None, child=child)


def speak(heard: HookCall, fields: Fields, answer: Answer) -> Fields | None:
    """An answer as Copilot takes it: not in Claude Code's envelope, which it ignores. An approval can't spare a person
    the dialog for a plan, so it is not said. A permission can be given. A payload does not say whose the server is: it
    must be certain before a hook for the permissions of planwire's tools is registered."""
    match heard.moment, answer:
        case ((Chance.START | Chance.PROMPT | Chance.TOOL), Tell(text=text)):
            return {"additionalContext": text}
        case Chance.CALL, AllowCall() if heard.event == _PERMISSION:
            return {"behavior": "allow"}
        case Chance.REVIEW, SendBack(words=words):
            return {"permissionDecision": "deny", "permissionDecisionReason": words}
    return None


def written(prompt: str) -> str:
    """The part of a prompt that a person wrote, without what a mode puts around it."""
    return _WRAPPED.sub("", prompt)


def _plain(fields: Fields) -> Fields:
    """A payload in snake_case; `toolArgs` may be the text of an object."""
    plain: Fields = {}
    for name, value in fields.items():
        snake = _CAPITAL.sub(lambda capital: f"_{capital[0].lower()}", name)
        plain[_RENAMED.get(snake, snake)] = value
    arguments = plain.get("tool_input")
    if isinstance(arguments, str):
        try:
            plain["tool_input"] = msgspec.json.decode(arguments)
        except (msgspec.MsgspecError, RecursionError):
            plain["tool_input"] = None
    return plain


def _event(plain: Fields) -> str:
    name = text_in(plain, "hook_event_name")
    if name:
        return _EVENT_NAMES.get(name, name)
    return next((event for event, signs in _SIGNS if all(each in plain for each in signs)), "")


def _state(fields: Fields) -> str | None:
    """The folder of the session's files; None if its id could lead anywhere else."""
    transcript, session = text_in(fields, "transcript_path"), text_in(fields, "session_id")
    if _TRANSCRIPT.search(transcript):
        return _TRANSCRIPT.sub(r"\1", transcript)
    return _STATE.format(session) if _PLAIN_ID.fullmatch(session) else None


def _session_start(fields: Fields) -> Meaning:
    source = text_in(fields, "source")
    return Chance.START, (Started(_CLEAR if source in ("", _NEW) else source),)


def _prompt(fields: Fields) -> Meaning:
    return Chance.PROMPT, (TurnBegan(written(text_in(fields, "prompt"))),)


def _before_call(fields: Fields) -> Meaning:
    name = text_in(fields, "tool_name")
    if tool := own_tool(name):
        return Chance.CALL, (OwnCall(tool, fields.get("tool_input")),)
    if name != "exit_plan_mode":
        return None
    state = _state(fields)
    return Chance.REVIEW, (Proposed(PLAN_MODE, path=f"{state}plan.md"),) if state else ()


def _permission(fields: Fields) -> Meaning:
    return (Chance.CALL, ()) if own_tool(text_in(fields, "tool_name")) else None


def _after_call(fields: Fields) -> Meaning:
    name, arguments = text_in(fields, "tool_name"), fields.get("tool_input")
    if tool := own_tool(name):
        return Chance.TOOL, (OwnCall(tool, arguments),)
    if name == "sql":
        state = _state(fields) if ABOUT_TODOS.search(text_in(arguments, "query")) else None
        return Chance.TOOL, (TodosInDatabase(TODOS, f"{state}session.db"),) if state else ()
    if name in WRITERS:
        return Chance.TOOL, draft_in(arguments)
    call = PLAN_CALLS.get(name)
    return Chance.TOOL, call(arguments, fields.get("tool_result")) if call else ()


def draft_in(arguments: Any) -> tuple[Happening, ...]:
    """The draft in a call that writes a file, if the file is that of the plan."""
    path, text = text_in(arguments, "path"), text_in(arguments, "file_text")
    return (Proposed(PLAN_MODE, text, None if text else path, draft=True),) if _PLAN_FILE.search(path) else ()


def _compaction(fields: Fields) -> Meaning:
    return Chance.PASSIVE, (Compacted(),)


def _turn_over(fields: Fields) -> Meaning:
    return Chance.PASSIVE, (TurnOver(text_in(fields, "stop_reason") or STOP_END_TURN),)


def _session_end(fields: Fields) -> Meaning:
    reason = text_in(fields, "reason")
    return Chance.PASSIVE, (Ended(_CLEAR if reason == _LEFT else reason),)


#: The events that mean something, by the names that they have in a plugin.
_EVENTS: Final[EventTable] = {
    "SessionStart": _session_start,
    "UserPromptSubmit": _prompt,
    "PreToolUse": _before_call,
    _PERMISSION: _permission,
    "PostToolUse": _after_call,
    "PostToolUseFailure": after_failed_call,
    "PreCompact": _compaction,
    "SubagentStart": child_began,
    "SubagentStop": child_ended,
    "Stop": _turn_over,
    "SessionEnd": _session_end,
}
