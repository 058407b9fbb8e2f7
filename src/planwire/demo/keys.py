"""Single keys of a terminal, as they are pressed: no Enter, no echo. There are none without a terminal."""

import os
import select
import sys
from contextlib import suppress
from types import TracebackType
from typing import Any, Final, Self

_ENTER: Final = ("\r", "\n")
#: More than any key sends.
_LONGEST: Final = 64
_ESCAPE: Final = "\x1b"


class Keys:
    """The keys of standard input, if that and standard output are a terminal which can hand them over one by one.

    As a context manager it leaves the terminal as it found it, whatever happens. Ctrl-C still interrupts.
    """

    def __init__(self) -> None:
        self.are_there = False
        self._before: list[Any] = []
        self._entered = False

    def __enter__(self) -> Self:
        with suppress(ImportError, OSError, ValueError, AttributeError):  # a closed stream, or a system without termios
            import termios  # noqa: PLC0415
            import tty  # noqa: PLC0415

            if sys.stdin.isatty() and sys.stdout.isatty():
                self._before = termios.tcgetattr(sys.stdin)
                tty.setcbreak(sys.stdin)
                self.are_there = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._before:
            import termios  # noqa: PLC0415

            with suppress(termios.error):  # the terminal may be gone
                termios.tcsetattr(sys.stdin, termios.TCSAFLUSH, self._before)

    def forget(self) -> None:
        """Forget what was pressed so far: it was meant for nothing that is on the screen now."""
        self._entered = False
        if self.are_there:
            import termios  # noqa: PLC0415

            with suppress(termios.error):
                termios.tcflush(sys.stdin, termios.TCIFLUSH)

    def pressed(self) -> str:
        """The key that was pressed, in lower case; empty if there is none. Arrows and the like are none."""
        if not self.are_there or not select.select([sys.stdin], [], [], 0)[0]:
            return ""
        text = b""
        with suppress(OSError):
            text = os.read(sys.stdin.fileno(), _LONGEST)
        if not text:  # the end of the input
            self.are_there = False
        key = text.decode("utf-8", "replace")[:1].lower()
        return "" if key == _ESCAPE else key

    def has_enter(self) -> bool:
        """Whether a person pressed Enter since `forget`, or no key can come any more."""
        self._entered = self._entered or self.pressed() in _ENTER
        return self._entered or not self.are_there
