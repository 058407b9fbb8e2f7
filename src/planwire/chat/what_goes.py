"""What a compaction lets go of first: one table, and the units of a chat in its order.

| row | what |
|---|---|
| 0 | what the chat holds twice: calls of plan tools, and everything that a provider's own compaction covers |
| 1, 2 | tool output, then assistant text, of finished steps |
| 3, 4 | tool output, then assistant text, of no step |
| 5 | user messages of finished steps |
| 6, 7 | tool output, then assistant text, of open steps |
| 8 | all other user messages |
| last | the first user message and pinned ones, then the item of a provider's compaction |

Within a row the oldest goes first. A call goes with its results, as tool output. Why do user messages of finished steps
go before the work on open ones? In some chats people write a third of the text. Keeping all of it would leave no room
for what the agent needs next.
"""

from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from typing import Final

from msgspec import Struct

from planwire.chat.belonging import Belonging, is_pinned
from planwire.chat.formats import Format
from planwire.chat.markers import is_summary
from planwire.chat.messages import Ordinary, Stored
from planwire.chat.plan_tools import TOOL_NAMES

#: Roles of the author's instructions, which stay.
_INSTRUCTIONS: Final = ("system", "developer")
#: Roles of the model and of its tools. A message with any other one may be a person's.
_OF_MODEL: Final = (None, "assistant", "model", "tool", "function")


class _Author(Enum):
    TOOL = "tool output"
    MODEL = "assistant text"
    USER = "user message"


class _Life(Enum):
    FINISHED = "of finished steps"
    NONE = "of no step"
    OPEN = "of open steps"


_ROWS: Final = {
    (_Author.TOOL, _Life.FINISHED): 1,
    (_Author.MODEL, _Life.FINISHED): 2,
    (_Author.TOOL, _Life.NONE): 3,
    (_Author.MODEL, _Life.NONE): 4,
    (_Author.USER, _Life.FINISHED): 5,
    (_Author.TOOL, _Life.OPEN): 6,
    (_Author.MODEL, _Life.OPEN): 7,
    (_Author.USER, _Life.NONE): 8,
    (_Author.USER, _Life.OPEN): 8,
}
_TWICE: Final = 0
#: The row of the task and of pinned messages, and the row after it.
LAST: Final = max(_ROWS.values()) + 1
_STANDS_FOR_ALL: Final = LAST + 1


class Leaving(Struct, frozen=True):
    """Messages that go together: their row in the table, their indexes, and the steps that they belong to."""

    row: int
    indexes: tuple[int, ...]
    steps: tuple[str, ...]


def may_ever_go(message: Stored) -> bool:
    """Whether a message may go at all: the author's instructions may not."""
    return not isinstance(message, Ordinary) or message.message.get("role") not in _INSTRUCTIONS


def in_order(
    messages: Sequence[Stored],
    units: Iterable[range],
    form: Format,
    belongs: Belonging,
    may_go: Callable[[int], bool],
) -> list[Leaving]:
    """The units that may go, in the order in which they go."""
    first = next((at for at, each in enumerate(messages) if _is_user(each, form)), -1)
    kept = [tuple(filter(may_go, unit)) for unit in units]
    stand = {unit[0] for unit in kept if any(_stands_for_all(messages[each], form) for each in unit)}
    newest = max(stand, default=-1)
    found: list[Leaving] = []
    for unit in filter(None, kept):
        steps = tuple(dict.fromkeys(step for each in unit for step in belongs.steps[each]))
        if unit[0] in stand:
            row = _STANDS_FOR_ALL
        elif first in unit or any(is_pinned(messages[each]) for each in unit):
            row = LAST
        elif unit[0] < newest or _is_of_plan([messages[each] for each in unit], form):
            row = _TWICE
        else:
            row = _ROWS[_author([messages[each] for each in unit], form), _life(steps, belongs.open)]
        found.append(Leaving(row, unit, tuple(sorted(steps))))
    return sorted(found, key=lambda leaving: leaving.row)


def _author(unit: Iterable[Stored], form: Format) -> _Author:
    author = _Author.MODEL
    for message in unit:
        if isinstance(message, Ordinary) and (form.calls(message.message) or form.results(message.message)):
            return _Author.TOOL
        if is_summary(message) or _is_user(message, form):
            author = _Author.USER
    return author


def _is_of_plan(unit: Iterable[Stored], form: Format) -> bool:
    """Whether a unit consists only of calls of plan tools and their answers."""
    calls = [call for each in unit if isinstance(each, Ordinary) for call in form.calls(each.message)]
    return bool(calls) and all(call.name.rpartition("__")[2] in TOOL_NAMES for call in calls)


def _life(steps: Sequence[str], still_open: frozenset[str]) -> _Life:
    if not steps:
        return _Life.NONE
    return _Life.FINISHED if still_open.isdisjoint(steps) else _Life.OPEN


def _is_user(message: Stored, form: Format) -> bool:
    if not isinstance(message, Ordinary) or not may_ever_go(message):
        return False
    return message.message.get("role") not in _OF_MODEL and not form.results(message.message)


def _stands_for_all(message: Stored, form: Format) -> bool:
    return isinstance(message, Ordinary) and form.stands_for_all_before(message.message)
