"""A thread that drains the spool of hooks for as long as a process lives: the board, the terminal app, a tool server.

Of all such processes one drains at a time, and when it ends, another takes over. While there is one, hooks get their
answers from it, several times faster than if each became the full program.
"""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from threading import Event, Thread
from time import monotonic
from types import TracebackType
from typing import Final, Self

from planwire.errors import JournalError
from planwire.hooks.draining import HookDrainer
from planwire.journal import Followed, Journal, follower_of
from planwire.journal.waiting import is_away

#: Seconds between two looks at the spool, between two looks after a while without hooks, the length of that while, and
#: between two tries to become the drainer.
_LOOK: Final = 0.02
_LOOK_LATER: Final = 0.06
_QUIET: Final = 30.0
_TRY: Final = 0.5


class DrainThread:
    """Drains a folder of hooks into a journal: `with DrainThread(journal, folder): …`."""

    def __init__(self, journal: Journal, folder: Path | None) -> None:
        self._journal = journal
        self._folder = folder
        self._stop = Event()
        self._touched = SimpleQueue[str]()  # sessions that were written to
        self._thread = Thread(target=self._run, name="planwire-hooks", daemon=True)

    def __enter__(self) -> Self:
        if self._folder is not None:
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        assert self._folder is not None
        drainer = HookDrainer(self._journal, self._folder)
        while not self._stop.is_set():
            with suppress(JournalError):  # it is busy, or was closed, and then this ends soon
                self._follow(drainer)
            self._stop.wait(_TRY)

    def _follow(self, drainer: HookDrainer) -> None:
        unsubscribe = follower_of(self._journal).subscribe(self._hear)
        try:
            while not self._stop.is_set():
                if not is_away(self._journal) and drainer.lock.acquire():
                    self._keep_on(drainer)
                if is_away(self._journal):  # no hook may wait for an answer that can't be given now
                    drainer.lock.release()
                self._stop.wait(_TRY)
        finally:
            unsubscribe()
            drainer.lock.release()

    def _keep_on(self, drainer: HookDrainer) -> None:
        """Drain until the lock is gone. While a journal is unavailable, the spool stays as it is."""
        is_marked = False  # whether every session with news has its sign
        worked = monotonic()
        while drainer.lock.is_held and not self._stop.is_set() and not is_away(self._journal):
            try:
                if drainer.has_work:
                    worked = monotonic()
                    drainer.drain()
                touched = {*self._heard()}
                if touched or not is_marked:
                    among, is_marked = touched if is_marked else None, False
                    drainer.mark_news(among)
                    is_marked = True
            except (JournalError, OSError):
                self._stop.wait(_TRY)
            self._stop.wait(_LOOK if monotonic() - worked < _QUIET else _LOOK_LATER)

    def _hear(self, followed: Followed) -> None:
        self._touched.put(followed.recorded.session)

    def _heard(self) -> Iterator[str]:
        while not self._touched.empty():
            yield self._touched.get()
