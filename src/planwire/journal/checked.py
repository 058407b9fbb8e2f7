"""Checks that an engine runs on its own storage, beyond the chain of hashes.

They are not part of `Journal`: most engines leave them to their server.
"""

from collections.abc import Iterator
from typing import Protocol, runtime_checkable

from msgspec import Struct


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


class PositionCheck:
    """Whether followers, who go by positions, get every event of a journal, and those of a session in order. Takes the
    events in the order of their positions. A session that is begun anew has another `number`."""

    def __init__(self) -> None:
        self._last: dict[int, int] = {}
        self._named: set[int] = set()

    def troubles(self, number: int, session: str, seq: int, position: int) -> Iterator[Trouble]:
        """What is wrong with the next event. Of each session, only the first such event is named."""
        last = self._last.get(number, 0)
        self._last[number] = max(seq, last)
        if (seq > last and position > 0) or number in self._named:
            return
        self._named.add(number)
        if seq < 1:
            words = f"session {session!r} has an event with the number {seq}, which planwire gives to none"
        elif position < 1:
            words = f"event {seq} of session {session!r} is at position {position}, where no follower reads it"
        else:
            words = f"event {seq} of session {session!r} reaches followers after event {last}"
        yield Trouble(words, session, seq)
