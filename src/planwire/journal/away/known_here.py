"""What one process knows of sessions whose journal is on a server: how far it has read them, and the events that wait.

It keeps the last events of each session, because one part of a process may be a few events behind another. Earlier
events need not be kept: every part of the process has folded them already.

Events that wait are folded as well, so they need numbers. But others may append to the same session meanwhile, so
nobody knows the real ones yet. So they are numbered above all that any session reaches (`waiting.is_waiting`), from the
last known number on. An empty `Gap` marks where this machine's knowledge ends: whoever decided before it decides anew.
After delivery the session is shorter again, and every fold starts over, as after `forget` (`view.read_on`).
"""

from collections import OrderedDict, deque
from collections.abc import Iterable
from threading import RLock
from typing import Final

from planwire.journal.protocol import Once, Stamped
from planwire.journal.waiting import FIRST_WAITING, is_waiting
from planwire.model.events import Gap, Recorded
from planwire.model.records import PLANWIRE

#: How many of a session's last events are kept, and for how many sessions.
TAIL: Final = 16
TAILS: Final = 256
_UNKNOWN: Final = "the journal's server is away, so what others wrote since is not known"


class AheadEvents:
    """The events of one session that wait, after those `known` up to number `base`.

    Once they are delivered (`rest`), the process goes by the server. If the server goes away again, they go on with
    other events, because some of their readers may not have begun anew in between.
    """

    def __init__(self, session: str, base: int, known: Iterable[Recorded]) -> None:
        self.base = base
        self.keys: dict[Once, tuple[Recorded, ...]] = {}
        self._known = [each for each in known if each.seq <= base]
        self._own: list[Recorded] = []
        self._first = FIRST_WAITING + base
        self._delivered = 0  # how many of these the server had when it was last there
        self._session = session

    @property
    def last(self) -> int:
        return self._first + len(self._own) - 1

    def add(self, events: Iterable[Stamped | Recorded], once: Once | None = None) -> tuple[Recorded, ...]:
        """Add events that wait, of this process or another. They are delivered with the key `once`."""
        added = tuple(
            Recorded(self._session, seq, each.at, each.by, each.event)
            for seq, each in enumerate(events, start=self.last + 1)
        )
        self._own += added
        if once is not None:
            self.keys[once] = added
        return added

    def mark(self, at: int) -> None:
        """Mark the end of what is known, at a time. What comes after it is from no earlier time."""
        self.add([Stamped(at, PLANWIRE, Gap(0, _UNKNOWN))])

    def rest(self) -> None:
        """Note that all of them are delivered."""
        self._delivered = len(self._own)

    def read(self, after: int, upto: int | None) -> list[Recorded] | None:
        """The events after a number; None if only the server has the first of them. A reader at the end pays nothing
        for the events that wait, which may be many in a long outage."""
        if after < self.base and (not self._known or after < self._known[0].seq - 1):
            return None
        is_past = self.base < after < self._first  # the reader has from the server what was delivered
        own = self._own[self._delivered if is_past else max(0, after + 1 - self._first) :]
        found = [*(each for each in self._known if after < each.seq), *own]
        return found if upto is None else [each for each in found if each.seq <= upto]


class KnownHere:
    """The sessions that this process has met. Any thread may note events; a caller that goes by `ahead`, or changes it,
    holds the lock."""

    def __init__(self) -> None:
        self.lock = RLock()
        #: The sessions of which events wait.
        self.ahead: set[str] = set()
        #: Their events, and what was ahead and is delivered, of the newest sessions that this process did not append to
        #: since.
        self._waiting: dict[str, AheadEvents] = {}
        self._ends: dict[str, int] = {}
        self._tails: OrderedDict[str, deque[Recorded]] = OrderedDict()

    def note(self, recorded: Recorded, *, is_new: bool = False) -> None:
        """Note that this process has an event. If the event `is_new` and has number 1, the session was forgotten and
        begun anew. Otherwise a number 1 may only mean that the session is read again, or only its beginning."""
        session, seq = recorded.session, recorded.seq
        with self.lock:
            end = self._ends.get(session, 0)
            if seq > end or (is_new and seq == 1):
                tail = self._tails.pop(session, None)
                if tail is None or seq != end + 1:
                    tail = deque(maxlen=TAIL)
                tail.append(recorded)
                self._tails[session], self._ends[session] = tail, seq
                if len(self._tails) > TAILS:
                    self._tails.popitem(last=False)

    def note_end(self, session: str, seq: int, known: int = 0) -> None:
        """Note that this process has a session up to a number, or that the session has no events (0). If more were
        `known` before, it was forgotten and begun anew."""
        with self.lock:
            if not seq or seq < known or seq > self._ends.get(session, -1):
                self._ends[session] = seq
                self._tails.pop(session, None)

    def forget(self, *sessions: str) -> None:
        with self.lock:
            for each in sessions:
                self.go_by_server(each)
                self._ends.pop(each, None)
                self._tails.pop(each, None)

    def go_by_server(self, session: str) -> None:
        """Drop what was delivered of a session: nobody here goes on from that."""
        if session not in self.ahead:
            self._waiting.pop(session, None)

    def ahead_of(self, session: str) -> AheadEvents | None:
        """The session's waiting events, or those that it goes on from if the server goes away again."""
        return self._waiting.get(session)

    def end(self, session: str) -> int | None:
        """The number of the last event that came from the server; None if there is none."""
        return self._ends.get(session)

    def last(self, session: str) -> int | None:
        """The number of the last event while the server is away; None if only the server knows."""
        end, waiting = self._ends.get(session), self._waiting.get(session)
        return waiting.last if waiting is not None and (end is None or session in self.ahead) else end

    def read(self, session: str, after: int, upto: int | None) -> list[Recorded] | None:
        """The events after a number; None if only the server has the first of them."""
        waiting = self._waiting.get(session)
        if waiting is not None and (session in self.ahead or is_waiting(after)):
            return waiting.read(after, upto)
        with self.lock:
            end, tail = self._ends.get(session), tuple(self._tails.get(session, ()))
        if end is None or (after < end and not (tail and after >= tail[0].seq - 1)):
            return None
        return [each for each in tail if after < each.seq and (upto is None or each.seq <= upto)]

    def go_ahead(self, session: str, expected_seq: int | None, at: int | None) -> AheadEvents:
        """The session's waiting events, to which others can be added. They begin after those that the writer knows, and
        with the mark of a time, unless the caller sets that later (None)."""
        with self.lock:
            if session not in self._waiting:
                base = self._ends.get(session, 0) if expected_seq is None else expected_seq
                self._waiting[session] = AheadEvents(session, base, self._tails.get(session, ()))
            if session not in self.ahead and at is not None:
                self._waiting[session].mark(at)
            self.ahead.add(session)
            return self._waiting[session]

    def return_to_server(self) -> None:
        """Go by the server again, now that all that waited is delivered."""
        for session in self.ahead:
            delivered = self._waiting[session] = self._waiting.pop(session)  # the newest are last
            delivered.rest()
        self.ahead.clear()
        for session in [*self._waiting][:-TAILS]:
            del self._waiting[session]

    def begin_without(self, session: str, at: int) -> None:
        """Treat a session as if it held nothing but the events that wait here."""
        self.go_by_server(session)
        self.go_ahead(session, 0, at).base = 0
