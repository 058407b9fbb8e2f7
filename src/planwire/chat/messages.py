"""The messages of a chat in their stored form: the author's own, and two hidden kinds among them.

    {"message_id": "m1", "role": "user", "content": "Fix the parser"}
    {"message_id": "m2", "role": "plan", "content": "…", "extra": {"plan": {"id": "main", "version": 1, …}}}
    {"message_id": "m3", "role": "event", "content": "…", "extra": {"event": {"subkind": "tick", "source": "…", …}}}

The roles `plan` and `event` are planwire's own: no provider knows them and none ever gets them (`render`). Every other
message belongs to its author and stays as it is, in their provider's format. `message_id` and `extra` are the envelope
around a stored message, which no provider gets either. Refact's JSON is `flat`: it has no `extra`, and metadata stands
at the top level of a message, beside fields that nobody knows. Each message is written in the form that it was read in.

A stream file is a JSON list of messages, or an object that has the list as its `messages`, as Refact's trajectories.
"""

from collections.abc import Iterable, Mapping
from math import isfinite
from types import NoneType
from typing import Any, Final, TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from planwire.errors import BadMessage, BadStream, NoStream
from planwire.model.plan import MAIN, Fields

PLAN: Final = "plan"
EVENT: Final = "event"

_ENVELOPE: Final = ("message_id", "extra")
#: The part of a message's `extra` that is planwire's own; a flat message has it at its top level.
OWN: Final = "planwire"
_MESSAGES: Final = "messages"
#: What errors call a JSON value of the wrong type.
_KINDS: Final = {
    NoneType: "missing",
    bool: "a boolean",
    int: "a number",
    float: "a number",
    str: "text",
    list: "a list",
}


class Ordinary(Struct, frozen=True, gc=False):
    """A message of the author's, in the format of their provider."""

    id: str
    message: Fields
    extra: Fields | None = None


class PlanMessage(Struct, frozen=True, gc=False):
    """A whole plan. `content` is the text for the model; `plan` says which plan and version it is, and which one it
    supersedes. `extra` are the unknown fields beside `plan`, `other` those beside `extra`. `flat`: it is stored without
    `extra`."""

    id: str
    content: str
    plan: Fields
    extra: Fields | None = None
    other: Fields | None = None
    flat: bool = False

    @property
    def plan_id(self) -> str:
        return _text(self.plan.get("id"), MAIN)

    @property
    def version(self) -> int:
        version = self.plan.get("version")
        return version if isinstance(version, int) else 0


class EventMessage(Struct, frozen=True, gc=False):
    """Something that happened: `subkind` says what, `source` where, `payload` has the details."""

    id: str
    content: str
    event: Fields
    extra: Fields | None = None
    other: Fields | None = None
    flat: bool = False

    @property
    def subkind(self) -> str:
        return _text(self.event.get("subkind"))

    @property
    def source(self) -> str:
        return _text(self.event.get("source")) or "unknown"

    @property
    def payload(self) -> Fields:
        """The payload if it is an object, as that of every known subkind is."""
        payload = self.event.get("payload")
        return payload if isinstance(payload, dict) else {}

    @property
    def plan_id(self) -> str:
        """The plan that a delta is about."""
        return _text(self.payload.get("plan_id"), MAIN)


Hidden: TypeAlias = PlanMessage | EventMessage
Stored: TypeAlias = Ordinary | PlanMessage | EventMessage


def read_message(value: Any, message_id: str | None = None) -> Stored:
    """A message from its stored form, or an author's own message, which gets the id `message_id`."""
    try:
        return stored_message(_plain(value), message_id)
    except RecursionError:
        raise BadMessage("the message is nested too deeply to be stored") from None


def stored_message(fields: Any, message_id: str | None = None) -> Stored:
    """A message from its stored form. It keeps the JSON values without copying them, so nothing else may hold them."""
    if not isinstance(fields, dict):
        raise BadMessage(f"a message must be a JSON object, but this is {_kind(fields)}")
    message_id = fields.get("message_id") if message_id is None else message_id
    if not isinstance(message_id, str) or not message_id:
        raise BadMessage(f"`message_id` must be a non-empty text, but is {_kind(message_id)}")
    extra = fields.get("extra")
    if not isinstance(extra, dict | None):
        raise BadMessage(f"`extra` must be an object, but is {_kind(extra)}")
    extra, role = extra or {}, fields.get("role")
    is_flat = role not in extra
    metadata = (fields.get(role) if is_flat else extra[role]) if role in (PLAN, EVENT) else None
    if role not in (PLAN, EVENT) or not isinstance(metadata, dict | None):  # of another program, in a form of its own
        return Ordinary(message_id, {key: fields[key] for key in fields if key not in _ENVELOPE}, extra or None)
    content = fields.get("content")
    content = "" if content is None else content
    if not isinstance(content, str):
        raise BadMessage(f"the `content` of a message with the role `{role}` must be text, but is {_kind(content)}")
    if is_flat := is_flat and metadata is not None:
        extra = {**extra, OWN: fields[OWN]} if isinstance(fields.get(OWN), dict) else extra
    rest = {key: extra[key] for key in extra if is_flat or key != role}
    taken = (*_ENVELOPE, "role", "content", *((role, OWN) if is_flat else ()))
    other = {key: fields[key] for key in fields if key not in taken}
    made = PlanMessage if role == PLAN else EventMessage
    return made(message_id, content, metadata or {}, rest or None, other or None, is_flat)


def write_message(message: Stored) -> Fields:
    """The stored form of a message."""
    match message:
        case Ordinary(id=message_id, message=fields, extra=extra):
            return {"message_id": message_id, **fields, **({"extra": extra} if extra else {})}
        case PlanMessage(plan=metadata):
            role = PLAN
        case EventMessage(event=metadata):
            role = EVENT
    fields = {"message_id": message.id, "role": role, "content": message.content, **(message.other or {})}
    extra = {**(message.extra or {})}
    if message.flat:
        fields[role] = metadata
        if OWN in extra:
            fields[OWN] = extra.pop(OWN)
    elif metadata:
        extra[role] = metadata
    return {**fields, "extra": extra} if extra else fields


def in_one_form(messages: Iterable[Stored]) -> list[Stored]:
    """The messages of one file: if a program that writes flat messages began it, all are flat, so that it finds what
    planwire added."""
    found = [*messages]
    if not any(each.flat for each in found if not isinstance(each, Ordinary)):
        return found
    return [each if isinstance(each, Ordinary) else replace(each, flat=True) for each in found]


def read_stream(data: bytes | str) -> list[Stored]:
    """The messages of a stream file. Those that have no `message_id`, or an empty one, get one."""
    return read_trajectory(data)[0]


def read_trajectory(data: bytes | str) -> tuple[list[Stored], Fields | None]:
    """The messages of a stream file, and the object around their list with `messages` empty, or None without one."""
    try:
        values = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise NoStream(f"a stream must be a JSON list of messages, but this is not JSON: {error}") from None
    around = None
    if isinstance(values, dict) and isinstance(values.get(_MESSAGES), list):
        around, values = {**values, _MESSAGES: []}, values[_MESSAGES]
    if not isinstance(values, list):
        raise NoStream(
            f"a stream must be a JSON list of messages, or an object with such a list as `{_MESSAGES}`, but this is "
            f"{_kind(values)}"
        )
    return _messages(values), around


def _messages(values: list[Any]) -> list[Stored]:
    names = [value.get("message_id") for value in values if isinstance(value, dict)]
    taken = {name for name in names if isinstance(name, str)}
    messages: list[Stored] = []
    seen: set[str] = set()
    for index, value in enumerate(values):
        nameless = isinstance(value, dict) and value.get("message_id") in (None, "")
        try:
            message = stored_message(value, _free_name(index, taken) if nameless else None)
        except BadMessage as error:
            raise BadStream(f"message {index} (counted from 0): {error}") from None
        if message.id in seen:
            raise BadStream(f"message {index} (counted from 0): the `message_id` {message.id!r} is taken already")
        seen.add(message.id)
        messages.append(message)
    return messages


def write_stream(messages: Iterable[Stored], around: Fields | None = None) -> bytes:
    """The file of a stream, one message per line, inside the object that was around it."""
    lines = b",\n".join(msgspec.json.encode(write_message(message)) for message in messages)
    stream = b"[\n" + lines + b"\n]" if lines else b"[]"
    if around is None:
        return stream + b"\n"
    fields = {**around, _MESSAGES: msgspec.Raw(stream)}
    return msgspec.json.encode(fields) + b"\n"


def _plain(value: Any) -> Any:
    """A deep copy of a JSON value, so that no later change to the original reaches the store.

    Objects from the providers' own packages, which authors put into messages, become plain JSON values.
    """
    kind = type(value)
    if kind is str:
        if not value.isascii():
            _check_text(value)
        return value
    if kind is dict or isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise BadMessage(f"the keys of a JSON object must be text, and {key!r} is not")
        return {_plain(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if value is None or kind is bool:
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        if not isfinite(value):
            raise BadMessage(f"JSON has no number {value}: give a message as JSON values")
        return float(value)
    if isinstance(value, str):  # of a subclass of str, such as the members of an enumeration
        return _plain(str.__str__(value))
    if hasattr(value, "model_dump"):
        return _plain(value.model_dump(mode="json", by_alias=True, exclude_unset=True))
    raise BadMessage(f"JSON has no form for {kind.__name__}: give a message as JSON values")


def _check_text(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise BadMessage(f"a text has half of a surrogate pair at {error.start}: it can't be stored or sent") from None


def _free_name(index: int, taken: set[str]) -> str:
    name = f"m{index + 1}"
    while name in taken:
        name += "'"
    return name


def _text(value: Any, default: str = "") -> str:
    return value if isinstance(value, str) else default


def _kind(value: Any) -> str:
    return "empty" if value == "" else _KINDS.get(type(value), "an object")
