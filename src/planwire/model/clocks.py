"""Times by several clocks: within a session they never run backwards, and none counts later than the reader's clock.

Clocks of machines are hours apart where one has another idea of its time zone. A time that is further ahead comes from
a clock that is wrong: it says nothing, and dates no other event.
"""

from typing import Final

#: How many milliseconds a clock that is merely set badly may be ahead of the reader's.
MOST_AHEAD: Final = 24 * 60 * 60 * 1_000


def is_plausible(at: int, now: int) -> bool:
    """Whether a time can be that of an event, as far as the clock that says `now` can tell."""
    return at <= now + MOST_AHEAD


def time_after(before: int, at: int, now: int) -> int:
    """The time of an event that its writer dates `at`, and that comes after one of the time `before` (0: none)."""
    earliest = before if is_plausible(before, now) else 0
    return max(earliest, at) if is_plausible(at, now) else earliest or now
