"""Checks that an engine runs on its own storage, beyond the chain of hashes.

They are not part of `Journal`: most engines leave them to their server.
"""

from collections.abc import Iterator
from typing import Protocol, runtime_checkable

from msgspec import Struct

__all__ = ["Checked", "Trouble"]


class Trouble(Struct, frozen=True):
    """Something in a journal that is not as it was written: a sentence, and the session and event number if they are
    known."""

    words: str
    session: str | None = None
    seq: int | None = None


@runtime_checkable
class Checked(Protocol):
    """A journal that can check its own storage."""

    def troubles(self) -> Iterator[Trouble]:
        """Everything that is wrong, as far as the storage can be read. Reads all of it."""
        ...
