"""Progress messages, on standard error: standard output holds nothing but the tables."""

import sys

__all__ = ["say"]


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
