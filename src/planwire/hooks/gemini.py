"""Gemini CLI: what its hooks say, and how it is answered.

`PreCompress` comes before every request to the model with the trigger `auto`, so only a `manual` one is a compaction.
There is no event after it: the plan is told again with the next prompt. An answer to `SessionStart` after `/clear` is
lost, and `SessionEnd` comes up to three times. A plan is a file; the hook has only its name.
"""

import re
from collections.abc import Container
from typing import Final

from planwire.hooks.answers import Answer, Approve, SendBack, Tell
from planwire.hooks.claude_events import EventTable, Meaning, session_ended, turn_over
from planwire.hooks.happenings import (
    Chance,
    Compacted,
    Happening,
    HookCall,
    OwnCall,
    Proposed,
    Started,
    TurnBegan,
)
from planwire.hooks.loose_fields import id_in, text_in
from planwire.hooks.own_tools import own_tool
from planwire.hooks.plan_calls import PLAN_CALLS, plan_file_draft
from planwire.model.plan import PLAN_MODE, Fields

NAME: Final = "gemini"
TITLE: Final = "Gemini CLI"

_TRANSCRIPT: Final = re.compile(r"[\\/]chats[\\/]session-[^\\/]+\.jsonl?\Z")
_PLAN_NAME: Final = re.compile(r"[^\\/\x00]+\.md", re.IGNORECASE)
#: Events that no other agent has.
_ONLY_HERE: Final = frozenset(
    (
        *("BeforeAgent", "AfterAgent", "BeforeModel", "AfterModel"),
        *("BeforeTool", "AfterTool", "BeforeToolSelection", "PreCompress"),
    )
)
_EXIT: Final = "exit_plan_mode"
#: What a hook told at the start of the session, which comes before the person's own words.
_TOLD: Final = re.compile(r"\A(?:<hook_context>.*?</hook_context>\s*)+", re.DOTALL)
_STARTUP: Final = "startup"
_CLEAR: Final = "clear"
_MANUAL: Final = "manual"


def is_caller(fields: Fields, environment: Container[str]) -> bool:
    """Whether a payload is from Gemini CLI: by the names of its events, or by where its transcript is. Without either,
    by the environment, if nothing points to Qwen or Copilot, which have a time in their payloads too."""
    event, transcript = text_in(fields, "hook_event_name"), text_in(fields, "transcript_path")
    if not event or "session_id" not in fields:
        return False
    if event in _ONLY_HERE or _TRANSCRIPT.search(transcript):
        return True
    is_like = "timestamp" in fields and "transcript_path" in fields and "permission_mode" not in fields
    return is_like and not transcript and "GEMINI_SESSION_ID" in environment


def read(fields: Fields) -> HookCall | None:
    """What a payload says; None if it says nothing."""
    event, session = text_in(fields, "hook_event_name"), id_in(fields, "session_id")
    meaning = _EVENTS.get(event)
    meant = meaning(fields) if meaning and session else None
    if meant is None or session is None:
        return None
    return HookCall(NAME, session, event, *meant, folder=text_in(fields, "cwd") or None)


def speak(heard: HookCall, fields: Fields, answer: Answer) -> Fields | None:
    """An answer as Gemini takes it. It shows its own dialog for a tool call whatever a hook says, so it is never told
    that a call is allowed."""
    match heard.moment, answer:
        case ((Chance.START | Chance.PROMPT | Chance.TOOL), Tell(text=text)):
            return {"hookSpecificOutput": {"hookEventName": heard.event, "additionalContext": text}}
        case Chance.REVIEW, Approve():
            return {"decision": "allow"}
        case Chance.REVIEW, SendBack(words=words):
            return {"decision": "deny", "reason": words}
    return None


def written(prompt: str) -> str:
    """The part of a prompt that a person wrote, without what hooks put before it."""
    return _TOLD.sub("", prompt)


def plan_path(name: str, transcript: str, session: str) -> str | None:
    """The file of a plan: in the folder of the session, beside the one with the transcripts. A name that leads anywhere
    else has none: the name comes from the model, and any file that it names would be read."""
    home = _TRANSCRIPT.sub("", transcript)
    folder = f"{home}/{session}/plans/"
    name = name.removeprefix(folder)
    if home == transcript or not _PLAN_NAME.fullmatch(name) or not _PLAN_NAME.fullmatch(f"{session}.md"):
        return None
    return folder + name


def _proposal(fields: Fields) -> tuple[Happening, ...]:
    arguments = fields.get("tool_input")
    name = text_in(arguments, "plan_filename") or text_in(arguments, "plan_path")
    path = plan_path(name, text_in(fields, "transcript_path"), text_in(fields, "session_id"))
    return (Proposed(PLAN_MODE, path=path),) if path else ()


def _session_start(fields: Fields) -> Meaning:
    source = text_in(fields, "source") or _STARTUP
    return Chance.PASSIVE if source == _CLEAR else Chance.START, (Started(source),)


def _prompt(fields: Fields) -> Meaning:
    return Chance.PROMPT, (TurnBegan(written(text_in(fields, "prompt"))),)


def _before_call(fields: Fields) -> Meaning:
    name = text_in(fields, "tool_name")
    if tool := own_tool(name):
        return Chance.CALL, (OwnCall(tool, fields.get("tool_input")),)
    return (Chance.REVIEW, _proposal(fields)) if name == _EXIT else None


def _after_call(fields: Fields) -> Meaning:
    name, arguments = text_in(fields, "tool_name"), fields.get("tool_input")
    if tool := own_tool(name):
        return Chance.TOOL, (OwnCall(tool, arguments),)
    if call := PLAN_CALLS.get(name):
        return Chance.TOOL, call(arguments, fields.get("tool_response"))
    transcript, session = text_in(fields, "transcript_path"), text_in(fields, "session_id")
    return Chance.TOOL, plan_file_draft(name, arguments, lambda path: plan_path(path, transcript, session) == path)


def _compaction(fields: Fields) -> Meaning:
    return (Chance.PASSIVE, (Compacted(),)) if text_in(fields, "trigger") == _MANUAL else None


#: The events that mean something. Others don't concern planwire.
_EVENTS: Final[EventTable] = {
    "SessionStart": _session_start,
    "BeforeAgent": _prompt,
    "AfterAgent": turn_over,
    "BeforeTool": _before_call,
    "AfterTool": _after_call,
    "PreCompress": _compaction,
    "SessionEnd": session_ended,
}
