"""The chain of hashes over a session's events: it shows whether one was changed, left out, or swapped for another.

Each event has a link: the hash of the previous link and of everything that is stored of the event. Recomputing the
links in order finds the first event that is not as it was written. A copy in another engine has the same links.

A chain can't show that its own end is missing. Only a note of the last link, kept elsewhere, does.
"""

from typing import NamedTuple

try:  # Python's built-in SHA-256. That of `hashlib` loads OpenSSL, 3.5 MB of a relay's memory.
    from _sha2 import sha256  # type: ignore[import-not-found]
except ImportError:  # before Python 3.12
    try:
        from _sha256 import sha256  # type: ignore[import-not-found]
    except ImportError:
        from hashlib import sha256

__all__ = ["NO_LINK", "ChainEnd", "link", "sha256"]

#: Stands for the previous link in the first link of a chain.
NO_LINK = b""


class ChainEnd(NamedTuple):
    """Where a session ends: its row number in the engine, and the number and link of its last event."""

    number: int | None
    last: int
    link: bytes | None


def link(before: bytes, session: str, seq: int, at: int, by: str, text: bytes) -> bytes:
    """The link of an event. The lengths keep the fields apart: no byte of one can pass for part of the next."""
    name, author = session.encode(), by.encode()
    hashed = b"%b%d %d %d %d:%b%b%b" % (before, seq, at, len(name), len(author), name, author, text)
    return bytes(sha256(hashed).digest())
