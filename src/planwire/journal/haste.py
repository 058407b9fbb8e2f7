"""How soon an engine gives up on a server that is gone or silent.

An engine normally waits out a server's restart or slow answer. A relay must not: until the engine gives up, what the
relay records is only in memory, and dies with its process. So it opens its journal in haste, and its records are on the
disk a moment after the server goes away. Delivering them later is not in haste: an append that takes the server long
would otherwise never arrive.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Protocol, runtime_checkable

from planwire.journal.protocol import Journal

#: Seconds to wait for an answer, in haste. A lost connection has only a `MOMENT` to come back.
ANSWER: Final = 2.0


@runtime_checkable
class Hasty(Protocol):
    """A journal that can give up on its server soon. Not part of `Journal`, since not every engine waits for long."""

    is_hasty: bool


def hurried(journal: Journal) -> Journal:
    """A journal that gives up on its server soon from now on, if it can."""
    if isinstance(journal, Hasty):
        journal.is_hasty = True
    return journal


@contextmanager
def take_time(journal: Journal) -> Iterator[None]:
    """Let a journal wait for its server as long as it would without haste."""
    if isinstance(journal, Hasty) and journal.is_hasty:
        journal.is_hasty = False
        try:
            yield
        finally:
            journal.is_hasty = True
    else:
        yield
