"""A terminal that a program believes in, without a person: what it shows can be read, and keys can be pressed."""

import os
import shlex
import shutil
import signal
import subprocess
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

import pytest

from tests.terminals.agents import TerminalAgent

__all__ = ["Tmux"]

PATIENCE = 30.0
LOOK_SECONDS = 0.05
LOOKS_AT_REST = 8
ENTER_SECONDS = 2.0
ENTERS = 5


class Tmux:
    """A program in a tmux of its own: `with Tmux(claude(…)) as terminal: terminal.wait_for("Welcome")`."""

    def __init__(self, program: TerminalAgent, *arguments: str, columns: int = 160, rows: int = 50) -> None:
        tmux = shutil.which("tmux")
        if tmux is None:
            pytest.skip("there is no tmux, in which agents get a terminal")
        self._socket = Path(program.environment["TMPDIR"]) / "tmux"
        self._tmux = [tmux, "-S", str(self._socket), "-f", os.devnull]
        variables = {**program.environment, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
        set_to = [f"{name}={value}" for name, value in variables.items()]
        started = ["env", "-i", *set_to, *program.command, *program.options, *arguments]
        self._ready = program.ready
        self._environment = {**program.environment, "TERM": "xterm-256color"}
        size = ["-x", str(columns), "-y", str(rows)]
        stays = ["set", "-g", "remain-on-exit", "on"]  # what it showed is still to be read once it has ended
        self._run(*stays, ";", "new-session", "-d", *size, "-c", str(program.cwd), *started)

    def __enter__(self) -> Self:
        try:
            self.wait_for(self._ready)
        except BaseException as problem:
            self.__exit__(type(problem), problem, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        if problem is not None:
            problem.add_note(f"The terminal shows:\n{self.screen}")
        self.close()

    @property
    def screen(self) -> str:
        """What it shows, and what has scrolled away."""
        return self._run("capture-pane", "-p", "-S", "-2000").rstrip()

    @property
    def pid(self) -> int:
        """The process in the terminal."""
        return int(self._run("display-message", "-p", "#{pane_pid}"))

    @property
    def has_ended(self) -> bool:
        """Whether the program has ended."""
        return self._run("display-message", "-p", "#{pane_dead}").strip() == "1"

    def press(self, *keys: str) -> None:
        """Keys by their names in tmux: `Enter`, `Escape`, `Down`, `C-c`, `BTab`."""
        self._run("send-keys", *keys)

    def type(self, text: str) -> None:
        """Words as a person types them, without an end."""
        self._run("send-keys", "-l", text)

    def say(self, text: str) -> None:
        """Words and Enter. Agents drop keys while they are about to start, and take what comes in one go for something
        that was pasted: so Enter comes alone, and again until the words have left the place where they were typed."""
        self.wait_for_rest()
        self.type(text)
        end = text[-20:]
        self.wait_until(lambda screen: end in " ".join(screen.split()), f"to show {end!r}")
        self.choose("Enter")

    def choose(self, key: str) -> None:
        """A key that answers what it shows. Agents drop keys while they draw: so it comes again until it does
        something."""
        shown = self.wait_for_rest()
        for _ in range(ENTERS):
            self.press(key)
            if self._changes(shown):
                return
        raise AssertionError(f"{key} did nothing")

    def wait_for_rest(self) -> str:
        """Wait until nothing on the screen has changed for a while. Returns the screen."""
        seen: deque[str] = deque(maxlen=LOOKS_AT_REST)

        def is_at_rest(screen: str) -> bool:
            seen.append(screen)
            return len(seen) == LOOKS_AT_REST and len(set(seen)) == 1

        return self.wait_until(is_at_rest, "its rest")

    def _changes(self, screen: str) -> bool:
        end = time.monotonic() + ENTER_SECONDS
        while self.screen == screen:
            if time.monotonic() > end:
                return False
            time.sleep(LOOK_SECONDS)
        return True

    def wait_for(self, text: str, patience: float = PATIENCE) -> str:
        """Wait until it shows a text. Returns the screen."""
        return self.wait_until(lambda screen: text in screen, f"to show {text!r}", patience)

    def wait_until(self, condition: Callable[[str], object], what: str = "it", patience: float = PATIENCE) -> str:
        """Wait until what it shows meets a condition. Returns the screen."""
        end = time.monotonic() + patience
        while not condition(screen := self.screen):
            assert time.monotonic() < end, f"waited {patience:g} s for {what}"
            time.sleep(LOOK_SECONDS)
        return screen

    def wait_for_end(self, patience: float = PATIENCE) -> None:
        """Wait until the program has ended."""
        self.wait_until(lambda _: self.has_ended, "its end", patience)

    def kill(self) -> None:
        """Kill the program, as a machine that is switched off would."""
        os.kill(self.pid, signal.SIGKILL)

    def close(self) -> None:
        """Close the terminal: whatever runs in it hears a hang-up."""
        self._run("kill-server", check=False)

    def _run(self, *arguments: str, check: bool = True) -> str:
        command = [*self._tmux, *arguments]
        done = subprocess.run(
            command, check=False, capture_output=True, text=True, env=self._environment, timeout=PATIENCE
        )
        assert not check or done.returncode == 0, f"{shlex.join(command)}: {done.stderr.strip()}"
        return done.stdout
