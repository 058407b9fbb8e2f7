"""Tool calls that carry plans: a table from the name of a tool to what a call of it says.

Hooks and transcripts have the same calls, and agents have tools in common, so that one table serves them all. A new
tool is a new row. Its function gets the arguments and the result, of any type, and returns less if it finds less.
Statuses stay as the agent spells them.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

import msgspec
from msgspec.structs import replace

from planwire.hooks.happenings import Decided, Happening, ListHeard, Proposed, TaskChanged
from planwire.hooks.loose_fields import fields_in, id_in, list_in, text_in
from planwire.hooks.plan_verdicts import verdict_in
from planwire.model.plan import PLAN_MODE, Entry
from planwire.model.statuses import DEFAULT_STATUS, folded_status

#: The id of an agent's own list of steps. A sub-agent's own list gets its id later.
TODOS: Final = "todos"
#: The id of an agent's goal, a list of one entry.
GOAL: Final = "goal"

PlanCall: TypeAlias = Callable[[Any, Any], tuple[Happening, ...]]
_GONE: Final = "deleted"
#: A task in the list of Gemini's tracker: its indent, its type and title, and its id.
_TRACKED: Final = re.compile(r"\s*\w+: (.+) \(\w+\)\Z", re.DOTALL)
#: Where agents put the text for their model in the result of a call.
_RESULT_TEXTS: Final = ("llmContent", "text_result_for_llm", "textResultForLlm", "output")
_CREATED: Final = re.compile(r"Task #([^ ]{1,200}) created")
_NOT_FOUND: Final = "Task not found"


def entries_of(items: list[Any], name: str) -> tuple[Entry, ...]:
    """The entries of a list; `name` is the field with the text. An entry without a text is left out."""
    return tuple(
        _entry(text, text_in(each, "status"), text_in(each, "priority"))
        for each in items
        if (text := text_in(each, name))
    )


def plan_file_draft(tool: str, arguments: Any, is_plan_file: Callable[[str], bool]) -> tuple[Happening, ...]:
    """The draft in a call that writes a file, if its path is that of a plan."""
    names = FILE_CALLS.get(tool)
    path = text_in(arguments, names[0]) if names else ""
    if not names or not path or not is_plan_file(path):
        return ()
    text = text_in(arguments, names[1]) if names[1] else ""
    return (Proposed(PLAN_MODE, text, None if text else path, draft=True),)


def _entry(text: str, status: str, priority: str = "") -> Entry:
    return Entry(text, priority or None, status or DEFAULT_STATUS)


def _todos(arguments: Any, result: Any) -> tuple[Happening, ...]:
    """A whole list. The tool's own version wins over what the model wrote, which may be half of JSON."""
    for items in (list_in(result, "newTodos"), list_in(arguments, "todos")):
        if items is not None:
            return (ListHeard(TODOS, entries_of(items, "content")),)
    return ()


def _task_created(arguments: Any, result: Any) -> tuple[Happening, ...]:
    """A new task. Its id is in the result, maybe only in words: the model gives none."""
    task, said = fields_in(result, "task"), _CREATED.match(result) if isinstance(result, str) else None
    key = id_in(task, "id") or (said[1] if said else None)
    subject = text_in(task, "subject") or text_in(arguments, "subject")
    return (TaskChanged(TODOS, key, subject, DEFAULT_STATUS),) if key and subject else ()


def _task_updated(arguments: Any, result: Any) -> tuple[Happening, ...]:
    """A change of one task. A failed one says so in its result, not as an error."""
    key = id_in(arguments, "taskId")
    if not key or (isinstance(result, dict) and result.get("success") is False) or result == _NOT_FOUND:
        return ()
    status, subject = text_in(arguments, "status") or None, text_in(arguments, "subject") or None
    if status == _GONE:
        return (TaskChanged(TODOS, key, gone=True),)
    return (TaskChanged(TODOS, key, subject, status),) if status or subject else ()


def _tasks_listed(arguments: Any, result: Any) -> tuple[Happening, ...]:
    """All tasks by their ids, even those from before planwire listened."""
    return tuple(
        TaskChanged(TODOS, key, subject, text_in(each, "status") or None)
        for each in list_in(result, "tasks") or ()
        if (key := id_in(each, "id")) and (subject := text_in(each, "subject"))
    )


def _plan_left(arguments: Any, result: Any) -> tuple[Happening, ...]:
    """The end of plan mode: the plan in the result is the one that was approved. The arguments have it only if it was
    edited. A plan of one agent may wait for another's approval."""
    text = text_in(result, "plan") or text_in(arguments, "plan")
    if isinstance(result, dict) and result.get("awaitingLeaderApproval"):
        return (Proposed(PLAN_MODE, text),) if text else ()
    return (Decided(PLAN_MODE, approved=True, text=text),)


def _plan_shown(arguments: Any, result: Any) -> tuple[Happening, ...]:
    """The end of plan mode, before there is an answer."""
    text, path = text_in(arguments, "plan"), text_in(arguments, "planFilePath")
    return (Proposed(PLAN_MODE, text, None if text else path),) if text or path else ()


def _plan_updated(arguments: Any, result: Any) -> tuple[Happening, ...]:
    items = list_in(arguments, "plan")
    if items is None:
        return ()
    return (ListHeard(TODOS, entries_of(items, "step"), text_in(arguments, "explanation") or None),)


def _goal(arguments: Any, result: Any) -> tuple[Happening, ...]:
    """A goal is a list of one entry. Its statuses (`active`, `complete`) are not those of steps, so they are folded."""
    goal = fields_in(_decoded(result), "goal")
    objective, status = text_in(goal, "objective"), text_in(goal, "status")
    return (ListHeard(GOAL, (_entry(objective, folded_status(status) or status),)),) if objective else ()


def _described_todos(arguments: Any, result: Any) -> tuple[Happening, ...]:
    """Gemini's list, as its tool shows it; its entries are descriptions."""
    items = list_in(fields_in(result, "returnDisplay"), "todos")
    items = list_in(arguments, "todos") if items is None else items
    return (ListHeard(TODOS, entries_of(items, "description")),) if items is not None else ()


def _tracked_tasks(arguments: Any, result: Any) -> tuple[Happening, ...]:
    """The whole list that every call of Gemini's tracker shows. Its titles are wrapped in types and ids."""
    items = list_in(fields_in(result, "returnDisplay"), "todos")
    if items is None:
        return ()
    entries = entries_of(items, "description")
    return (ListHeard(TODOS, tuple(replace(each, content=_TRACKED.sub(r"\1", each.content)) for each in entries)),)


def _shown_todos(arguments: Any, result: Any) -> tuple[Happening, ...]:
    """Qwen's list, as its tool shows it, or as the model wrote it."""
    items = list_in(fields_in(result, "returnDisplay"), "todos")
    items = list_in(arguments, "todos") if items is None else items
    return (ListHeard(TODOS, entries_of(items, "content")),) if items is not None else ()


def _plan_answered(arguments: Any, result: Any) -> tuple[Happening, ...]:
    """The end of plan mode in agents that give their model a person's answer as a text."""
    said = next((text for name in _RESULT_TEXTS if (text := text_in(result, name))), "")
    verdict = verdict_in(said)
    if verdict is None:
        return ()
    plan = text_in(fields_in(result, "returnDisplay"), "plan") or text_in(arguments, "plan")
    return (Decided(PLAN_MODE, verdict.approved, plan if verdict.approved else "", verdict.words),)


#: What any report about a goal says.
GOAL_CALL: Final[PlanCall] = _goal


def _decoded(result: Any) -> Any:
    """A result, which may be JSON in a text, as in transcripts."""
    try:
        return msgspec.json.decode(result) if isinstance(result, str) else result
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None


#: Calls that are over, by the name of the tool.
PLAN_CALLS: Final[Mapping[str, PlanCall]] = {
    # Claude Code
    "TodoWrite": _todos,
    "TaskCreate": _task_created,
    "TaskUpdate": _task_updated,
    "TaskList": _tasks_listed,
    "ExitPlanMode": _plan_left,
    # Codex
    "update_plan": _plan_updated,
    "create_goal": _goal,
    "update_goal": _goal,
    "get_goal": _goal,
    # Gemini
    "write_todos": _described_todos,
    "tracker_create_task": _tracked_tasks,
    "tracker_update_task": _tracked_tasks,
    "tracker_list_tasks": _tracked_tasks,
    "tracker_add_dependency": _tracked_tasks,
    # Qwen
    "todo_write": _shown_todos,
    # opencode
    "todowrite": _todos,
    "plan_exit": _plan_answered,
    # Gemini, Qwen and Copilot
    "exit_plan_mode": _plan_answered,
}

#: Calls that a person has yet to allow, by the name of the tool. There is no result yet.
PROPOSALS: Final[Mapping[str, PlanCall]] = {
    "ExitPlanMode": _plan_shown,
    "exit_plan_mode": _plan_shown,
}

#: Tools that write files: the fields of the path, and of the text if it is the whole file.
FILE_CALLS: Final[Mapping[str, tuple[str, str | None]]] = {
    "Write": ("file_path", "content"),
    "Edit": ("file_path", None),
    "MultiEdit": ("file_path", None),
    # Gemini
    "write_file": ("file_path", "content"),
    "replace": ("file_path", None),
    # opencode
    "write": ("filePath", "content"),
    "edit": ("filePath", None),
}
