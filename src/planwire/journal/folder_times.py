"""When a folder was changed last, as a sign that no name in it has come or gone since."""

from time import time_ns
from typing import Final

__all__ = ["is_settled"]

#: Nanoseconds within which a folder may change twice and show the same time.
_TICK: Final = 50_000_000


def is_settled(changed: int) -> bool:
    """Whether the next change of a folder that was changed at this time, in nanoseconds, would show another time."""
    return time_ns() - changed > _TICK
