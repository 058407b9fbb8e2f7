"""The ids of steps and remarks, and the names of the chat messages that events make.

A step or a remark has a number, and a suffix if its writer could not see what others wrote: `s7`, `r3`, `s7-k3f2`.

A name must be unique wherever a chat is carried to: a compaction keeps messages by name, and would swap two that share
one. So a name holds the number of the event and its time. It does not hold the session: a fork and an imported session
must fold to the same names.
"""

import re
from collections.abc import Callable, Container
from typing import Final

from planwire.model.events import Recorded

__all__ = ["MESSAGE", "free_name", "id_number", "is_made", "made_name", "new_id", "renumbered"]

#: The kind of an author's message that has no name of its own.
MESSAGE: Final = "m"

_ID: Final = re.compile(r"([rs])([1-9][0-9]{0,8})(?:-[0-9a-z]{1,16})?")
_MADE: Final = re.compile(r"[a-z]+-\d+-[0-9a-f]{8}'*")
#: A name that was made of an event, by the kinds of those that events get. Compactions make others of their own.
_OF_EVENT: Final = re.compile(rf"\b({MESSAGE}|plan|delta|told)-(\d+)-[0-9a-f]{{8}}")


def made_name(kind: str, recorded: Recorded) -> str:
    """The name of the message that an event makes."""
    return _name(kind, recorded.seq, recorded.at)


def renumbered(name: str, real: Callable[[int], tuple[int, int] | None], *, kept: Container[str] = (MESSAGE,)) -> str:
    """A name whose event has another number and time by now, where `real` knows them. Those of `kept` kinds stay."""

    def renamed(found: re.Match[str]) -> str:
        place = None if found[1] in kept else real(int(found[2]))
        return found[0] if place is None else _name(found[1], *place)

    return _OF_EVENT.sub(renamed, name)


def _name(kind: str, seq: int, at: int) -> str:
    return f"{kind}-{seq}-{at & 0xFFFFFFFF:08x}"


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
