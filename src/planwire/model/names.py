"""The ids of steps and remarks, and the names of the chat messages that events make.

A step or a remark has a number, and a suffix if its writer could not see what others wrote: `s7`, `r3`, `s7-k3f2`.

A name must be unique wherever a chat is carried to: a compaction keeps messages by name, and would swap two that share
one. So a name holds the number of the event and its time. It does not hold the session: a fork and an imported session
must fold to the same names. An event whose number may still change says its name itself (`named`).
"""

import re
from collections.abc import Container
from typing import Final

from msgspec.structs import replace

from planwire.model.events import (
    Event,
    FileSeen,
    MessageAdded,
    PlanChanged,
    PlanRemoved,
    PlanReopened,
    PlanSet,
    Recorded,
    Told,
)

#: The kind of an author's message that has no name of its own.
MESSAGE: Final = "m"

_ID: Final = re.compile(r"([rs])([1-9][0-9]{0,8})(?:-[0-9a-z]{1,16})?")
_MADE: Final = re.compile(r"[a-z]+-\d+-[0-9a-f]{8}'*")
#: The events that make messages, by the kinds of names that these get.
_KINDS: Final[dict[type, str]] = {
    PlanSet: "plan",
    PlanReopened: "plan",
    FileSeen: "plan",
    PlanChanged: "delta",
    PlanRemoved: "delta",
    Told: "told",
}


def made_name(recorded: Recorded) -> str:
    """The name of the message that an event makes."""
    match recorded.event:
        case MessageAdded(message=message):
            known = message.get("message_id")
        case event:
            known = getattr(event, "name", None)
    return known or f"{_KINDS.get(type(recorded.event), MESSAGE)}-{recorded.seq}-{recorded.at & 0xFFFFFFFF:08x}"


def named(recorded: Recorded) -> Event:
    """An event that says the name of its message, and so keeps it under any number."""
    match recorded.event:
        case MessageAdded(message=message) as added if not message.get("message_id"):
            return replace(added, message={**message, "message_id": made_name(recorded)})
        case PlanSet() | PlanReopened() | FileSeen() | PlanChanged() | PlanRemoved() | Told() as event:
            return replace(event, name=made_name(recorded))
    return recorded.event


def is_made(name: str) -> bool:
    """Whether planwire made a name, here or in the session that a message came from."""
    return _MADE.fullmatch(name) is not None


def free_name(name: str, taken: Container[str]) -> str:
    """The name, with primes appended until it is not taken."""
    while name in taken:
        name += "'"
    return name


def new_id(kind: str, number: int, suffix: str = "") -> str:
    """The id of a step ("s") or a remark ("r")."""
    return f"{kind}{number}-{suffix}" if suffix else f"{kind}{number}"


def id_number(kind: str, name: str) -> int:
    """The number in an id of this kind; 0 if it is none."""
    found = _ID.fullmatch(name)
    return int(found[2]) if found and found[1] == kind else 0
