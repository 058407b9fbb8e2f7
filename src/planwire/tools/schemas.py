"""The four plan tools as a model sees them: names, descriptions, and schemas in every provider's form.

Every request carries the descriptions, so they are short. They say when a plan is worth making, since a list for its
own sake costs more than it helps, and they ask for changes instead of the whole list again.
"""

from typing import Any, Final

from planwire.chat.formats import CHAT_FORMATS
from planwire.chat.plan_tools import GET_PLAN, REMOVE_PLAN, SET_PLAN, TOOL_NAMES, UPDATE_PLAN
from planwire.errors import ToolError
from planwire.model.plan import MAIN, PRIORITIES, Fields
from planwire.model.statuses import STATUSES
from planwire.tools.examples import FINISHED, STARTED
from planwire.tools.strict import strict_tool

__all__ = [
    "FORMATS",
    "GET_PLAN",
    "REMOVE_PLAN",
    "REVIEW",
    "SESSION",
    "SET_PLAN",
    "TOOL_NAMES",
    "UPDATE_PLAN",
    "tool_schemas",
]

#: The event that a call of get_plan may wait for.
REVIEW: Final = "review"
#: The argument of get_plan that takes up an earlier session, if the server can do that.
SESSION: Final = "session"


_STATUS: Final[Fields] = {"type": "string", "enum": list(STATUSES)}
_PRIORITY_WORD: Final[Fields] = {"type": "string", "enum": list(PRIORITIES)}
_PRIORITY: Final[Fields] = {
    **_PRIORITY_WORD,
    "description": "high: the goal fails without it. low: nice to have.",
}
_PLAN_ID: Final[Fields] = {"type": "string", "description": f"Which plan, if there are several. Default: {MAIN}."}
_REVISION: Final[Fields] = {
    "type": "integer",
    "description": "The revision you last saw. If the plan has moved on, nothing is changed and you are told.",
}


def _text_or(**properties: Fields) -> Fields:
    """A text for the usual case, an object for the rest: a model pays for every word that it writes."""
    whole = {"type": "object", "properties": properties, "required": ["content"], "additionalProperties": False}
    return {"anyOf": [{"type": "string"}, whole]}


_SET_PLAN: Final = (
    "Make a plan, or replace one as a whole. Worth it for work of several steps that could go astray or outlive "
    "your context; not for what you can do at once. Give entries (short, actionable, in order) or content "
    "(markdown; its task-list checkboxes are the steps). The plan {stays}: do not repeat it, and report later changes "
    f"with {UPDATE_PLAN}."
)
_UPDATE_PLAN: Final = (
    "Report a change to the plan as it happens: steps started or done by their id, steps you discovered, what you "
    'learned. Example: {{"steps": {steps}}}. Never send the whole list again. '
    "If an answer has people, they said that since the last one: heed it."
)
_GET_PLAN: Final = "Read the plan as it is now; remarks: all that people said and that still holds. {when}."
_DESCRIPTIONS: Final = {
    SET_PLAN: _SET_PLAN.format(stays="stays in your context from then on"),
    UPDATE_PLAN: _UPDATE_PLAN.format(steps=f'{{"s3": "{FINISHED}", "s4": "{STARTED}"}}'),
    GET_PLAN: _GET_PLAN.format(
        when="You have it in your context already; call this after a refusal, or when you were told that it changed"
    ),
    REMOVE_PLAN: "Dismiss a plan that is done with or given up. Its history stays.",
}

#: An MCP host does not put the plan into the context, so the model has to ask for it.
_MCP_DESCRIPTIONS: Final = {
    **_DESCRIPTIONS,
    SET_PLAN: _SET_PLAN.format(stays="is kept for you, beyond your context"),
    GET_PLAN: _GET_PLAN.format(
        when="Call this before you begin or go on with work that may have a plan, after a refusal, and when you no "
        "longer see the plan's steps"
    ),
}

#: In strict mode a map is a list.
_STRICT_DESCRIPTIONS: Final = {
    **_DESCRIPTIONS,
    UPDATE_PLAN: _UPDATE_PLAN.format(
        steps=f'[{{"id": "s3", "status": "{FINISHED}"}}, {{"id": "s4", "status": "{STARTED}"}}]'
    ),
}

_SESSION: Final[Fields] = {
    "type": "string",
    "description": "Take up the plan of an earlier session, as an answer offered it under unfinished, from now on.",
}
_PARAMETERS: Final[dict[str, dict[str, Any]]] = {
    SET_PLAN: {
        "entries": {
            "type": "array",
            "description": "The steps in order. A text alone is a step of medium priority that has not begun.",
            "items": _text_or(content={"type": "string"}, priority=_PRIORITY, status=_STATUS),
        },
        "content": {"type": "string", "description": "A markdown text instead of entries."},
        "path": {
            "type": "string",
            "description": "Path of a .md file in the project, instead of content.",
        },
        "summary": {"type": "string", "description": "Why this plan, or why a new one, in a sentence."},
        "replace": {"type": "boolean", "description": "Replace it unread."},
        "parent": {"type": "string", "description": "The step it is for: s2, main#s2."},
        "plan_id": _PLAN_ID,
        "expected_revision": _REVISION,
    },
    UPDATE_PLAN: {
        "steps": {"type": "object", "description": "Step id to its new status.", "additionalProperties": _STATUS},
        "add": {
            "type": "array",
            "description": "New steps; after: the id of the step before it, if not the last.",
            "items": _text_or(
                content={"type": "string"}, after={"type": "string"}, priority=_PRIORITY_WORD, status=_STATUS
            ),
        },
        "reword": {
            "type": "object",
            "description": "Step id to its new text.",
            "additionalProperties": {"type": "string"},
        },
        "priority": {
            "type": "object",
            "description": "Step id to its new priority.",
            "additionalProperties": _PRIORITY_WORD,
        },
        "move": {
            "type": "object",
            "description": 'Step id to the id of the step to put it after, or "start".',
            "additionalProperties": {"type": "string"},
        },
        "remove": {"type": "array", "description": "Ids of steps that are not needed.", "items": {"type": "string"}},
        "answers": {
            "type": "object",
            "description": "Remark id to what became of it, in a sentence.",
            "additionalProperties": {"type": "string"},
        },
        "note": {"type": "string", "description": "What you learned or decided, if the plan should remember it."},
        "plan_id": _PLAN_ID,
        "expected_revision": _REVISION,
    },
    GET_PLAN: {
        "plan_id": _PLAN_ID,
        "detail": {
            "type": "string",
            "enum": ["full", "brief"],
            "description": "brief: progress, the current and the next steps only. Default: full.",
        },
        "wait": {
            "type": "string",
            "enum": [REVIEW],
            "description": "Answer only once a person has said something about it; call again if it is still_waiting.",
        },
        "page": {"type": "integer", "description": "The next page of a long answer."},
        "notes": {"type": "boolean", "description": "All notes instead, the newest first."},
    },
    REMOVE_PLAN: {
        "plan_id": _PLAN_ID,
        "reason": {"type": "string", "description": "Why, in a sentence."},
    },
}


def tool_schemas(form: str = "openai-chat", *, strict: bool = False) -> list[Fields]:
    """The tools in the form of a provider's API, or of `mcp`; with `strict`, for OpenAI's strict mode."""
    try:
        shape = FORMATS[form]
    except KeyError:
        known = ", ".join(FORMATS)
        raise ToolError("unknown_format", f"there is no format {form!r}", f"use one of {known}") from None
    words = _STRICT_DESCRIPTIONS if strict else _DESCRIPTIONS
    tools = [shape(name, words[name], _schema(name)) for name in TOOL_NAMES]
    return [strict_tool(form, tool) for tool in tools] if strict else tools


def _schema(name: str) -> Fields:
    return {"type": "object", "properties": _PARAMETERS[name], "additionalProperties": False}


def _mcp(name: str, _description: str, schema: Fields) -> Fields:
    if name == GET_PLAN:
        schema = {**schema, "properties": {**schema["properties"], SESSION: _SESSION}}
    hints = {"readOnlyHint": name == GET_PLAN, "destructiveHint": name == REMOVE_PLAN, "openWorldHint": False}
    return {"name": name, "description": _MCP_DESCRIPTIONS[name], "inputSchema": schema, "annotations": hints}


#: The forms by name: those of the chat formats, and MCP's.
FORMATS: Final = {**{name: form.tool for name, form in CHAT_FORMATS.items()}, "mcp": _mcp}
