"""The board in a process of its own, for as long as another command runs."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from threading import Thread

__all__ = ["board_process"]


@contextmanager
def board_process(journal: str | None, tell: Callable[[str | None], None]) -> Iterator[Thread]:
    """Serve the board of a journal. `tell` gets its address once it listens, or None without planwire[web].

    The thread that comes back ends with that call: join it to wait for the address.
    """
    if not (find_spec("starlette") and find_spec("uvicorn")):
        thread = Thread(target=tell, args=(None,), daemon=True)
        thread.start()
        yield thread
        return
    options = ["--port", "0", *(["--journal", journal] if journal else [])]
    with subprocess.Popen(  # noqa: S603
        [sys.executable, "-m", "planwire", "board", *options],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        thread = Thread(target=lambda: tell(_address(process)), daemon=True)
        thread.start()
        try:
            yield thread
        finally:
            process.terminate()
            thread.join()


def _address(process: "subprocess.Popen[str]") -> str | None:
    assert process.stdout is not None
    words = process.stdout.readline().split()
    return words[-1] if words and "://" in words[-1] else None
