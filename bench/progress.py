"""What is being done right now, on the error stream: the output itself holds nothing but the tables."""

import sys

__all__ = ["say"]


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
