"""The board in a process of its own, for as long as another command runs."""

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread

from planwire.cli.journal_secrets import with_journal
from planwire.own_process import own_command


@contextmanager
def board_process(journal: str | None, tell: Callable[[str | None], None]) -> Iterator[Thread]:
    """Serve the board of a journal. `tell` is called with its address once it listens, or with None if it could not
    start; it is not called if the board is ended before.

    The returned thread ends with that call: join it to wait for the address.
    """
    options = ["--port", "0", "--create"]
    ending = Event()
    with subprocess.Popen(  # noqa: S603
        own_command("board", *options),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=with_journal(journal),
    ) as process:

        def wait() -> None:
            address = _address(process)
            if not ending.is_set():
                tell(address)

        thread = Thread(target=wait, daemon=True)
        thread.start()
        try:
            yield thread
        finally:
            ending.set()
            process.terminate()
            thread.join()


def _address(process: "subprocess.Popen[str]") -> str | None:
    assert process.stdout is not None
    words = process.stdout.readline().split()
    return words[-1] if words and "://" in words[-1] else None
