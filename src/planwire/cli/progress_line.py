"""A line of progress on a terminal, rewritten in place. A program that reads our errors gets none."""

import sys
from time import monotonic
from typing import Final, Self

__all__ = ["ProgressLine"]

#: Seconds between two lines.
_PACE: Final = 0.1


class ProgressLine:
    """What is being done, and how far it is."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._is_shown = sys.stderr is not None and sys.stderr.isatty()
        self._shown_at = 0.0
        self._width = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._width:
            print(f"\r{' ' * self._width}\r", end="", file=sys.stderr, flush=True)

    def show(self, words: str) -> None:
        if self._is_shown and monotonic() - self._shown_at >= _PACE:
            self._shown_at = monotonic()
            line = f"{self._title}: {words}"
            print(f"\r{line:<{self._width}}", end="", file=sys.stderr, flush=True)
            self._width = len(line)
