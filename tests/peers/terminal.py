"""A program in a terminal of its own: what it shows is kept, and what it asks is left to the test."""

import os
import pty
import subprocess
import threading
from contextlib import suppress
from types import TracebackType
from typing import Self

from tests.peers.agents import Agent

__all__ = ["Terminal"]

PATIENCE = 30.0


class Terminal:
    """A client of an agent as a person starts it: `with Terminal(acpx(…)) as terminal: …`."""

    def __init__(self, program: Agent) -> None:
        self._master, slave = pty.openpty()
        self._shown = bytearray()
        self._process = subprocess.Popen(
            program.command,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={**program.environment, "TERM": "dumb", "NO_COLOR": "1"},
            cwd=program.cwd,
            start_new_session=True,
        )
        os.close(slave)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self._process.kill()
        try:
            self._process.wait(PATIENCE)
        finally:
            self._process.kill()
            self._reader.join(PATIENCE)
            os.close(self._master)

    @property
    def text(self) -> str:
        """What it has shown so far."""
        return self._shown.decode(errors="replace").replace("\r\n", "\n")

    @property
    def code(self) -> int | None:
        """How it ended; None if it runs."""
        return self._process.poll()

    def type(self, text: str) -> None:
        """What a person types."""
        os.write(self._master, text.encode())

    def _read(self) -> None:
        with suppress(OSError):  # the other end is closed
            while chunk := os.read(self._master, 65536):
                self._shown += chunk
