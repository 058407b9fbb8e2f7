"""The chain of hashes over a session's events: what shows that none was changed, left out, or swapped for another.

Each event has a link, the hash of the link before it and of all that is stored of the event. So whoever recomputes them
in order finds the first that is not as it was written. Events of a planwire that knew of no links have none, and the
chain begins anew behind them. A copy in another engine has the same links.

The end of a chain is not in it: only a note of the last link, kept elsewhere, shows that events are missing there.
"""

from typing import NamedTuple

try:  # SHA-256 as Python has it by itself. That of `hashlib` loads OpenSSL, 3.5 MB of a relay's memory.
    from _sha2 import sha256  # type: ignore[import-not-found]
except ImportError:  # before Python 3.12
    try:
        from _sha256 import sha256  # type: ignore[import-not-found]
    except ImportError:
        from hashlib import sha256

__all__ = ["NO_LINK", "ChainEnd", "link", "sha256"]

#: What the first link of a chain hangs on.
NO_LINK = b""


class ChainEnd(NamedTuple):
    """Where a session ends in an engine: the number that stands for it there, that of its last event, and the link of
    that."""

    number: int | None
    last: int
    link: bytes | None


def link(before: bytes, session: str, seq: int, at: int, by: str, text: bytes) -> bytes:
    """The link of an event. Lengths keep what belongs to one field from passing for that of the next."""
    name, author = session.encode(), by.encode()
    hashed = b"%b%d %d %d %d:%b%b%b" % (before, seq, at, len(name), len(author), name, author, text)
    return bytes(sha256(hashed).digest())
