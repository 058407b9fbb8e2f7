"""The chain of hashes over a session's events: what shows that none was changed, left out, or swapped for another.

Each event has a link, the hash of the link before it and of all that is stored of the event. So whoever recomputes them
in order finds the first that is not as it was written. Events of a planwire that knew of no links have none, and the
chain begins anew behind them. A copy in another engine has the same links.

The end of a chain is not in it: only a note of the last link, kept elsewhere, shows that events are missing there.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib import import_module
from typing import Any

__all__ = ["LINK_BYTES", "NO_LINK", "link", "sha256"]

LINK_BYTES = 32
#: What the first link of a chain hangs on.
NO_LINK = b""


def link(before: bytes, session: str, seq: int, at: int, by: str, text: bytes) -> bytes:
    """The link of an event. Lengths keep what belongs to one field from passing for that of the next."""
    name, author = session.encode(), by.encode()
    hashed = b"%b%d %d %d %d:%b%b%b" % (before, seq, at, len(name), len(author), name, author, text)
    made: bytes = _sha256(hashed).digest()
    return made


@cache
def sha256() -> Callable[[bytes], Any]:
    """SHA-256 as Python has it by itself. That of `hashlib` loads OpenSSL, 3.5 MB of a relay's memory."""
    for name in ("_sha2", "_sha256", "hashlib"):  # since Python 3.12, before, and wherever neither is there
        with suppress(ImportError):
            made: Callable[[bytes], Any] = import_module(name).sha256
            break
    return made


_sha256 = sha256()
