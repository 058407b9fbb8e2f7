"""A name for the machine that a process runs on, which no other machine on its network has."""

import socket
from contextlib import suppress
from functools import cache
from pathlib import Path


@cache
def this_machine() -> str:
    """The host's name, its id, and the namespace of its process numbers: a container may share name and id with its
    host, while the same number means another process there."""
    found = [socket.gethostname()]
    with suppress(OSError):
        found.append(Path("/etc/machine-id").read_text(encoding="ascii", errors="replace").strip())
    with suppress(OSError):
        found.append(str(Path("/proc/self/ns/pid").readlink()))
    return " ".join(found)
