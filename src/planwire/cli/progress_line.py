"""A line of progress on a terminal, rewritten in place. A program that reads our errors gets none."""

import sys
from time import monotonic
from typing import Final, Self

#: Seconds between two lines.
_PACE: Final = 0.1


class ProgressLine:
    """What is being done, and how far it is. `left` is printed if a person interrupts it: the state that it leaves."""

    def __init__(self, title: str, left: str) -> None:
        self._title = title
        self._left = left
        self._is_shown = sys.stderr is not None and sys.stderr.isatty()
        self._shown_at = 0.0
        self._width = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._width:
            print(f"\r{' ' * self._width}\r", end="", file=sys.stderr, flush=True)
        if kind is KeyboardInterrupt:
            print(f"planwire: interrupted; {self._left}", file=sys.stderr)

    def show(self, words: str) -> None:
        if self._is_shown and monotonic() - self._shown_at >= _PACE:
            self._shown_at = monotonic()
            line = f"{self._title}: {words}"
            width = self._width
            self._width = max(width, len(line))  # an interrupt may come while it prints
            print(f"\r{line:<{width}}", end="", file=sys.stderr, flush=True)
