"""An append as it waits in a spool for the journal's server, and what files of a session are called."""

from collections.abc import Callable
from hashlib import sha256

import msgspec
from msgspec import Struct

from planwire.journal.protocol import Once
from planwire.journal.provisional import Doubt

__all__ = ["WaitingAppend", "file_name", "read_waiting", "write_waiting"]


class WaitingAppend(Struct, frozen=True, array_like=True):
    """Events (time, author, text) of a session, by one process (`writer`). The first has the provisional number
    `first`, and the session was known up to the event `base`."""

    session: str
    writer: str
    base: int
    first: int
    rows: tuple[tuple[int, str, str], ...]
    once: Once | None = None
    doubt: Doubt | None = None


write_waiting: Callable[[WaitingAppend], bytes] = msgspec.msgpack.Encoder().encode
read_waiting: Callable[[bytes], WaitingAppend] = msgspec.msgpack.Decoder(WaitingAppend).decode


def file_name(session: str) -> str:
    """A name for files of a session: an id may hold anything."""
    return sha256(session.encode("utf-8", "surrogatepass")).hexdigest()[:32]
