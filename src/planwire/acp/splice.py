"""Changes inside a line of JSON that leave every other byte of it alone.

A splice walks the text to its place, puts its value there, and proves itself: it decodes both texts and compares. If
anything about a line is odd (a key that comes twice, say) the proof fails, and the line stays as it is.
"""

import re
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import msgspec

_SPACE: Final = re.compile(rb"[ \t\r\n]*+")
_STRING: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_SCALAR: Final = re.compile(rb"[^ \t\r\n{}\[\]:,\"]++")
_STRING_OR_BRACKET: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[{}\[\]]', re.DOTALL)

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode

#: A way into a value: the names of members.
Path = Sequence[str]


class Unspliceable(Exception):
    """The line can't be spliced. It stays as it is."""


class _Span(NamedTuple):
    start: int
    end: int


class _PlaceOfMember(NamedTuple):
    """Where a member of an object begins, and where its value does."""

    name: int
    value: int


def set_members(line: bytes, path: Path, members: dict[str, Any]) -> bytes:
    """Set members of the object at the path. If something else or nothing is there, the object takes its place."""
    value = _decoded(line)
    _checked(_follow(value, path[:-1]), dict)
    place = _locate(line, path, missing=True)
    if place is None:
        return set_members(line, path[:-1], {path[-1]: members})
    if not isinstance(_follow(value, path), dict):
        return _swap(line, path, place, _encode(members), members)
    text = line
    for name, wanted in members.items():
        existing = _locate(text, (*path, name), missing=True)
        if existing is None:
            end = _locate_surely(text, path).end - 1
            comma = b"" if _is_empty(text, _locate_surely(text, path)) else b","
            text = b"%b%b%b:%b%b" % (text[:end], comma, _encode(name), _encode(wanted), text[end:])
        else:
            text = b"%b%b%b" % (text[: existing.start], _encode(wanted), text[existing.end :])
    _follow(value, path).update(members)
    return _proven(text, value)


def spell_member(line: bytes, path: Path, name: str, names: Sequence[str]) -> bytes:
    """Give a member of the object at the path all of `names`, side by side, instead of its own name. The bytes of the
    value stay, and so do those of a name that stays."""
    value = _decoded(line)
    owner = _checked(_follow(value, path), dict)
    found = _member(line, _locate_surely(line, path).start, name)
    there = [each for each in names if each in owner and each != name]
    if found is None or len(there) == len(names):
        raise Unspliceable(f"{name!r} can't be spelled otherwise")
    end = _end(line, found.value)
    member, text = line[found.name : end], line[found.value : end]
    members = [member if each == name else b"%b:%b" % (_encode(each), text) for each in names if each not in there]
    changed = b"%b%b%b" % (line[: found.name], b",".join(members), line[end:])
    for each in there:
        place = _locate_surely(changed, (*path, each))
        changed = b"%b%b%b" % (changed[: place.start], text, changed[place.end :])
    owner.update(dict.fromkeys(names, owner.pop(name)))
    return _proven(changed, value)


def append_element(line: bytes, path: Path, element: Any) -> bytes:
    """Append an element to the list at the path."""
    value = _decoded(line)
    elements = _checked(_follow(value, path), list)
    place = _locate_surely(line, path)
    comma = b"," if elements else b""
    elements.append(element)
    return _proven(b"%b%b%b%b" % (line[: place.end - 1], comma, _encode(element), line[place.end - 1 :]), value)


def replace_value(line: bytes, path: Path, new: Any) -> bytes:
    """The line with another value at the path."""
    return _swap(line, path, _locate_surely(line, path), _encode(new), new)


def _swap(line: bytes, path: Path, place: _Span, text: bytes, new: Any) -> bytes:
    value = _decoded(line)
    _follow(value, path[:-1])[path[-1]] = new
    return _proven(b"%b%b%b" % (line[: place.start], text, line[place.end :]), value)


def _proven(text: bytes, value: Any) -> bytes:
    try:
        is_right = _decoded(text) == value
    except RecursionError as error:
        raise Unspliceable(str(error)) from None
    if not is_right:
        raise Unspliceable("the line does not read as it should after the change")
    return text


def _decoded(line: bytes) -> Any:
    try:
        return _decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Unspliceable(str(error)) from None


def _follow(value: Any, path: Path) -> Any:
    for step in path:
        try:
            value = value[step]
        except (KeyError, TypeError):
            if isinstance(value, dict):
                return None
            raise Unspliceable(f"there is no {step!r}") from None
    return value


def _checked(value: Any, kind: type) -> Any:
    if not isinstance(value, kind):
        raise Unspliceable(f"expected a {kind.__name__}")
    return value


def _locate_surely(line: bytes, path: Path) -> _Span:
    place = _locate(line, path)
    assert place is not None
    return place


def _locate(line: bytes, path: Path, *, missing: bool = False) -> _Span | None:
    """Where the value at a path begins and ends. With `missing`, None if only the last step is not there."""
    start = _skip_space(line, 0)
    for depth, step in enumerate(path, start=1):
        found = _member(line, start, step)
        if found is None:
            if missing and depth == len(path):
                return None
            raise Unspliceable(f"there is no {step!r}")
        start = found.value
    return _Span(start, _end(line, start))


def _member(line: bytes, start: int, name: str) -> _PlaceOfMember | None:
    if line[start : start + 1] != b"{":
        raise Unspliceable("expected an object")
    at = _skip_space(line, start + 1)
    while line[at : at + 1] != b"}":
        key = _STRING.match(line, at)
        if key is None:
            raise Unspliceable("expected a name")
        at = _skip_space(line, _skip_space(line, key.end()) + 1)
        if _decoded(key.group()) == name:
            return _PlaceOfMember(key.start(), at)
        at = _skip_space(line, _end(line, at))
        if line[at : at + 1] == b",":
            at = _skip_space(line, at + 1)
    return None


def _end(line: bytes, start: int) -> int:
    """Where the value that begins here ends."""
    first = line[start : start + 1]
    if first not in (b"{", b"["):
        scalar = _STRING.match(line, start) if first == b'"' else _SCALAR.match(line, start)
        if scalar is None:
            raise Unspliceable("expected a value")
        return scalar.end()
    depth = 0
    for token in _STRING_OR_BRACKET.finditer(line, start):
        bracket = token.group() if token.end() - token.start() == 1 else b""
        if bracket in (b"{", b"["):
            depth += 1
        elif bracket:
            depth -= 1
            if not depth:
                return token.end()
    raise Unspliceable("a bracket is not closed")


def _is_empty(line: bytes, place: _Span) -> bool:
    return _skip_space(line, place.start + 1) == place.end - 1


def _skip_space(line: bytes, at: int) -> int:
    found = _SPACE.match(line, at)
    return found.end() if found else at
