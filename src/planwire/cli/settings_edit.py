"""Edits of a settings file as text: everything that a person wrote around an edit stays, spaces and comments too.

Each function takes a text and returns a text. `remove_member` undoes `insert_member`, and `drop_items` undoes
`prepend_items`.
"""

import json
import re
from collections.abc import Sequence
from typing import Any

from planwire.cli.jsonc import BadSettings, Items, JsoncMember, Members, Node, read_settings

_UNIT = "  "


def insert_member(text: str, path: Sequence[str], name: str, value: Any) -> str:
    """Add a member at the end of the object at `path`, and create the objects on the way that are missing."""
    root = read_settings(text)
    if root is None:
        for each in (name, *reversed(path)):
            value = {each: value}
        gap = "" if not text or text.endswith("\n") else _newline(text)
        return f"{text}{gap}{_laid_out(value, '', _UNIT, _newline(text))}{_newline(text)}"
    missing = next((at for at in range(len(path)) if root.member(*path[: at + 1]) is None), len(path))
    for each in reversed(path[missing:]):
        name, value = each, {name: value}
    return _inserted(text, root, _found(text, root, path[:missing]), name, value)


def remove_member(text: str, path: Sequence[str]) -> str:
    """Remove the member at `path`, with its comma and the spaces before it. Comments stay."""
    root = read_settings(text)
    container = _found(text, root, path[:-1])
    members = container.parts.members if isinstance(container.parts, Members) else ()
    at = max((at for at, each in enumerate(members) if each.name == path[-1]), default=None)
    if at is None:
        return text
    member = members[at]
    start = _cut_from(text, members[at - 1].end if at else container.start + 1, member)
    if len(members) == 1 and not text[container.start + 1 : member.start].strip() and _is_blank(text, member.end):
        return text[: container.start + 1] + text[text.index("}", member.end) :]
    before = members[at - 1] if at else None
    if before and before.comma and member.comma is None:  # the member before it is the last one now
        return text[: before.comma - 1] + text[before.comma : start] + text[member.end :]
    return text[:start] + text[member.end :]


def replace_value(text: str, path: Sequence[str], value: str) -> str:
    """Replace the value at `path` by another text."""
    node = _found(text, read_settings(text), path)
    return text[: node.start] + value + text[node.end :]


def prepend_items(text: str, path: Sequence[str], items: Sequence[Any]) -> str:
    """Add items at the beginning of the array at `path`, laid out like its first item."""
    node = _found(text, read_settings(text), path)
    present = node.parts.items if isinstance(node.parts, Items) else ()
    words = [compact_json(each) for each in items]
    if not present:
        return f"{text[: node.start + 1]}{', '.join(words)}{text[node.start + 1 :]}"
    start = present[0].start
    line = _line_start(text, start)
    between = f"{_newline(text)}{text[line:start]}" if not text[line:start].strip() else " "
    return text[:start] + "".join(f"{word},{between}" for word in words) + text[start:]


def drop_items(text: str, path: Sequence[str], count: int) -> str:
    """Remove the first `count` items of the array at `path`."""
    node = _found(text, read_settings(text), path)
    present = node.parts.items if isinstance(node.parts, Items) else ()
    if not count or not present:
        return text
    end = present[count].start if count < len(present) else present[-1].end
    return text[: present[0].start] + text[end:]


def _found(text: str, root: Node | None, path: Sequence[str]) -> Node:
    node = root.member(*path) if root else None
    if node is None:
        raise BadSettings(text, 0, f"there is no {'.'.join(path)}")
    return node


def _inserted(text: str, root: Node, container: Node, name: str, value: Any) -> str:
    if not isinstance(container.parts, Members):
        raise BadSettings(text, container.start, 'an object, "{…}", has to be here')
    members = container.parts.members
    close = container.end - 1
    newline = _newline(text)
    if members and "\n" not in text[container.start : close]:  # all on one line: so is the new one
        comma = members[-1].comma
        last = members[-1].end
        added = f" {compact_json(name)}: {compact_json(value)}"
        return f"{text[:last]}{f'{added},' if comma else f',{added}'}{text[last:]}"
    outer = _indent(text, container.start)
    unit = _unit(text, root)
    inner = _indent(text, members[0].start) if members else outer + unit
    added = f"{newline}{inner}{compact_json(name)}: {_laid_out(value, inner, unit, newline)}"
    end = _content_end(text, close)
    if not members:
        return f"{text[:end]}{added}{newline}{outer}{text[close:]}"
    last = members[-1].value.end
    if members[-1].comma:
        return f"{text[:end]}{added},{text[end:]}"
    return f"{text[:last]},{text[last:end]}{added}{text[end:]}"


def _cut_from(text: str, earliest: int, member: JsoncMember) -> int:
    """Where to cut a member out: with the spaces before it, unless the rest of its line would land in a comment."""
    start = max(_content_end(text, member.start), earliest)
    comments = re.sub(r"/\*.*?\*/", "", text[earliest:start], flags=re.DOTALL)
    in_comment = "//" in comments.rpartition("\n")[2]
    return member.start if in_comment and text[member.end :].lstrip(" \t")[:1] not in ("\r", "\n") else start


def _content_end(text: str, at: int) -> int:
    """Where the spaces before a place begin."""
    return len(text[:at].rstrip())


def _is_blank(text: str, at: int) -> bool:
    """Whether nothing but spaces is between a place and the end of its object."""
    return text[at:].lstrip().startswith("}")


def _line_start(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1


def _indent(text: str, at: int) -> str:
    found = re.match(r"[ \t]*", text[_line_start(text, at) : at])
    return found[0] if found else ""


def _unit(text: str, root: Node) -> str:
    """The file's unit of indentation: that of its first member, or two spaces."""
    members = root.parts.members if isinstance(root.parts, Members) else ()
    found = _indent(text, members[0].start) if members else ""
    return found or _UNIT


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def compact_json(value: Any) -> str:
    """JSON on one line with plain letters; all is escaped if there is something unprintable, such as half a surrogate
    pair."""
    text = json.dumps(value, ensure_ascii=False)
    return text if text.isprintable() else json.dumps(value)


def _laid_out(value: Any, indent: str, unit: str, newline: str) -> str:
    """JSON over several lines, with arrays on one line, as people write it."""
    if not isinstance(value, dict) or not value:
        return compact_json(value)
    inner = indent + unit
    members = (f"{inner}{compact_json(name)}: {_laid_out(each, inner, unit, newline)}" for name, each in value.items())
    return f"{{{newline}{f',{newline}'.join(members)}{newline}{indent}}}"
