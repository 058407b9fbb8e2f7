"""When a folder was last changed, as a sign that no name in it has come or gone since."""

from time import time_ns
from typing import Final

#: Nanoseconds within which two changes of a folder may show the same time.
_TICK: Final = 50_000_000


def is_settled(changed: int) -> bool:
    """Whether a folder that was last changed at this time, in nanoseconds, would show another time at its next
    change."""
    return time_ns() - changed > _TICK
