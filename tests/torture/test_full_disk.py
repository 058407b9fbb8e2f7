"""A full disk: appends are refused, acknowledged ones stay, and once there is room, writing goes on."""

import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from planwire.errors import JournalError
from planwire.journal import Journal, Once, Stamped
from planwire.journal.engines import open_engine
from planwire.model.events import TurnEnded
from tests.servers.own import DURABLE_ENGINES, journal_in
from tests.torture.ledger import Outcome, judged
from tests.waiting import until

#: Megabytes of the disk, and how many of them are left when writing begins.
DISKS = {"sqlite": (4, 1), "postgresql": (192, 3), "jetstream": (24, 3)}
#: Seconds for which a server without room may be silent. In the full run, as long as any server may.
PATIENCE = [0.5, pytest.param(None, marks=[pytest.mark.torture, pytest.mark.timeout(300)])]
#: Appends of this size until the disk must be full, and more.
BYTES, APPENDS = 20_000, 2_000


@contextmanager
def small_disk(megabytes: int) -> Iterator[Path]:
    """A small disk. Any user may use it: servers do not run as root."""
    folder = Path(tempfile.mkdtemp(prefix="planwire-disk-"))
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=1777", "tmpfs", folder],
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        folder.rmdir()
        pytest.skip(f"no disk can be mounted here: {mounted.stderr.decode().strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)
        folder.rmdir()


def fill(folder: Path, left: int) -> Path:
    """Fill a disk, except for so many megabytes. Returns the file to delete for more room."""
    ballast = folder / "ballast"
    room = os.statvfs(folder)
    with ballast.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, max(room.f_bavail * room.f_frsize - (left << 20), 1))
    return ballast


def write(journal: Journal, n: int) -> None:
    event = Stamped(1, "one", TurnEnded(f"one {n} {os.urandom(BYTES // 2).hex()}"))
    journal.append("race", [event], once=Once("one", n))


@pytest.mark.parametrize("patience", PATIENCE)
@pytest.mark.parametrize("engine", DURABLE_ENGINES)
def test_a_full_disk_costs_nothing_that_was_acknowledged(
    engine: str,
    patience: float | None,
    monkeypatch: pytest.MonkeyPatch,
    proves: Callable[[str, str, str, Outcome], None],
) -> None:
    size, left = DISKS[engine]
    if patience is not None:
        monkeypatch.setattr("planwire.journal.jetstream.journal.PATIENCE", patience)
    with small_disk(size) as folder:
        monkeypatch.setattr(tempfile, "tempdir", str(folder))
        with journal_in(folder, engine) as (url, restart):
            acknowledged: list[int] = []
            with open_engine(url) as journal:
                write(journal, 0)
                acknowledged.append(0)
                ballast = fill(folder, left)
                with pytest.raises(JournalError):
                    _write_all(journal, acknowledged)
            ballast.unlink()
            restart()
            with open_engine(url) as journal:
                _goes_on(journal, acknowledged)
                outcome = judged(journal, ["race"], {"one": acknowledged})
    proves("disk full", engine, f"{APPENDS:,} appends of {BYTES:,} bytes", outcome)


def _write_all(journal: Journal, acknowledged: list[int]) -> None:
    for n in range(1, APPENDS):
        write(journal, n)
        acknowledged.append(n)


def _goes_on(journal: Journal, acknowledged: list[int]) -> None:
    """Repeat the append that was refused, under its key, and go on."""

    def writes() -> bool:
        try:
            write(journal, n)
        except JournalError:
            return False
        return True

    for n in range(len(acknowledged), len(acknowledged) + 3):
        until(writes)
        acknowledged.append(n)
