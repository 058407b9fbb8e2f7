"""How far the relay has come with recording: two numbers in a file, for the server of the plan tools.

Relay and server write to one session. An agent may send a list and then call a tool, and the journal must have both in
that order. So before it writes, the server reads the numbers and waits until what the relay has read is recorded. This
costs the relay next to nothing: it maps the file into memory and sets the numbers there, once for each record.
"""

import mmap
from contextlib import suppress
from pathlib import Path
from struct import calcsize, unpack
from typing import Final, NamedTuple

#: The name of the file, in the folder of the handoffs.
MARK: Final = "recording.mark"
_FORM: Final = "QQ"


class Recording(NamedTuple):
    """The number of records that the relay was given so far, and of those recorded without a gap."""

    arrived: int
    recorded: int


class RecordingMark:
    """The relay's side. One thread sets each number."""

    def __init__(self, path: Path) -> None:
        with path.open("w+b") as file:
            file.write(bytes(calcsize(_FORM)))
            file.flush()
            self._memory = mmap.mmap(file.fileno(), calcsize(_FORM))
        self._numbers = memoryview(self._memory).cast("Q")

    def arrived(self, number: int) -> None:
        self._numbers[0] = number

    def recorded(self, number: int) -> None:
        self._numbers[1] = number


def read_mark(path: Path) -> Recording | None:
    """The numbers as they are; None if the relay is gone, or has no such file."""
    with suppress(OSError, ValueError):
        return Recording(*unpack(_FORM, path.read_bytes()))
    return None
