"""Codex: what its hooks say, and how it is answered.

In Plan mode the plan is a block of the model's answer that `Stop` leaves out: only the transcript has it. Codex throws
away a whole answer for one key that it does not know.
"""

import re
from collections.abc import Container
from typing import Final

from planwire.hooks.answers import Answer, SendBack, Tell
from planwire.hooks.claude_events import (
    EventTable,
    Meaning,
    after_plan_call,
    child_began,
    child_ended,
    heard,
    session_ended,
    session_started,
)
from planwire.hooks.happenings import Chance, HookCall, OwnCall, PlanInTranscript, TurnBegan, TurnOver
from planwire.hooks.loose_fields import id_in, text_in
from planwire.hooks.own_tools import own_tool
from planwire.model.plan import PLAN_MODE, Fields
from planwire.model.stop_reasons import STOP_END_TURN

NAME: Final = "codex"
TITLE: Final = "Codex"

_TRANSCRIPT: Final = re.compile(r"[\\/]rollout-[^\\/]+\.jsonl\Z")
#: Fields of other agents.
_FOREIGN: Final = ("prompt_id", "timestamp", "sessionId", "effort")
#: Fields that other agents with the same events don't have in the same payload.
_SIGNS: Final = (("turn_id",), ("source", "model", "permission_mode"))


def is_caller(fields: Fields, environment: Container[str]) -> bool:
    """Whether a payload is from Codex: by its transcript, or by its fields if it says that it keeps none. Its hooks may
    come from a daemon, so the environment says nothing."""
    if _TRANSCRIPT.search(text_in(fields, "transcript_path")):
        return True
    if any(each in fields for each in _FOREIGN) or not text_in(fields, "hook_event_name"):
        return False
    if any(all(each in fields for each in sign) for sign in _SIGNS):
        return True
    return "transcript_path" in fields and fields["transcript_path"] is None


def read(fields: Fields) -> HookCall | None:
    """What a payload says; None if it says nothing."""
    return heard(NAME, _EVENTS, fields, "turn_id")


def speak(heard: HookCall, fields: Fields, answer: Answer) -> Fields | None:
    """An answer as Codex takes it. It can't be told that a plan is approved: the person leaves Plan mode in Codex. Nor
    is a call ever allowed: Codex asks only about calls that destroy something, and does not say whose server it is."""
    match heard.moment, answer:
        case ((Chance.START | Chance.PROMPT | Chance.TOOL), Tell(text=text)):
            return {"hookSpecificOutput": {"hookEventName": heard.event, "additionalContext": text}}
        case Chance.REVIEW, SendBack(words=words) if words.strip():
            return {"decision": "block", "reason": words}
    return None


def _prompt(fields: Fields) -> Meaning:
    """A person's prompt, or the task of a sub-agent, which begins no turn of the session."""
    return Chance.PROMPT, () if fields.get("agent_id") else (TurnBegan(text_in(fields, "prompt")),)


def _before_call(fields: Fields) -> Meaning:
    tool = own_tool(text_in(fields, "tool_name"))
    return (Chance.CALL, (OwnCall(tool, fields.get("tool_input")),)) if tool else None


def _stop(fields: Fields) -> Meaning:
    over, path = TurnOver(STOP_END_TURN), text_in(fields, "transcript_path")
    if not path:
        return Chance.PASSIVE, (over,)
    return Chance.REVIEW, (over, PlanInTranscript(PLAN_MODE, path, id_in(fields, "turn_id")))


_EVENTS: Final[EventTable] = {
    "SessionStart": session_started,
    "UserPromptSubmit": _prompt,
    "PreToolUse": _before_call,
    "PostToolUse": after_plan_call,
    "SubagentStart": child_began,
    "SubagentStop": child_ended,
    "Stop": _stop,
    "SessionEnd": session_ended,
}
