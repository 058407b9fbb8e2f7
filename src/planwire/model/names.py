"""The names of the chat messages that events make.

A name must be unique wherever a chat is carried to: a compaction keeps messages by name, and would swap two that share
one. So a name holds the number of the event and its time. It does not hold the session: a fork and an imported session
must fold to the same names.
"""

import re
from collections.abc import Container
from typing import Final

from planwire.model.events import Recorded

__all__ = ["MESSAGE", "free_name", "made_name", "older_name"]

#: The kind of an author's message that has no name of its own.
MESSAGE: Final = "m"

_MADE: Final = re.compile(r"([a-z]+)-(\d+)-[0-9a-f]{8}'*")


def made_name(kind: str, recorded: Recorded) -> str:
    """The name of the message that an event makes."""
    return f"{kind}-{recorded.seq}-{recorded.at & 0xFFFFFFFF:08x}"


def free_name(name: str, taken: Container[str]) -> str:
    """The name, with primes appended until it is not taken."""
    while name in taken:
        name += "'"
    return name


def older_name(name: str) -> str | None:
    """The name that older versions gave the same message, and that their compactions refer to; None for a name that
    planwire did not make."""
    found = _MADE.fullmatch(name)
    if found is None:
        return None
    kind, number = found.groups()
    return f"{kind}{number}" if kind == MESSAGE else f"{kind}-{number}"
