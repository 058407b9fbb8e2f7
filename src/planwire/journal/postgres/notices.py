"""Notices between the processes of a PostgreSQL journal: writers tell followers, soon and not too often.

A NOTIFY in the transaction of an append would make all appends of the database wait for each other, because PostgreSQL
commits transactions with notices one at a time. So a thread with its own connection sends one notice for all appends
since the last: at once after a quiet time, and otherwise after a pause. While a writer goes on, its pauses grow, and
its notices say that it is busy: followers then look unprompted until the next one is due. A writer may die before it
sends its notice, and a notice may be lost with a connection, so followers also look from time to time.
"""

from contextlib import suppress
from threading import Event, Lock, Thread
from time import monotonic
from typing import Final

import psycopg

from planwire.errors import JournalError
from planwire.journal.bell import Bell
from planwire.journal.postgres.line import ServerLine
from planwire.journal.postgres.server import JournalServer

#: Seconds after which a tail looks even without a notice: a writer may have died before it sent one. And between two
#: looks while a writer is busy.
TRUST: Final = 1.0
BUSY_TRUST: Final = 0.015
#: Seconds between two notices of a process: the first pause, and the longest while it goes on writing.
PAUSE: Final = 0.015
LONGEST_PAUSE: Final = 0.24
#: The payload of a notice that a longer pause follows.
BUSY: Final = "busy"
#: Seconds that the listener waits for a notice before it looks whether to stop.
GLANCE: Final = 0.5
#: Seconds until the listener connects again after it lost its connection.
RETRY: Final = 0.5
#: Seconds that a closing journal waits for its last notice to be sent, and for the listener to end.
PARTING: Final = 1.0


class NoticeBell(Bell):
    """A bell that also knows for how long its silence can be trusted."""

    def __init__(self) -> None:
        super().__init__()
        self._busy_until = 0.0

    @property
    def trust(self) -> float:
        """Seconds for which silence means that there is nothing new."""
        return BUSY_TRUST if monotonic() < self._busy_until else TRUST

    def hear(self, notice: str) -> None:
        if notice == BUSY:
            self._busy_until = monotonic() + 2 * LONGEST_PAUSE
        self.ring()


class Notifier:
    """Sends notices. It has no thread and no connection before the first append."""

    def __init__(self, server: JournalServer, line: ServerLine) -> None:
        self._channel = server.channel
        self._line = line
        self._rung = Event()
        self._closing = Event()
        self._starting = Lock()
        self._thread: Thread | None = None

    def ring(self) -> None:
        """Announce that something was written."""
        if not self._rung.is_set():
            self._rung.set()
        if self._thread is None:
            with self._starting:
                if self._thread is None:
                    self._thread = Thread(target=self._run, name="planwire-notices", daemon=True)
                    self._thread.start()

    def close(self) -> None:
        """Send the notice that is due, and end the thread."""
        is_due = self._rung.is_set()
        self._closing.set()
        self._rung.set()
        if self._thread is not None:
            self._thread.join(PARTING)  # if that takes longer, it still ends by itself
            if is_due and not self._thread.is_alive():
                self._send()
        self._line.close()

    def _run(self) -> None:
        pause = PAUSE
        while self._rung.wait() and not self._closing.is_set():
            self._rung.clear()
            self._send(BUSY if pause > PAUSE else "")
            self._closing.wait(pause)
            pause = min(2 * pause, LONGEST_PAUSE) if self._rung.is_set() else PAUSE

    def _send(self, notice: str = "") -> None:
        with suppress(JournalError), self._line as connection:
            connection.execute(b"SELECT pg_notify(%s, %s)", (self._channel, notice), prepare=True)


class Listener:
    """Rings the bell for every notice, and also when it begins to hear and when it loses its connection."""

    def __init__(self, server: JournalServer, bell: NoticeBell) -> None:
        self._server = server
        self._bell = bell
        self._starting = Lock()
        self._thread: Thread | None = None
        self._closing = Event()

    def start(self) -> None:
        """Begin to listen, unless it does already."""
        with self._starting:
            if self._thread is None:
                self._thread = Thread(target=self._run, name="planwire-listener", daemon=True)
                self._thread.start()

    def close(self) -> None:
        self._closing.set()
        if self._thread is not None:
            self._thread.join(PARTING)

    def _run(self) -> None:
        while not self._closing.is_set():
            with suppress(JournalError, psycopg.Error, OSError), self._server.connect() as connection:
                connection.execute(f"LISTEN {self._server.channel}".encode())
                self._bell.ring()
                while not self._closing.is_set():
                    for notice in connection.notifies(timeout=GLANCE, stop_after=1):
                        self._bell.hear(notice.payload)
            self._bell.ring()
            self._closing.wait(RETRY)
