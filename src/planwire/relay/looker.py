"""The thread that finds out what others wrote, while a prompt waits for it.

It does nothing but read, so that a prompt waits neither for what is on its way to the disk nor for another writer. It
is a thread of its own because a file system may hang: a prompt can stop waiting for a thread, but not for a read.
"""

from collections.abc import Callable
from queue import SimpleQueue
from threading import Event, Thread


class Looker:
    """Calls `look`, which says whether the journal could be read."""

    def __init__(self, look: Callable[[], bool]) -> None:
        self._look = look
        self._questions: SimpleQueue[Event] = SimpleQueue()
        self._last = Event()  # the last question: set once it is answered
        self._last.set()
        self._could_look = True
        self._thread = Thread(target=self._run, name="planwire look", daemon=True)

    def start(self) -> None:
        self._thread.start()

    @property
    def answers(self) -> bool:
        """Whether the last look is over and the journal answered it."""
        return self._could_look and self._last.is_set()

    def ask(self, patience: float) -> None:
        """Have a look, and wait `patience` seconds at most for its end. After a look that failed or took longer, don't
        wait until one succeeds."""
        if self._last.is_set():
            self._last = asked = Event()
            self._questions.put(asked)
            if self._could_look:
                asked.wait(patience)

    def _run(self) -> None:
        while True:
            asked = self._questions.get()
            try:
                self._could_look = self._look()
            except Exception:  # the recorder's thread reports what is wrong with the journal
                self._could_look = False
            asked.set()
