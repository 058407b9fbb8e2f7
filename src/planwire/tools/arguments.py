"""The arguments of the plan tools: what models really send, read into values.

A map may come as a list of objects, a list as its only element, either of them as JSON in a text, and a status or a
priority in other words. Anything else is refused with the argument's name and a correct example, so that the next call
is right.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeVar

import msgspec
from msgspec import Struct

from planwire.errors import ToolError
from planwire.model.plan import MEDIUM, PRIORITIES, Entry
from planwire.model.priorities import folded_priority
from planwire.model.statuses import DEFAULT_STATUS, STATUSES, folded_status, folded_word
from planwire.model.step_changes import AddStep, MoveStep, RemoveStep, RewordStep, SetPriority, SetStatus, StepChange
from planwire.tools.examples import example
from planwire.tools.json_arguments import inner_json

_START: Final = frozenset(("start", "beginning", "begin", "top", "first"))
_END: Final = frozenset(("end", "bottom", "last"))
#: The longest text that is read as a number: Python itself refuses those of thousands of digits.
_DIGITS: Final = 40
_STEP_IDS: Final = ("id", "step", "step_id")


class SetPlan(Struct, forbid_unknown_fields=True):
    """The arguments of set_plan. A caller that may read files has put the text of `path` into `content`."""

    entries: Any = None
    content: str | None = None
    path: None = None
    summary: str | None = None
    plan_id: str | None = None
    expected_revision: int | None = None
    replace: bool = False
    parent: str | None = None

    def steps(self) -> tuple[Entry, ...] | None:
        """The entries, if the plan is a list."""
        value = inner_json(self.entries)
        if value is None:
            return None
        if not isinstance(value, list):
            raise _unfit("entries", f"a list of steps is expected, not {_noun(value)}")
        steps = [_step(each, f"entries[{index}]", "entries") for index, each in enumerate(value)]
        return tuple(Entry(each.content, each.priority, each.status) for each in steps)


class UpdatePlan(Struct, forbid_unknown_fields=True):
    """The arguments of update_plan."""

    note: str | None = None
    steps: Any = None
    add: Any = None
    remove: Any = None
    reword: Any = None
    priority: Any = None
    move: Any = None
    answers: Any = None
    plan_id: str | None = None
    expected_revision: int | None = None

    def changes(self, last: str | None) -> tuple[StepChange, ...]:
        """The step changes, in the order in which they are made. `last` is the plan's last step."""
        words = {"": "status", "status": "status", "content": "reword", "text": "reword", "priority": "priority"}
        rows = list(_rows(self.steps, "steps", _STEP_IDS, words))
        rows += _rows(self.reword, "reword", _STEP_IDS, {"": "reword", "content": "reword", "text": "reword"})
        rows += _rows(self.priority, "priority", _STEP_IDS, {"": "priority", "priority": "priority"})
        moved = _rows(self.move, "move", _STEP_IDS, {"": "after", "after": "after"})
        moves = [(step, _behind(word, last) or "") for step, _, word in moved]
        added = [_step(each, f"add[{at}]", "add") for at, each in enumerate(_list(self.add))]
        return (
            *(SetStatus(step, _status(word, f"steps.{step}")) for step, kind, word in rows if kind == "status"),
            *(RewordStep(step, word) for step, kind, word in rows if kind == "reword"),
            *(SetPriority(step, _priority(word, step)) for step, kind, word in rows if kind == "priority"),
            *(AddStep(each.content, _behind(each.after, None), each.priority, each.status) for each in added),
            *(MoveStep(step, after) for step, after in moves if step != after),
            *(RemoveStep(step) for step in self._removed()),
        )

    def replies(self) -> dict[str, str]:
        """The answers to remarks by their ids."""
        words = {"": "text", "answer": "text", "text": "text", "content": "text"}
        return {remark: text for remark, _, text in _rows(self.answers, "answers", ("id", "remark"), words)}

    def _removed(self) -> list[str]:
        removed = _list(self.remove)
        if wrong := [each for each in removed if not isinstance(each, str)]:
            raise _unfit("remove", f"a list of step ids is expected, not one with {_noun(wrong[0])}")
        return removed


class GetPlan(Struct, forbid_unknown_fields=True):
    """The arguments of get_plan."""

    plan_id: str | None = None
    detail: str | None = None
    wait: str | None = None
    page: int = 1
    notes: bool = False


class RemovePlan(Struct, forbid_unknown_fields=True):
    """The arguments of remove_plan."""

    plan_id: str | None = None
    reason: str | None = None
    expected_revision: int | None = None


class _NewStep(Struct, forbid_unknown_fields=True):
    content: str
    after: str | None = None
    priority: str | None = None
    status: str | None = None


_S = TypeVar("_S", SetPlan, UpdatePlan, GetPlan, RemovePlan)


def read_arguments(arguments: Any, shape: type[_S]) -> _S:
    """The decoded arguments of a call as the values of a tool. A null argument counts as not given."""
    value = {} if arguments is None else arguments
    if isinstance(value, dict):
        value = {name: _plain(name, each) for name, each in value.items() if each is not None}
    try:
        return msgspec.convert(value, shape)
    except msgspec.ValidationError as error:
        names = shape.__struct_fields__
        about = next((name for name in names if f"$.{name}" in str(error)), names[0])
        hint = f"the arguments are: {', '.join(names)}"
        raise ToolError("invalid_arguments", str(error), hint, example(about)) from None


def _plain(name: Any, value: Any) -> Any:
    """The number or boolean that a model wrote as a text."""
    if not isinstance(value, str):
        return value
    if name in ("expected_revision", "page"):
        return int(value) if value.strip().isdecimal() and len(value) <= _DIGITS else value
    if name in ("replace", "notes"):
        return {"true": True, "yes": True, "all": True, "false": False, "no": False}.get(value.strip().lower(), value)
    return value


def _rows(value: Any, argument: str, ids: tuple[str, ...], words: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """The id, the kind and the word of each entry of a map. `words` maps the field names to kinds; "" stands for a word
    alone."""
    value = inner_json(value)
    if value is None:
        return
    if isinstance(value, dict) and not any(name in value for name in ids):
        pairs = [(step, {"": word} if isinstance(word, str) else word) for step, word in value.items()]
    else:
        pairs = [_identified(inner_json(each), argument, ids, words) for each in _list(value)]
    for step, fields in pairs:
        if not isinstance(fields, dict) or not fields or not fields.keys() <= words.keys():
            expected = " or ".join(name for name in words if name)
            raise _unfit(argument, f"{step} needs a text, or an object with {expected}, not {_noun(fields)}")
        for name, word in fields.items():
            if not isinstance(word, str) or not (word.strip() or words[name] == "after"):
                is_blank = word is None or (isinstance(word, str) and not word.strip())
                problem = f"nothing is given for {step}" if is_blank else f"{step} has {_noun(word)}"
                raise _unfit(argument, problem)
            yield step, words[name], word


def _identified(row: Any, argument: str, ids: tuple[str, ...], words: Mapping[str, str]) -> tuple[str, Any]:
    """The id of an object in a list, and its other fields. `{"s1": "completed"}` has its id as a key."""
    if isinstance(row, dict):
        name = next((each for each in ids if isinstance(row.get(each), str)), None)
        if name is not None:
            return row[name], {key: word for key, word in row.items() if key != name}
        if len(row) == 1 and not row.keys() & {*ids, *words}:
            [(step, word)] = row.items()
            return step, {"": word} if isinstance(word, str) else word
    raise _unfit(argument, f"{_noun(row)} names no step" if argument != "answers" else f"{_noun(row)} names no remark")


def _list(value: Any) -> list[Any]:
    """A list; a single element becomes a list of one."""
    value = inner_json(value)
    return value if isinstance(value, list) else [] if value is None else [value]


def _step(value: Any, where: str, argument: str) -> AddStep:
    """A step as a model gives it: a text, or an object."""
    value = inner_json(value)
    if isinstance(value, str):
        value = {"content": value}
    try:
        step = msgspec.convert(value, _NewStep)
    except msgspec.ValidationError as error:
        raise _unfit(argument, str(error), where) from None
    if not step.content.strip():
        raise _unfit(argument, "the step has no text", where)
    status = DEFAULT_STATUS if step.status is None else _status(step.status, where, argument)
    priority = MEDIUM if step.priority is None else _priority(step.priority, where, argument)
    return AddStep(step.content, step.after, priority, status)


def _status(word: str, where: str, argument: str = "steps") -> str:
    if status := folded_status(word):
        return status
    hint = f"use one of {', '.join(STATUSES)}"
    raise ToolError("unknown_status", f"{where}: {word!r} is no status", hint, example(argument))


def _priority(word: str, where: str, argument: str = "priority") -> str:
    if priority := folded_priority(word):
        return priority
    hint = f"use one of {', '.join(PRIORITIES)}"
    raise ToolError("unknown_priority", f"{where}: {word!r} is no priority", hint, example(argument))


def _behind(word: str | None, last: str | None) -> str | None:
    """The step to place another one after: "" for the beginning, `last` for the end."""
    if word is None or not word.strip():
        return word if word is None else ""
    folded = folded_word(word)
    return "" if folded in _START else last if folded in _END else word


def _unfit(argument: str, problem: str, where: str = "") -> ToolError:
    hint = "a step is a text, or has content, priority, status" if where else f"send {argument} as in the example"
    return ToolError("invalid_arguments", f"{where or argument}: {problem}", hint, example(argument))


def _noun(value: Any) -> str:
    """A value as an error names it."""
    try:
        text = msgspec.json.encode(value).decode()
    except (TypeError, ValueError, OverflowError, RecursionError):
        text = f"a value of the type {type(value).__name__}"
    return text if len(text) <= 80 else f"{text[:79]}…"
