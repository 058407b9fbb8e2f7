"""The person's pager: long output on a terminal is read page by page, as with git."""

import os
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper


class _PagerInput(TextIOWrapper):
    """Text on its way to a pager. It counts as a terminal, since the pager shows colours."""

    def isatty(self) -> bool:
        return True


def add_pager_option(parser: ArgumentParser) -> None:
    parser.add_argument("--no-pager", action="store_true", help="don't page long output on a terminal")


@contextmanager
def paged(*, off: bool = False) -> Iterator[None]:
    """Send standard output through the pager, if it is a terminal. Without a pager, nothing changes.

    The pager is $PLANWIRE_PAGER, $PAGER or less; `cat` or an empty variable means none. When the person closes the
    pager, the output ends without an error.
    """
    command = None if off or not sys.stdout.isatty() or os.environ.get("TERM") == "dumb" else _pager()
    if command is None:
        yield
        return
    import subprocess  # noqa: PLC0415  (it takes every --help 3 ms)

    looks = {"LESS": "FRX", "LV": "-c", **os.environ}  # quit if it fits on the screen, and pass colours on
    process = subprocess.Popen(command, stdin=subprocess.PIPE, env=looks)  # noqa: S603
    assert process.stdin is not None
    screen, sys.stdout = sys.stdout, _PagerInput(process.stdin, encoding="utf-8", errors="replace")
    try:
        with suppress(BrokenPipeError, KeyboardInterrupt):
            yield
    finally:
        with suppress(BrokenPipeError):
            sys.stdout.close()
        sys.stdout = screen
        while process.poll() is None:
            with suppress(KeyboardInterrupt):  # the pager's own: it goes on
                process.wait()


def _pager() -> list[str] | None:
    """The command of the pager; None if there is none, or it can't be started."""
    import shlex  # noqa: PLC0415  (see above)
    import shutil  # noqa: PLC0415

    name = next((os.environ[each] for each in ("PLANWIRE_PAGER", "PAGER") if each in os.environ), "less")
    try:
        words = shlex.split(name)
    except ValueError:
        return None
    return words if words and words != ["cat"] and shutil.which(words[0]) else None
