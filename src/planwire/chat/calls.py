"""Tool calls in a chat: how a message names them, and which of them still wait for their results.

The client answers most calls. The server answers others itself, in the same answer of the model or in a later one:
planwire keeps such a call together with its result, and never invents one.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeVar

from msgspec import Struct

from planwire.model.plan import Fields

Key = TypeVar("Key")

#: The kind of a part that is a text.
TEXT: Final = "text"
CANCELLED_TEXT: Final = "cancelled: the turn was interrupted before this call was answered"


class CallRef(Struct, frozen=True):
    """A tool call, as its message or its result names it. Old messages and Gemini's may have no id: then the name
    counts. `caller` is the server's call that made this one, and `repeated` are fields that the answer must repeat."""

    id: str
    name: str = ""
    kind: str = ""
    is_hosted: bool = False
    caller: str = ""
    repeated: Fields | None = None

    def answers(self, call: "CallRef") -> bool:
        if self.kind != call.kind:
            return False
        return self.id == call.id if self.id and call.id else self.name == call.name


def still_open(calls: Mapping[Key, CallRef], results: Iterable[CallRef]) -> dict[Key, CallRef]:
    """The calls that these results leave unanswered. A result answers one call, the oldest that it names."""
    remaining = dict(calls)
    for result in results:
        answered = next((key for key, call in remaining.items() if result.answers(call)), None)
        if answered is not None:
            del remaining[answered]
    return remaining


def unmatched(calls: Sequence[CallRef], results: Sequence[CallRef]) -> tuple[list[CallRef], list[CallRef]]:
    """The calls and the results of one message that do not answer each other."""
    left = [*results]
    remaining: list[CallRef] = []
    for call in calls:
        answer = next((each for each in left if each.answers(call)), None)
        if answer is None:
            remaining.append(call)
        else:
            left.remove(answer)
    return remaining, left


def objects(values: Any) -> Sequence[Fields]:
    """The JSON objects in a list."""
    return [value for value in values if isinstance(value, dict)] if isinstance(values, list) else ()


def text(value: Any) -> str:
    return value if isinstance(value, str) else ""
