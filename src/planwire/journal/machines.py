"""This machine by a name that no other has: what tells whether a process can be looked for here."""

import os
import platform
from contextlib import suppress
from functools import cache
from pathlib import Path

__all__ = ["this_machine"]


@cache
def this_machine() -> str:
    """The name of the host, what the system says of itself, and which processes are in sight: a container sees others
    than its host does."""
    parts = [platform.node()]
    with suppress(OSError):
        parts.append(Path("/etc/machine-id").read_text().strip())
    with suppress(OSError):
        parts.append(os.readlink("/proc/self/ns/pid"))  # noqa: PTH115  (no path, but a name)
    return " ".join(parts)
