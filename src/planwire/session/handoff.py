"""The file by which an MCP server that an agent started learns its session: the relay writes it, the server reads it.

The server gets the file's name on its command line. The content is readable by the user alone and is nowhere else:
anyone can read a command line, and agents log the servers of their sessions.
"""

from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec import Struct

from planwire.journal.spool_append import put


class Handoff(Struct, frozen=True, omit_defaults=True):
    """The session and its journal, or what is wrong. `told` is the last revision of the tools' plans that the client
    was sent."""

    journal: str
    session: str | None = None
    folder: str | None = None
    told: int = 0
    problem: str | None = None


def read_handoff(path: Path) -> Handoff | None:
    """The current handoff; None while there is none, or once the relay is gone."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Handoff)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None


def write_handoff(path: Path, handoff: Handoff) -> None:
    """Replace the file in one step. If that fails, the server goes on without a session and says so."""
    with suppress(OSError):
        put(str(path.parent), path.name, msgspec.json.encode(handoff))


def take_up(path: Path) -> None:
    """Note that a server waits for this handoff, whether it is written yet or not."""
    with suppress(OSError):
        _sign(path).touch()


def is_taken_up(path: Path) -> bool:
    """Whether a server has begun to wait for this handoff."""
    return _sign(path).exists()


def _sign(path: Path) -> Path:
    return path.with_name(f"{path.name}.taken")
