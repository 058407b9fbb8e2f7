"""Claude Code: what its hooks say, and how it is answered.

`SessionStart(compact)` is the one sign of a compaction; the events around it say nothing more, and neither do
`TaskCreated` and `TaskCompleted` after the tool calls that they stand for.
"""

import re
from collections.abc import Container
from typing import Final

from planwire.hooks.answers import AllowCall, Answer, Approve, SendBack, Tell
from planwire.hooks.claude_events import (
    EventTable,
    Meaning,
    after_plan_call,
    before_call,
    child_began,
    child_ended,
    heard,
    session_ended,
    session_started,
    turn_failed,
    turn_over,
)
from planwire.hooks.happenings import Chance, HookCall, OwnCall, TurnBegan
from planwire.hooks.loose_fields import text_in
from planwire.hooks.own_tools import is_of_plugin, own_tool
from planwire.hooks.plan_calls import FILE_CALLS, PROPOSALS, plan_file_draft
from planwire.model.plan import Fields

NAME: Final = "claude-code"
TITLE: Final = "Claude Code"

_TRANSCRIPT: Final = re.compile(r"[\\/]projects[\\/][^\\/]+[\\/][^\\/]+\.jsonl\Z")
_PLAN_FILE: Final = re.compile(r"[\\/]plans[\\/][^\\/]+\.md\Z")
_USUAL_HOME: Final = re.compile(r"[\\/]\.claude\Z")
#: Fields that other agents have in every payload, and this one in none.
_FOREIGN: Final = ("timestamp", "sessionId")
_FOREIGN_VARIABLES: Final = ("COPILOT_CLI", "QWEN_CODE_CLI", "GEMINI_SESSION_ID")
#: The beginnings of prompts that no person wrote.
_MACHINE_MADE: Final = ("<task-notification>", "<system-reminder>", "<local-command", "<command-", "<bash-")


def is_caller(fields: Fields, environment: Container[str]) -> bool:
    """Whether a payload is from Claude Code: by where its transcript is, by fields that only it has, and only then by
    the environment, which may come from another agent around it."""
    transcript = text_in(fields, "transcript_path")
    if _TRANSCRIPT.search(transcript):
        return True
    if any(each in fields for each in _FOREIGN):
        return False
    if "prompt_id" in fields or "effort" in fields:
        return True
    if "turn_id" in fields or not transcript or not text_in(fields, "hook_event_name"):
        return False
    return "CLAUDECODE" in environment and not any(each in environment for each in _FOREIGN_VARIABLES)


def is_plan_file(path: str, transcript: str = "") -> bool:
    """Whether a path is that of a plan that Claude Code drafts: in the folder of plans beside its transcripts, even if
    a person has moved both."""
    home, name = _PLAN_FILE.sub("", path), _PLAN_FILE.search(path)
    return name is not None and (_USUAL_HOME.search(home) is not None or home == _TRANSCRIPT.sub("", transcript))


def is_machine_made(prompt: str) -> bool:
    """Whether Claude Code wrote a prompt itself."""
    return prompt.startswith(_MACHINE_MADE)


def read(fields: Fields) -> HookCall | None:
    """What a payload says; None if it says nothing."""
    return heard(NAME, _EVENTS, fields, "prompt_id")


def speak(heard: HookCall, fields: Fields, answer: Answer) -> Fields | None:
    """An answer as Claude Code takes it; None if it would not hear it, or would show it to the person as an error."""
    arguments = fields.get("tool_input")
    match heard.moment, answer:
        case ((Chance.START | Chance.PROMPT | Chance.TOOL), Tell(text=text)):
            said: Fields = {"additionalContext": text}
        case Chance.CALL, AllowCall() if is_of_plugin(fields):
            said = {"permissionDecision": "allow"}
        case Chance.REVIEW, Approve(text=edited) if isinstance(arguments, dict):
            # Without its arguments an approval is ignored, and the dialog stays.
            changed = arguments if edited is None else {**arguments, "plan": edited}
            said = {"decision": {"behavior": "allow", "updatedInput": changed}}
        case Chance.REVIEW, SendBack(words=words):
            said = {"decision": {"behavior": "deny", "message": words}}
        case _:
            return None
    return {"hookSpecificOutput": {"hookEventName": heard.event, **said}}


def _prompt(fields: Fields) -> Meaning:
    prompt = text_in(fields, "prompt")
    return Chance.PROMPT, (TurnBegan("" if is_machine_made(prompt) else prompt),)


def _after_call(fields: Fields) -> Meaning:
    name, transcript = text_in(fields, "tool_name"), text_in(fields, "transcript_path")
    if name not in FILE_CALLS:
        return after_plan_call(fields)
    draft = plan_file_draft(name, fields.get("tool_input"), lambda path: is_plan_file(path, transcript))
    return Chance.TOOL, draft


def _after_failure(fields: Fields) -> Meaning:
    """A failed call changed nothing, but one of planwire's own is over. After a call that a person interrupted, no
    request follows that could carry a text."""
    tool = own_tool(text_in(fields, "tool_name"))
    moment = Chance.PASSIVE if fields.get("is_interrupt") else Chance.TOOL
    return moment, (OwnCall(tool, fields.get("tool_input")),) if tool else ()


def _permission(fields: Fields) -> Meaning:
    proposed = PROPOSALS.get(text_in(fields, "tool_name"))
    return (Chance.REVIEW, proposed(fields.get("tool_input"), None)) if proposed else None


_EVENTS: Final[EventTable] = {
    "SessionStart": session_started,
    "UserPromptSubmit": _prompt,
    "PreToolUse": before_call,
    "PermissionRequest": _permission,
    "PostToolUse": _after_call,
    "PostToolUseFailure": _after_failure,
    "SubagentStart": child_began,
    "SubagentStop": child_ended,
    "Stop": turn_over,
    "StopFailure": turn_failed,
    "SessionEnd": session_ended,
}
