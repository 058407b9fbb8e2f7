"""JSON as people write it in settings: with comments and trailing commas. The reader keeps the place of every value.

Editors read this and call it JSON. An edit that keeps the person's comments and spaces has to know where in the text
each value is, so the reader returns nodes with places instead of bare values.
"""

import json
import re
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from planwire.errors import InputError

#: More than any settings have, and less than Python's stack.
_DEEPEST: Final = 100
#: What may come between two tokens, including a byte order mark, which some editors put first.
_GAP: Final = re.compile(r"(?:[\s\ufeff]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING: Final = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"', re.DOTALL)
_WORD: Final = re.compile(r"-?\d[\d.eE+-]*|true|false|null")


class BadSettings(InputError):
    """A text that is not valid settings: where it is wrong, and why."""

    def __init__(self, text: str, at: int, problem: str) -> None:
        line = text.count("\n", 0, at) + 1
        column = at - (text.rfind("\n", 0, at) + 1) + 1
        super().__init__(f"line {line}, column {column}: {problem}")


@dataclass(frozen=True, slots=True)
class Node:
    """A value and its place: `text[start:end]`. `parts` are the nodes inside it, if it is a container."""

    start: int
    end: int
    value: Any
    parts: "Members | Items | None" = None

    def member(self, *path: str) -> "Node | None":
        """The value at that path of names. Of two members with one name the last counts, as it does for editors."""
        node: Node | None = self
        for name in path:
            if node is None or not isinstance(node.parts, Members):
                return None
            node = next((each.value for each in reversed(node.parts.members) if each.name == name), None)
        return node


class JsoncMember(NamedTuple):
    """A name in an object, where it begins, its value, and the end of the comma after it, if there is one."""

    name: str
    start: int
    value: Node
    comma: int | None

    @property
    def end(self) -> int:
        return self.comma or self.value.end


class Members(NamedTuple):
    members: tuple[JsoncMember, ...]


class Items(NamedTuple):
    items: tuple[Node, ...]


def read_settings(text: str) -> Node | None:
    """Read a text. None if it has no value, which editors take for empty settings."""
    reader = _Reader(text)
    start = reader.skip(0)
    if start == len(text):
        return None
    node = reader.value(start, 0)
    end = reader.skip(node.end)
    if end < len(text):
        raise BadSettings(text, end, "something follows the settings' end")
    return node


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text

    def skip(self, at: int) -> int:
        """The place of the next token, after spaces and comments."""
        found = _GAP.match(self._text, at)
        end = found.end() if found else at
        if self._text.startswith("/*", end):
            raise BadSettings(self._text, end, "this comment has no end")
        return end

    def value(self, at: int, depth: int) -> Node:
        if depth > _DEEPEST:
            raise BadSettings(self._text, at, "nested too deeply")
        match self._text[at : at + 1]:
            case "{":
                return self._object(at, depth)
            case "[":
                return self._array(at, depth)
            case '"':
                return self._string(at)
            case _:
                return self._word(at)

    def _string(self, at: int) -> Node:
        found = _STRING.match(self._text, at)
        if found is None:
            raise BadSettings(self._text, at, "this string has no end on its line")
        return Node(at, found.end(), self._loaded(found))

    def _word(self, at: int) -> Node:
        found = _WORD.match(self._text, at)
        if found is None:
            raise BadSettings(
                self._text, at, "a value is missing here" if at < len(self._text) else "the text ends here"
            )
        return Node(at, found.end(), self._loaded(found))

    def _loaded(self, found: re.Match[str]) -> Any:
        try:
            return json.loads(found[0])
        except ValueError:
            raise BadSettings(self._text, found.start(), "this is no JSON value") from None

    def _object(self, at: int, depth: int) -> Node:
        members: list[JsoncMember] = []
        place = self.skip(at + 1)
        while not self._text.startswith("}", place):
            if not self._text.startswith('"', place):
                raise BadSettings(self._text, place, 'a name in quotes, or a "}", is missing here')
            name = self._string(place)
            colon = self.skip(name.end)
            if not self._text.startswith(":", colon):
                raise BadSettings(self._text, colon, 'a ":" is missing here')
            value = self.value(self.skip(colon + 1), depth + 1)
            place, comma = self._next(value.end, "}")
            members.append(JsoncMember(name.value, name.start, value, comma))
        values = {each.name: each.value.value for each in members}
        return Node(at, place + 1, values, Members(tuple(members)))

    def _array(self, at: int, depth: int) -> Node:
        items: list[Node] = []
        place = self.skip(at + 1)
        while not self._text.startswith("]", place):
            items.append(self.value(place, depth + 1))
            place, _ = self._next(items[-1].end, "]")
        return Node(at, place + 1, [each.value for each in items], Items(tuple(items)))

    def _next(self, at: int, closing: str) -> tuple[int, int | None]:
        """The place of the next part or of the end, and the end of the comma before it."""
        place = self.skip(at)
        if self._text.startswith(",", place):
            return self.skip(place + 1), place + 1
        if not self._text.startswith(closing, place):
            raise BadSettings(self._text, place, f'a "," or a "{closing}" is missing here')
        return place, None
