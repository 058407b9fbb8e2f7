"""An append as it waits in a spool for the journal's server."""

from collections.abc import Callable

import msgspec
from msgspec import Struct

from planwire.journal.protocol import Once
from planwire.journal.provisional import Doubt

__all__ = ["WaitingAppend", "read_waiting", "write_waiting"]


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
