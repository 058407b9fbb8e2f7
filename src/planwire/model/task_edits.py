"""Edits of the tasks in a markdown text, line by line: every other line keeps every byte.

Each function takes the number of a task in the text (from 0) and returns the new text. It parses the result again and
refuses the edit unless exactly the intended tasks are there: indentation, quotes and code make markdown lists
surprising, and a wrong guess would silently lose a step.
"""

import re

from planwire.errors import UneditableText
from planwire.model.markdown import Checkbox, box_of, parse
from planwire.model.statuses import canonical
from planwire.model.text import unwrapped

_MARKER = re.compile(r"(?:[-*+]|\d{1,9}[.)])[ \t]+$")
_LINES = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+\Z")
_NEWLINE = re.compile(r"\r\n?|\n")


def reword_task(text: str, index: int, words: str) -> str:
    """Give a task another text."""
    tasks = parse(text).tasks
    lines = _split(text)
    first, end = tasks[index].words
    box_end = tasks[index].offset - len("".join(lines[:first])) + 2
    lines[first:end] = [f"{lines[first][:box_end]} {unwrapped(words)}{_newline(lines[end - 1])}"]
    expected = [_shown(task) for task in tasks]
    expected[index] = unwrapped(words), tasks[index].status
    return _checked(lines, expected)


def add_task(text: str, after: int | None, words: str, status: str) -> str:
    """Add a task after another one and everything nested in it; None is the beginning of the list."""
    tasks = parse(text).tasks
    lines = _split(text)
    box, status = f"[{box_of(status)}] {unwrapped(words)}", canonical(status)
    if not tasks:
        end = _any_newline(text)
        gap = end if text and not text.endswith(2 * end) else ""
        lines = [*_ended(lines), gap, f"- {box}{end}"]
        return _checked(lines, [(unwrapped(words), status)])
    neighbour = tasks[0] if after is None else tasks[after]
    at = neighbour.item[0] if after is None else neighbour.item[1]
    lines = _ended(lines) if at == len(lines) else lines
    lines.insert(at, f"{_prefix(lines, neighbour)}{box}{_newline(lines[neighbour.item[0]]) or _any_newline(text)}")
    expected = [_shown(task) for task in tasks]
    expected.insert(0 if after is None else after + _family(tasks, after), (unwrapped(words), status))
    return _checked(lines, expected)


def remove_task(text: str, index: int) -> str:
    """Remove a task and everything nested in it."""
    tasks = parse(text).tasks
    lines = _split(text)
    first, end = tasks[index].item
    del lines[first:end]
    kept = [*tasks[:index], *tasks[index + _family(tasks, index) :]]
    return _checked(lines, [_shown(task) for task in kept])


def move_task(text: str, index: int, after: int | None) -> str:
    """Move a task and everything nested in it after another one; None is the beginning of the list."""
    tasks = parse(text).tasks
    size = _family(tasks, index)
    if after is not None and index <= after < index + size:
        raise UneditableText("a step can't be moved after itself or into its own sub-steps")
    lines = _ended(_split(text))
    first, end = tasks[index].item
    neighbour = tasks[0] if after is None else tasks[after]
    at = neighbour.item[0] if after is None else neighbour.item[1]
    block = _shifted(lines[first:end], _column(lines, neighbour) - _column(lines, tasks[index]))
    del lines[first:end]
    at -= end - first if at > first else 0
    lines[at:at] = block
    expected = [_shown(task) for task in tasks]
    family = expected[index : index + size]
    del expected[index : index + size]
    to = 0 if after is None else after + _family(tasks, after)
    expected[to - (size if to > index else 0) : to - (size if to > index else 0)] = family
    return _checked(lines, expected)


def family(text: str, index: int) -> int:
    """The number of tasks in a task's family: itself and everything nested in it."""
    return _family(parse(text).tasks, index)


def _family(tasks: tuple[Checkbox, ...], index: int) -> int:
    end = tasks[index].item[1]
    size = 1
    while index + size < len(tasks) and tasks[index + size].item[0] < end:
        size += 1
    return size


def _checked(lines: list[str], expected: list[tuple[str, str]]) -> str:
    text = "".join(lines)
    if [_shown(task) for task in parse(text).tasks] != expected:
        raise UneditableText("this change would break the markdown text: set the plan again instead")
    return text


def _shown(task: Checkbox) -> tuple[str, str]:
    return task.text, task.status


def _split(text: str) -> list[str]:
    return _LINES.findall(text)


def _ended(lines: list[str]) -> list[str]:
    """The lines, the last one with a line end."""
    if lines and not _newline(lines[-1]):
        lines = [*lines[:-1], lines[-1] + _any_newline("".join(lines))]
    return lines


def _newline(line: str) -> str:
    found = _NEWLINE.search(line)
    return found[0] if found else ""


def _any_newline(text: str) -> str:
    return _newline(text) or "\n"


def _column(lines: list[str], task: Checkbox) -> int:
    return len(_prefix(lines, task))


def _prefix(lines: list[str], task: Checkbox) -> str:
    """The text before the box that a new neighbour of a task needs: indentation and marker."""
    start = len("".join(lines[: task.words[0]]))
    before_box = lines[task.words[0]][: task.offset - 1 - start]
    marker = _MARKER.search(before_box)
    if marker is None:
        raise UneditableText("the list around this step is laid out in a way that can't be edited: set the plan again")
    outer = re.sub(r"[^>\s]", " ", before_box[: marker.start()])
    return outer + marker[0]


def _shifted(block: list[str], columns: int) -> list[str]:
    if columns >= 0:
        return [" " * columns + line if line.strip() else line for line in block]
    return [line[min(-columns, len(line) - len(line.lstrip(" "))) :] for line in block]
