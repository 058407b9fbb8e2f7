"""How long ago something was, in the fewest words."""

from typing import Final

__all__ = ["age"]

#: A unit, how many milliseconds it has, and how many of it are shown before the next larger one is used.
_UNITS: Final = (("s", 1_000, 60), ("min", 60_000, 60), ("h", 3_600_000, 48), ("d", 86_400_000, 0))


def age(then: int, now: int) -> str:
    """The time between two Unix times in milliseconds: `now`, `12 s`, `5 min`, `3 h`, `40 d`."""
    passed = max(now - then, 0)
    for unit, size, most in _UNITS:
        count = passed // size
        if count < most or not most:
            return f"{count} {unit}" if count else "now"
    raise AssertionError("the largest unit has no end")
