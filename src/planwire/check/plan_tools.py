"""Calls of the plan tool that an agent gives its model, made from the tool's schema: names and fields differ from agent
to agent, but each takes a list of tasks with a status."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from msgspec import Struct

from planwire.check.script import ModelCall, ModelRequest
from planwire.model.statuses import STATUSES, folded_status

#: The steps of a script's list.
STEPS: Final = ("Collect five names", "Compare them", "Pick one")

#: Names of tools that write a list: TodoWrite, todowrite, write_todos, todo, SetTodoList, update_plan, set_plan, …
_LIST_TOOL: Final = re.compile(r"todo|plan|task_?list", re.IGNORECASE)
#: Names of tools that show a plan and ask for approval: ExitPlanMode, exit_plan_mode, plan_exit, …
_PROPOSAL_TOOL: Final = re.compile(r"exit_?plan|plan_?exit|(propose|submit|present)_?plan", re.IGNORECASE)
#: The fields that may hold an entry's text, and the values of `action` that write the list, in a tool with several.
_TEXTS: Final = ("content", "step", "title", "description", "task", "text", "name", "subject", "label")
_WRITES: Final = ("write", "set", "replace", "update", "create")
_STATUS: Final = ("status", "state")
_RANKS: Final = ("high", "medium", "low")
_WORDS: Final = tuple(row.word for row in STATUSES.values() if row.counts)


class _KnownTool(Struct, frozen=True):
    """A tool whose schema a request may not have: the member that holds its list, and the fields of an entry's text.

    Agents defer tools, or run one that they do not offer to each model. Such a tool is there if the request names it,
    or offers the tools that come with it (`beside`).
    """

    name: str
    tasks: str
    texts: tuple[str, ...]
    beside: frozenset[str] = frozenset()


_KNOWN: Final = (
    _KnownTool("TodoWrite", "todos", ("content", "activeForm")),
    _KnownTool("update_plan", "plan", ("step",)),
    _KnownTool("write_todos", "todos", ("content",), frozenset(("edit_file", "task"))),
    _KnownTool("todowrite", "todos", ("content",)),
    _KnownTool("todo_write", "todos", ("content",)),
    _KnownTool("SetTodoList", "todos", ("title",)),
)
_KNOWN_PROPOSALS: Final = ("ExitPlanMode", "exit_plan_mode")

Schema: TypeAlias = Mapping[str, Any]


def list_call(request: ModelRequest, done: int, steps: Sequence[str] = STEPS) -> ModelCall | None:
    """The call that writes a list with its first `done` steps completed and the next begun; none is begun if `done` is
    negative. None if no tool writes lists."""
    statuses = progress(done, len(steps))
    for name, schema in sorted(request.tools.items(), key=lambda each: len(each[0])):
        if _LIST_TOOL.search(name) and not _PROPOSAL_TOOL.search(name):
            if (arguments := _arguments(schema, steps, statuses)) is not None:
                return ModelCall(name, arguments)
    for known in _KNOWN:
        if _is_named(request, known.name) or (known.beside and known.beside <= request.tools.keys()):
            named = zip(steps, statuses, strict=True)
            tasks = [{**dict.fromkeys(known.texts, step), _STATUS[0]: word} for step, word in named]
            return ModelCall(known.name, {known.tasks: tasks})
    return None


def progress(done: int, count: int) -> list[str]:
    """The statuses of a list with its first `done` steps completed and the next begun."""
    return [_WORDS[2] if n < done else _WORDS[1] if n == done else _WORDS[0] for n in range(count)]


def proposal_call(request: ModelRequest, text: str) -> ModelCall | None:
    """The call that shows a plan for approval; None if no tool does."""
    offered = (name for name in request.tools if _PROPOSAL_TOOL.search(name))
    name = next(offered, None) or next((name for name in _KNOWN_PROPOSALS if _is_named(request, name)), None)
    if name is None:
        return None
    schema = request.tools.get(name, {})
    known = _properties(schema, schema)
    return ModelCall(name, {next((key for key in ("plan", *_TEXTS) if key in known), "plan"): text})


def _is_named(request: ModelRequest, name: str) -> bool:
    return re.search(rf"\b{name}\b", request.text) is not None


def _arguments(schema: Schema, steps: Sequence[str], statuses: Sequence[str]) -> dict[str, Any] | None:
    """The arguments that write a list, if the schema has a place for one: a property whose items have a status."""
    whole = _plain(schema, schema)
    fields = _properties(whole, schema)
    for key, field in fields.items():
        item = _item(field, schema)
        entry = _properties(item, schema)
        status = next((each for each in _STATUS if each in entry), None)
        text = next((each for each in _TEXTS if each in entry), None)
        if status is None or text is None:
            continue
        tasks = []
        for number, (step, word) in enumerate(zip(steps, statuses, strict=True)):
            task = {name: _filler(name, entry[name], schema, number, step) for name in _required(item, entry)}
            tasks.append({**task, text: step, status: _spelled(word, entry[status], schema)})
        others = {name: _filler(name, fields[name], schema, 0, "") for name in _required(whole, fields) if name != key}
        if "action" in fields:
            others["action"] = _filler("action", fields["action"], schema, 0, "")
        return {**others, key: tasks}
    return None


def _required(schema: Schema, fields: Mapping[str, Any]) -> Iterator[str]:
    """The fields to fill in: required ones, and `priority`, so that priorities are used."""
    wanted = schema.get("required")
    for name in fields:
        if name == "priority" or (isinstance(wanted, list) and name in wanted):
            yield name


def _filler(name: str, field: Any, root: Schema, number: int, step: str) -> Any:
    """A value for a field that holds neither the list nor a step's text or status."""
    field = _plain(field, root)
    choices = [each for each in field.get("enum") or () if isinstance(each, str)]
    preferred = (_RANKS[number % len(_RANKS)], *_WRITES)
    if choices:
        return next((word for word in preferred if word in choices), choices[0])
    others = {"integer": number + 1, "number": number + 1, "boolean": False, "array": [], "object": {}}
    if (kind := _type(field)) in others:
        return others[kind]
    if name == "priority":
        return _RANKS[number % len(_RANKS)]
    if name == "action":
        return _WRITES[0]
    return str(number + 1) if name == "id" else step or "a plan"


def _type(field: Schema) -> str:
    """The type of a field; of several, the first but null."""
    named = field.get("type", "string")
    kinds = named if isinstance(named, list) else [named]
    return next((kind for each in kinds if (kind := str(each).lower()) != "null"), "string")


def _spelled(word: str, field: Any, root: Schema) -> str:
    """A status as the schema spells it."""
    choices = [each for each in _plain(field, root).get("enum") or () if isinstance(each, str)]
    return next((each for each in choices if folded_status(each) == word), word)


def _item(field: Any, root: Schema) -> Schema:
    return _plain(_plain(field, root).get("items"), root)


def _properties(schema: Any, root: Schema) -> dict[str, Any]:
    found = _plain(schema, root).get("properties")
    return found if isinstance(found, dict) else {}


def _plain(schema: Any, root: Schema) -> dict[str, Any]:
    """A schema with its references followed and the first of its alternatives taken, joined to what is beside them."""
    for _ in range(8):
        if not isinstance(schema, dict):
            return {}
        if isinstance(link := schema.get("$ref"), str):
            at: Any = root
            for key in link.removeprefix("#/").split("/"):
                at = at.get(key) if isinstance(at, dict) else None
            schema = _joined(schema, "$ref", at)
        elif key := next((each for each in ("anyOf", "oneOf", "allOf") if schema.get(each)), ""):
            known = [each for each in schema[key] if isinstance(each, dict)]
            schema = _joined(schema, key, next((each for each in known if each.get("type") != "null"), None))
        else:
            return schema
    return {}


def _joined(schema: Schema, key: str, chosen: Any) -> dict[str, Any]:
    """A schema with the one that was chosen under a key in place of that key: the properties and `required` of both."""
    beside = {name: value for name, value in schema.items() if name != key}
    joined = {**beside, **(chosen if isinstance(chosen, dict) else {})}
    for name in beside.keys() & joined.keys():
        match beside[name], joined[name]:
            case dict(one), dict(other) if name == "properties":
                joined[name] = one | other
            case list(one), list(other) if name == "required":
                joined[name] = [*one, *other]
    return joined
