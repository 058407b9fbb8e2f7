"""What holds for every test: nothing of the user's own is read or written."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from planwire.journal import Journal, open_journal
from tests import strategies  # noqa: F401  (how hypothesis works here: the same examples every time, no deadlines)

# Programs that the tests start heed these signals, also where the tests run in the background and ignore them.
signal.signal(signal.SIGINT, signal.default_int_handler)
for number in (signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM):
    signal.signal(number, signal.SIG_DFL)


@pytest.fixture(autouse=True)
def _a_journal_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The default journal is one of the test's, in this process and in those that it starts."""
    monkeypatch.setenv("PLANWIRE_JOURNAL", str(tmp_path / "default.db"))


@pytest.fixture
def journal() -> Iterator[Journal]:
    """A journal in memory, where a test needs no other one."""
    with open_journal("memory:") as opened:
        yield opened


@pytest.fixture
def idle_while_it_follows(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pilot goes on once the process does next to nothing, or after a second. A thread that follows a journal does
    more than that: for tests that wait for what they want to see, it counts as idle."""
    monkeypatch.setattr("textual._wait.SLEEP_IDLE", 0.004)
