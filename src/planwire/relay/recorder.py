"""The thread that has the journal: writes what happened, and finds out what others wrote.

The traffic waits for nothing here but, for a moment, a prompt for what others wrote (`look_now`). A journal that is
locked or full is tried again while the backlog lasts; one that can't be used at all is left alone. What could not be
recorded is counted.
"""

import gc
from collections import deque
from collections.abc import Callable
from math import inf
from threading import Event, Thread
from time import monotonic, sleep, time_ns
from typing import Final

from planwire.errors import Conflict, JournalError, JournalUnavailable, UnstorableEvent
from planwire.journal.protocol import Journal, Stamped
from planwire.journal.view import View
from planwire.model.events import ACP, PlanSet
from planwire.model.kinds import prose_of
from planwire.relay.actions import Meet, Record, RecordLine, SessionMemory
from planwire.relay.backlog import Arrived, Backlog
from planwire.relay.dedupe import PendingHistory, begin, learn
from planwire.relay.envelope import list_on

__all__ = ["Recorder"]

#: So many records, or bytes of them, are worked off at a time: what this thread computes the traffic has to wait for,
#: and what it has in hand takes several times the memory of what waits.
SLICE: Final = 16
SLICE_BYTES: Final = 32 * 1024
#: Seconds to wait for more before that, while something comes; and if it goes on coming, to make way for it.
GATHER: Final = 0.01
MAKE_WAY: Final = 0.03
#: After so many records the interpreter is told to give back what it keeps of them: Python 3.11 keeps two thousand
#: tuples of exactly twenty, and never uses them again.
TIDY: Final = 256
#: Seconds between two looks at what others wrote to the sessions of this connection.
LOOK: Final = 0.2
#: Seconds until a journal that could not be written is tried again.
RETRY: Final = 1.0
_MEMORY: Final = View("relay", SessionMemory, begin, learn, rules=3)


class _RecordedSession:
    """A session of this connection in its journal: what is written, and what will be."""

    def __init__(self, memory: SessionMemory) -> None:
        self.written = memory
        self.pending = PendingHistory(memory)
        self.unwritten: list[Stamped] = []


class Recorder:
    """Writes to the journal that `open_journal` opens.

    `tell` hears what the journal knows of a session. `traffic` is a number that changes as long as there is traffic,
    `look` the seconds between two looks at the journal. `on_unavailable` hears, once, that the journal can't be used;
    for whoever wants to know that, the recorder opens it at once.
    """

    def __init__(
        self,
        open_journal: Callable[[], Journal],
        tell: Callable[[str, SessionMemory], None],
        traffic: Callable[[], float] = float,
        look: Callable[[], float] = lambda: LOOK,
        on_unavailable: Callable[[Exception], None] | None = None,
    ) -> None:
        self._open_journal = open_journal
        self._tell = tell
        self._traffic = traffic
        self._look = look
        self._on_unavailable = on_unavailable
        self._backlog = Backlog()
        self._journal: Journal | None = None
        self._sessions: dict[str, _RecordedSession] = {}
        self._held: deque[Arrived] = deque()  # in hand: taken from the backlog, not worked off yet
        self._seen = -1.0  # of the traffic
        self._since_tidied = 0
        self._lost = 0
        self._problem: Exception | None = None
        self._given_up = self._closing = False
        self._asked: Event | None = None  # by somebody who wants to know what others wrote
        self._answers = True
        self._thread = Thread(target=self._run, name="planwire journal", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def put(self, action: Meet | Record | RecordLine, size: int) -> None:
        """Something happened, just now. `size` is that of its line. It is written soon, or sooner after `wake`."""
        weight = size if isinstance(action, RecordLine) else _weight(action, size)
        self._backlog.put(Arrived(action, time_ns() // 1_000_000, weight))

    def wake(self) -> None:
        """Write what there is."""
        self._backlog.wake()

    def look_now(self, patience: float) -> None:
        """Find out what others wrote, at once, if that takes no more than so many seconds. A journal that took longer,
        or could not be used, is not waited for again until it can."""
        if self._answers:
            asked = self._asked = Event()
            self._backlog.wake()
            if not asked.wait(patience):
                self._answers = False

    def close(self, patience: float) -> str | None:
        """Write what is left, for so many seconds at most. Returns a sentence about what could not be recorded."""
        self._closing = True
        self._backlog.wake()
        self._thread.join(patience)
        waiting = 0
        if self._thread.is_alive():
            waiting = len(self._backlog) + len(self._held) + sum(len(each.unwritten) for each in self._copy())
        lost = self._lost + self._backlog.displaced + waiting
        if not lost:
            return None
        why = self._problem or ("the journal is too slow" if waiting else "there were too many at a time")
        return f"{lost:,} event{'s' if lost > 1 else ''} could not be recorded: {why}"

    def _copy(self) -> list[_RecordedSession]:
        return list(self._sessions.values())

    # -- the thread

    def _run(self) -> None:
        if self._on_unavailable is not None:
            self._work()
        while not self._closing:
            if self._backlog.wait(self._look()) and (self._journal or self._given_up):  # it is opened at once
                self._make_way()
            asked, self._asked = self._asked, None
            works = self._work()
            self._answers = works and not self._given_up
            if asked is not None:
                asked.set()
            if not works:
                self._pause()
        self._finish()

    def _make_way(self) -> None:
        """Let the traffic go first. As long as there is none, there is nothing to wait for."""
        if self._asked is not None or self._traffic() == self._seen:
            return
        seen = self._traffic()
        sleep(GATHER)
        if self._traffic() != seen:
            sleep(MAKE_WAY)
        self._seen = self._traffic()

    def _pause(self) -> None:
        until = monotonic() + RETRY
        while not self._closing and monotonic() < until:
            sleep(GATHER)

    def _work(self, most_records: float = SLICE, most_bytes: float = SLICE_BYTES) -> bool:
        """Work off some of what there is. False if the journal could not be used this time."""
        if self._given_up:
            self._held += self._backlog.take()
            self._drop()
        elif not self._held and not any(each.unwritten for each in self._sessions.values()):
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
            self._take(journal, self._held[0])
            self._held.popleft()
        for wire_id, session in self._sessions.items():
            session.unwritten += session.pending.finish_stream(time_ns() // 1_000_000)
            self._write(journal, wire_id, session)
        if self._since_tidied >= TIDY:
            self._since_tidied = 0
            gc.collect()

    def _take(self, journal: Journal, arrived: Arrived) -> None:
        action = arrived.action
        session = self._sessions.get(action.session)
        if session is None:
            if isinstance(action, Meet):
                session = self._sessions[action.session] = _RecordedSession(_find(journal, action))
                self._tell(action.session, session.written)
            return
        record = _record(action)
        if record is not None:
            session.unwritten += session.pending.take(record, arrived.at)

    def _write(self, journal: Journal, wire_id: str, session: _RecordedSession) -> None:
        """Append what is new, after whatever others appended meanwhile."""
        name = session.written.id
        while True:
            if journal.last_seq(name) != session.written.seq:
                self._catch_up(journal, wire_id, session)
            if not session.unwritten:
                return
            try:
                journal.append(name, session.unwritten, session.written.seq)
            except Conflict:
                continue
            except UnstorableEvent as error:
                self._leave_out(error, session)
                continue
            session.unwritten.clear()
            session.written = session.pending.memory
            self._tell(wire_id, session.written)

    def _catch_up(self, journal: Journal, wire_id: str, session: _RecordedSession) -> None:
        session.written = _MEMORY.catch_up(journal, session.written)
        session.unwritten = session.pending.rebase(session.written, session.unwritten)
        self._tell(wire_id, session.written)

    def _leave_out(self, error: UnstorableEvent, session: _RecordedSession) -> None:
        """One of the events can't be stored: the journal is asked which, and it is left out."""
        from planwire.journal.codec import encode  # noqa: PLC0415  (rarely needed)

        kept = []
        for each in session.unwritten:
            try:
                encode(session.written.id, [each])
                kept.append(each)
            except UnstorableEvent:
                self._lost += 1
                self._problem = error
        session.unwritten = session.pending.rebase(session.written, kept)

    def _finish(self) -> None:
        works = self._work(inf, inf)
        while works and (self._held or len(self._backlog)):
            works = self._work(inf, inf)
        if works and self._journal is not None and not self._given_up:
            try:
                for wire_id, session in self._sessions.items():
                    session.unwritten += session.pending.finish_stream()
                    self._write(self._journal, wire_id, session)
                self._journal.close()
            except JournalError as error:
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
        """What there is will not be recorded."""
        self._lost += sum(not isinstance(each.action, Meet) for each in self._held)
        self._held.clear()
        for session in self._sessions.values():
            self._lost += len(session.unwritten)
            session.unwritten.clear()


def _weight(action: Meet | Record, size: int) -> int:
    """About the bytes that are held for something on a line of that size. The line may hold no more of a text than its
    newest piece; of a prompt only the title is kept."""
    match action:
        case Record(event=PlanSet(plan=plan)):
            return max(size, len(prose_of(plan) or ""))
    return 0


def _record(action: Meet | Record | RecordLine) -> Record | None:
    match action:
        case Record():
            return action
        case RecordLine(session=session, line=line):
            plan = list_on(line)
            return None if plan is None else Record(session, PlanSet(plan, via=ACP))
    return None


def _find(journal: Journal, meeting: Meet) -> SessionMemory:
    """The history of a session, or an empty one under a name of its own.

    Ids of sessions are the agents' to give, and some count from 1 in every process: a session that is new is never
    taken for an old one that had its id, nor one agent's session for another's.
    """
    name, number, found = meeting.session, 1, None
    while journal.last_seq(name):
        if not meeting.fresh and _is_of(known := _MEMORY.load(journal, name), meeting):
            found = known
        number += 1
        name = f"{meeting.session}~{number}"
    return found or begin(name)


def _is_of(known: SessionMemory, meeting: Meet) -> bool:
    opened = known.state.opened
    if opened is None or opened.agent is None or meeting.agent is None:
        return True
    return _without_version(opened.agent) == _without_version(meeting.agent) or opened.cwd == meeting.cwd


def _without_version(agent: str) -> str:
    return agent.rsplit(" ", 1)[0]
