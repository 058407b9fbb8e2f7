"""The board beside the demo: served as long as the demo lasts, if what it needs is installed."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

__all__ = ["beside"]


@contextmanager
def beside(journal: str | None) -> Iterator[str | None]:
    """Serve the board of a journal. Gives its address, or None if there is no board here."""
    if not (find_spec("starlette") and find_spec("uvicorn")):
        yield None
        return
    options = ["--port", "0", *(["--journal", journal] if journal else [])]
    with subprocess.Popen(  # noqa: S603
        [sys.executable, "-m", "planwire", "board", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            words = process.stdout.readline().split()
            yield words[-1] if words and "://" in words[-1] else None
        finally:
            process.terminate()
