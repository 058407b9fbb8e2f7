"""Writers as processes: started, read and killed from a test."""

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

from planwire.journal.engines import open_engine
from tests.torture.ledger import Outcome, judged
from tests.waiting import until

__all__ = ["Writer", "killed_again_and_again", "writers"]

ROOT = Path(__file__).parents[2]
#: Seconds for a writer to begin, and for one to end.
SOON = 60.0


class Writer:
    """A process that appends (`tests.torture.writer`), and the numbers that it saw acknowledged."""

    def __init__(self, url: str, name: str, session: str, count: int, first: int = 0) -> None:
        self.name = name
        self.acknowledged: list[int] = []
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.torture.writer", name, session, str(count), str(first)],
            stdout=subprocess.PIPE,
            env={**os.environ, "PLANWIRE_JOURNAL": url, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}"},
            cwd=ROOT,
        )
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()

    def has_written(self, count: int) -> None:
        """Wait until so many appends are acknowledged, or the process has ended."""
        until(lambda: len(self.acknowledged) >= count or self._process.poll() is not None, SOON)

    def kill(self) -> None:
        self._process.kill()
        self.wait()

    def wait(self, seconds: float = SOON) -> int:
        code = self._process.wait(seconds)
        self._reader.join(SOON)
        return code

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                if line.endswith(b"\n"):  # half a line was never said
                    self.acknowledged.append(int(line))


@contextmanager
def writers(url: str, count: int, *names: str, session: str = "race") -> Iterator[list[Writer]]:
    """Processes that append to one session at the same time, `count` events each."""
    started = [Writer(url, name, session, count) for name in names]
    try:
        yield started
    finally:
        for each in started:
            each.kill()


def killed_again_and_again(url: str, kills: int) -> Outcome:
    """Writers of one session, one after the other, each killed at a random moment of its work."""
    moments = random.Random(17)
    acknowledged: list[int] = []
    session, name, first = "killed", "mortal", 0
    for _ in range(kills):
        writer = Writer(url, name, session, 10_000, first)
        writer.has_written(1 + moments.randrange(12))
        writer.kill()
        acknowledged += writer.acknowledged
        first = max(acknowledged, default=-1) + 1
    with open_engine(url) as journal:
        return judged(journal, [session], {name: acknowledged})
