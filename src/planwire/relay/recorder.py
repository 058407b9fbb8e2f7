"""The thread that has the journal: it writes what happened, and finds out what others wrote.

The traffic never waits for it. It shares an interpreter with the pipes, so it works in small slices and makes way while
lines come in. It tries a locked or full journal again for as long as the backlog lasts, leaves one alone that can't be
used at all, and counts what it could not record.

A prompt waits a moment for a look at what others wrote, so that a person's last word goes along (`look_now`). Another
thread has that look (`looker`), whatever this one is at. Only a session with a history that is still to be found has to
wait for this thread, which then makes way for nobody.
"""

import gc
from collections import deque
from collections.abc import Callable
from math import inf
from threading import Condition, Thread
from time import time_ns
from typing import Final

from planwire.errors import JournalUnavailable
from planwire.journal.protocol import Journal, Terms
from planwire.model.events import PlanSet
from planwire.model.kinds import prose_of
from planwire.relay.actions import Meet, Record, RecordLine, SessionMemory
from planwire.relay.backlog import Arrived, Backlog
from planwire.relay.journalled import JournalledSessions
from planwire.relay.looker import Looker

__all__ = ["LOOK", "Recorder"]

#: Records in one slice, and their bytes: the traffic waits while this thread computes, and a record in hand takes
#: several times the memory of one that waits.
SLICE: Final = 16
SLICE_BYTES: Final = 32 * 1024
#: Seconds to wait for more before a slice, while lines come in; and if they go on coming, to make way for them.
GATHER: Final = 0.01
MAKE_WAY: Final = 0.03
#: Records after which the garbage collector runs: Python 3.11 keeps two thousand freed tuples of exactly twenty
#: elements, and never uses them again (gh-121439).
TIDY: Final = 256
#: Seconds between two looks at what others wrote to the sessions of this connection.
LOOK: Final = 0.2
#: Seconds until the next try at a journal that could not be written.
RETRY: Final = 1.0
_TOO_FAST: Final = "they came faster than the journal could write; the last state of each plan was recorded"


class Recorder:
    """Writes to the journal that `open_journal` opens.

    `tell` hears what the journal knows of a session. `traffic` is a number that changes as long as there is traffic,
    `look` the seconds between two looks at the journal. `on_unavailable` hears, once, that the journal can't be used;
    for whoever wants to know that, the recorder opens it at once. `terms` says what the lease of a session is to say.
    """

    def __init__(
        self,
        open_journal: Callable[[], Journal],
        tell: Callable[[str, SessionMemory], None],
        traffic: Callable[[], float] = float,
        look: Callable[[], float] = lambda: LOOK,
        on_unavailable: Callable[[Exception], None] | None = None,
        terms: Callable[[str], Terms] = lambda _: Terms(),
    ) -> None:
        self._open_journal = open_journal
        self._traffic = traffic
        self._look = look
        self._on_unavailable = on_unavailable
        self._backlog = Backlog()
        self._journal: Journal | None = None
        self._sessions = JournalledSessions(tell, terms)
        self._held: deque[Arrived] = deque()  # taken from the backlog, and not in `_sessions` yet
        self._seen_traffic = -1.0
        self._since_tidied = 0
        self._lost = 0
        self._problem: Exception | None = None
        self._given_up = self._closing = False
        self._unfound: set[str] = set()  # sessions that may have a history
        self._worked = Condition()  # notified when a slice is waited for, and when it is done
        self._is_awaited = self._failed = False
        self._looker = Looker(self._look_for_prompt)
        self._thread = Thread(target=self._run, name="planwire journal", daemon=True)

    def start(self) -> None:
        self._thread.start()
        self._looker.start()

    def put(self, action: Meet | Record | RecordLine, size: int) -> None:
        """Record something that happened just now, on a line of that size. It may wait a little for `wake`."""
        if isinstance(action, Meet) and not action.fresh:
            self._unfound.add(action.session)
        weight = size + len(action.why) if isinstance(action, RecordLine) else _weight(action, size)
        self._backlog.put(Arrived(action, time_ns() // 1_000_000, weight))

    def wake(self) -> None:
        """Write everything that waits."""
        self._backlog.wake()

    def look_now(self, patience: float) -> None:
        """Find out what others wrote, at once, and wait for that no more than so many seconds. After a journal took
        longer, or failed, nobody waits for it until it answers again."""
        self._looker.ask(patience)

    def close(self, patience: float) -> str | None:
        """Write what is left, for so many seconds at most. Returns a sentence about what was lost, if anything was."""
        with self._worked:
            self._closing = True
            self._worked.notify_all()
        self._backlog.wake()
        self._thread.join(patience)
        waiting = 0
        if self._thread.is_alive():
            waiting = len(self._backlog) + len(self._held) + self._sessions.unwritten
        lost = self._lost + self._backlog.displaced + waiting
        if not lost:
            return None
        why = self._problem or ("the journal is too slow" if waiting else _TOO_FAST)
        return f"{lost:,} event{'s' if lost > 1 else ''} could not be recorded: {why}"

    # -- the thread

    def _run(self) -> None:
        if self._on_unavailable is not None:
            self._work()
        while not self._closing:
            if self._backlog.wait(self._look()) and (self._journal or self._given_up):  # the first time, at once
                self._make_way()
            self._failed = not self._work()
            if self._is_awaited:
                with self._worked:
                    self._worked.notify_all()
            if self._failed:
                self._pause()
            elif not self._looker.answers:
                self._looker.ask(0)
        self._finish()

    def _make_way(self) -> None:
        """Let the traffic go first. Without any there is nothing to wait for."""
        if self._traffic() == self._seen_traffic:
            return
        seen = self._traffic()
        self._rest(GATHER)
        if self._traffic() != seen:
            self._rest(MAKE_WAY)
        self._seen_traffic = self._traffic()

    def _rest(self, seconds: float) -> None:
        """Sleep, unless a prompt waits, or the end has come."""
        with self._worked:
            self._worked.wait_for(lambda: self._is_awaited or self._closing, seconds)

    def _pause(self) -> None:
        with self._worked:
            self._worked.wait_for(lambda: self._closing, RETRY)

    def _work(self, most_records: float = SLICE, most_bytes: float = SLICE_BYTES) -> bool:
        """Work off a slice. False if the journal could not be used this time."""
        if self._given_up:
            self._held += self._backlog.take()
            self._drop()
        elif not self._held and not self._sessions.unwritten:
            self._held += self._backlog.take(most_records, most_bytes)
        try:
            if self._journal is None and (self._held or self._on_unavailable):
                self._journal = self._open_journal()
            if self._journal is not None and not self._given_up:
                self._advance(self._journal)
        except JournalUnavailable as error:
            self._problem = error
            if self._journal is None:
                self._report_unavailable(error)
            return False
        except Exception as error:  # whatever is wrong with a journal, the traffic goes on
            self._give_up(error)
        return True

    def _advance(self, journal: Journal) -> None:
        self._since_tidied += len(self._held)
        while self._held:
            self._sessions.take(journal, self._held[0].action, self._held[0].at)
            self._unfound.discard(self._held.popleft().action.session)
        self._write(journal)
        if self._since_tidied >= TIDY:
            self._since_tidied = 0
            gc.collect()

    def _write(self, journal: Journal, *, all_streams: bool = False) -> None:
        for problem in self._sessions.write(journal, all_streams=all_streams):
            self._lost += 1
            self._problem = problem

    def _finish(self) -> None:
        works = self._work(inf, inf)
        while works and (self._held or len(self._backlog)):
            works = self._work(inf, inf)
        if works and self._journal is not None and not self._given_up:
            try:
                self._write(self._journal, all_streams=True)
                self._journal.close()
            except Exception as error:  # as above: the end comes, whatever is wrong with the journal
                self._problem = error
        self._held += self._backlog.take()
        self._drop()

    def _give_up(self, error: Exception) -> None:
        self._problem = error
        self._given_up = True
        self._drop()
        self._report_unavailable(error)

    def _report_unavailable(self, error: Exception) -> None:
        on_unavailable, self._on_unavailable = self._on_unavailable, None
        if on_unavailable is not None:
            on_unavailable(error)

    def _drop(self) -> None:
        """Count what nobody will record."""
        self._lost += sum(not isinstance(each.action, Meet) for each in self._held) + self._sessions.drop()
        self._held.clear()
        self._unfound.clear()

    # -- the looker's thread

    def _look_for_prompt(self) -> bool:
        """Tell what others wrote, once every session is found. Whether the journal answered."""
        if self._unfound:
            self._backlog.wake()
            with self._worked:
                self._is_awaited = True
                self._worked.notify_all()
                self._worked.wait_for(lambda: self._failed or not self._unfound)
                self._is_awaited = False
        if self._journal is not None and not self._given_up:
            self._sessions.look(self._journal)
        return not (self._unfound or self._given_up)


def _weight(action: Meet | Record, size: int) -> int:
    """About the bytes that a record of a line holds. The line may bring no more of a text than its newest piece; of a
    prompt only the title stays."""
    match action:
        case Record(event=PlanSet(plan=plan), why=why):
            return max(size, len(prose_of(plan) or "")) + len(why)
    return 0
