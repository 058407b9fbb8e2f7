"""Clients as processes: started, killed, frozen and asked to end, with one history of all that they said."""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from threading import Lock, Thread
from time import monotonic
from typing import Final

import msgspec

from tests.lab.client import settings_after
from tests.lab.history import Ended, Heard, Line, line_of
from tests.waiting import until

__all__ = ["Clients"]

ROOT = Path(__file__).parents[2]
#: Seconds after which a process must be at its end that was asked to.
LAST = 60.0
WRITER: Final = "writer"


class Clients:
    """Clients by name. Each has a role (`tests.lab.client`), and goes on where it was when it is started again."""

    def __init__(self, url: str, seed: str, folder: Path) -> None:
        self.history: list[Line] = []
        self._env = {
            **os.environ,
            "PLANWIRE_JOURNAL": url,
            "XDG_DATA_HOME": str(folder / "data"),
            "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}",
        }
        self._seed = seed
        self._roles: dict[str, tuple[str, bool]] = {}
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._readers: dict[str, Thread] = {}
        self._saying = Lock()
        self._folder = folder

    def add(self, name: str, role: str, *, is_away: bool) -> None:
        self._roles[name] = role, is_away
        self.start(name)

    def names(self) -> Sequence[str]:
        """Those that run and can be killed: the others are measured."""
        running = [each for each, process in self._running.items() if process.poll() is None]
        return [each for each in running if self._roles[each][0] != "idler"]

    def start(self, name: str) -> None:
        role, is_away = self._roles[name]
        settings = settings_after(list(self.history), name, self._seed, is_away=is_away)
        with (self._folder / f"{name}.err").open("ab") as errors:
            process = subprocess.Popen(
                [sys.executable, "-m", "tests.lab.client", role, msgspec.json.encode(settings).decode()],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=self._env,
                cwd=ROOT,
            )
        self._running[name] = process
        self._readers[name] = Thread(target=self._read, args=(process,), daemon=True)
        self._readers[name].start()

    def kill(self, name: str) -> None:
        self._running[name].kill()
        self._gone(name)

    def signal(self, name: str, what: signal.Signals) -> None:
        self._running[name].send_signal(what)

    def end(self, *, followers: bool) -> float:
        """Ask writers, or all the others, to end, and wait for it. Returns how many seconds it took."""
        begun = monotonic()
        names = [each for each, (role, _) in self._roles.items() if (role != WRITER) == followers]
        for name in names:
            self._ask_to_end(name)
        for name in names:
            self._gone(name)
        return monotonic() - begun

    def hear_up_to(self, position: int, sessions: Sequence[str]) -> None:
        """Wait until each follower has heard what is up to a position."""
        for name, (role, _) in self._roles.items():
            if role == "follower":
                until(lambda name=name: self._heard(name) >= position, LAST)  # type: ignore[misc]

    def busy(self, name: str) -> float:
        """Seconds that a process has kept a processor busy so far."""
        fields = Path(f"/proc/{self._running[name].pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def count(self) -> int:
        return len(self.history)

    def close(self) -> None:
        """End what still runs."""
        for name, each in self._running.items():
            each.kill()
            self._gone(name)

    def _heard(self, name: str) -> int:
        return max(
            (each.position for each in self.history if isinstance(each, Heard) and each.client == name), default=0
        )

    def _ask_to_end(self, name: str) -> None:
        stdin = self._running[name].stdin
        assert stdin is not None
        stdin.close()

    def _gone(self, name: str) -> None:
        self._ask_to_end(name)
        code = self._running[name].wait(LAST)
        self._readers[name].join(LAST)
        with self._saying:
            self.history.append(Ended(name, code))

    def _read(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        with process.stdout as lines:
            for text in lines:
                if text.endswith(b"\n") and (line := line_of(text)) is not None:
                    with self._saying:
                        self.history.append(line)
