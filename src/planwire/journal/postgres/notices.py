"""Notices between the processes of a PostgreSQL journal: writers tell followers, soon and not too often.

A NOTIFY in the transaction of an append would make all appends of the database wait for each other, because PostgreSQL
commits transactions with notices one at a time. So a thread with its own connection sends one notice for all appends
since the last: at once after a quiet time, and otherwise after a pause. While a writer goes on, its pauses grow, and
its notices say that it is busy: followers then look unprompted until the next one is due (`following`). A writer may
die before it sends its notice, and a notice may be lost with a connection, so followers also look from time to time.
"""

import select
import socket
from contextlib import suppress
from threading import Event, Lock, Thread
from typing import Final

import psycopg

from planwire.errors import JournalError
from planwire.journal.postgres.following import NoticeBell
from planwire.journal.postgres.line import ServerLine
from planwire.journal.postgres.quick import QuickStatement
from planwire.journal.postgres.server import JournalServer, PostgresConnection

#: Seconds between two notices of a process: the first pause, and the longest while it goes on writing.
PAUSE: Final = 0.015
LONGEST_PAUSE: Final = 0.24
#: The payload of a notice that a longer pause follows.
BUSY: Final = b"busy"
#: Seconds until the listener connects again after it lost its connection.
RETRY: Final = 0.5
#: Seconds that a closing journal waits for its last notice to be sent, and for the listener to end.
PARTING: Final = 1.0


class Notifier:
    """Sends notices. It has no thread and no connection before the first append."""

    def __init__(self, server: JournalServer, line: ServerLine) -> None:
        notify = f"NOTIFY {server.channel}".encode()
        self._quiet = QuickStatement("planwire_notify", notify, ())
        self._busy = QuickStatement("planwire_notify_busy", b"%b, '%b'" % (notify, BUSY), ())
        self._line = line
        self._rung = Lock()  # released by a ring, acquired to wait for one
        self._rung.acquire()
        self._thread: Thread | None = None
        self._closing = Event()

    def ring(self) -> None:
        """Announce that something was written. Costs at most a microsecond. Only one thread at a time may call it."""
        if self._thread is None:
            self._thread = Thread(target=self._run, name="planwire-notices", daemon=True)
            self._thread.start()
        if self._rung.locked():  # else a ring is pending already
            self._rung.release()

    def close(self) -> None:
        """Send the notice that is due, and end the thread."""
        self._closing.set()
        if self._thread is not None:
            with suppress(RuntimeError):
                self._rung.release()
            self._thread.join(PARTING)  # if that takes longer, it still ends by itself

    def _run(self) -> None:
        pause = PAUSE
        while True:
            if self._rung.acquire(blocking=False):  # written to during the pause, or closing
                pause, notice = min(2 * pause, LONGEST_PAUSE), self._quiet if self._closing.is_set() else self._busy
            elif self._closing.is_set():
                break
            else:
                pause, notice = PAUSE, self._quiet
                self._rung.acquire()
            with suppress(JournalError), self._line as connection:
                notice.execute(connection, ())
            self._closing.wait(pause)
        self._line.close()


class Listener:
    """Rings the bell for every notice, and also when it begins to hear and when it loses its connection."""

    def __init__(self, server: JournalServer, bell: NoticeBell) -> None:
        self._server = server
        self._bell = bell
        self._lock = Lock()
        self._thread: Thread | None = None
        self._closing = False

    def start(self) -> None:
        """Begin to listen, unless it does already."""
        if self._thread is None:
            with self._lock:
                if self._thread is None and not self._closing:
                    self._woken, self._waking = socket.socketpair()
                    self._thread = Thread(target=self._run, name="planwire-listener", daemon=True)
                    self._thread.start()

    def close(self) -> None:
        with self._lock:
            if self._closing or self._thread is None:
                self._closing = True
                return
            self._closing = True
            self._waking.send(b"x")
        self._thread.join(PARTING)
        if not self._thread.is_alive():  # else it is still connecting, and needs them
            self._woken.close()
            self._waking.close()

    def _run(self) -> None:
        while not self._closing:
            with suppress(JournalError, psycopg.Error, OSError), self._server.connect() as connection:
                connection.execute(f"LISTEN {self._server.channel}".encode())
                self._hear(connection)
            self._bell.ring()
            if not self._closing:
                self._wait(RETRY)

    def _hear(self, connection: PostgresConnection) -> None:
        while not self._closing:
            self._bell.ring()
            self._wait(None, connection.fileno())
            connection.pgconn.consume_input()
            while (notice := connection.pgconn.notifies()) is not None:
                if notice.extra == BUSY:
                    self._bell.expect_more(2 * LONGEST_PAUSE)

    def _wait(self, seconds: float | None, *others: int) -> None:
        """Wait until one of these sockets can be read, the time is up, or the journal closes."""
        if hasattr(select, "poll"):
            poll = select.poll()
            for each in (self._woken.fileno(), *others):
                poll.register(each, select.POLLIN)
            poll.poll(None if seconds is None else int(seconds * 1_000))
        else:
            select.select([self._woken.fileno(), *others], [], [], seconds)
