"""An append as it waits in the spool for the journal's server, and the names of a session's files."""

from collections.abc import Callable
from hashlib import sha256

import msgspec
from msgspec import Struct

from planwire.journal.protocol import Once

__all__ = ["WaitingAppend", "file_name", "read_waiting", "write_waiting"]


class WaitingAppend(Struct, frozen=True, array_like=True):
    """Events (time, author, text) of a session, to be written with the key `once`. Their writer knew the session up to
    the event `base`. If the append `is_lost`, the server may have it without that key: it did not answer."""

    session: str
    base: int
    rows: tuple[tuple[int, str, str], ...]
    once: Once
    is_lost: bool = False


write_waiting: Callable[[WaitingAppend], bytes] = msgspec.msgpack.Encoder().encode
read_waiting: Callable[[bytes], WaitingAppend] = msgspec.msgpack.Decoder(WaitingAppend).decode


def file_name(session: str) -> str:
    """A name for the files of a session. It is a hash, because an id may contain anything."""
    return sha256(session.encode("utf-8", "surrogatepass")).hexdigest()[:32]
