"""What an engine finds out about its own storage, beyond what a chain of hashes shows.

It is no part of `Journal`: most engines leave it to their server.
"""

from collections.abc import Iterator
from typing import Protocol, runtime_checkable

from msgspec import Struct

__all__ = ["Checked", "Trouble"]


class Trouble(Struct, frozen=True):
    """Something in a journal that is not as it was written, in a sentence; where it is known, the session and the
    number of the event."""

    words: str
    session: str | None = None
    seq: int | None = None


@runtime_checkable
class Checked(Protocol):
    """A journal that can check its own storage."""

    def troubles(self) -> Iterator[Trouble]:
        """All that is wrong, as far as it can be read; nothing if all is well. It reads everything."""
        ...
