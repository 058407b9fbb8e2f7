"""The past of a session: every change in words, how far it was, and any state that it ever had.

It is folded once and then goes on from where it ended. States on the way are kept now and then: what lies between two
of them is folded again, so that any moment costs the same.
"""

from bisect import bisect_right
from collections import OrderedDict
from threading import Lock
from typing import Final, NamedTuple

from planwire.journal import Journal
from planwire.model.fold import SessionState, fold_all
from planwire.readmodel.history import HistoryEntry, history
from planwire.readmodel.overview import total_progress

__all__ = ["Point", "Timeline", "Timelines"]

#: A state is kept whenever so many events have gone by.
EVENTS_PER_STATE: Final = 64
#: Of a very long past, the words of so many moments are kept, and the newest always.
MOST_MOMENTS: Final = 20_000
KEPT_TIMELINES: Final = 16


class Point(NamedTuple):
    """How far a session was at some time."""

    at: int
    done: int
    total: int


class Timeline:
    """The past of one session up to its event `seq`."""

    def __init__(self, session: str) -> None:
        self.moments: list[HistoryEntry] = []
        self.points: list[Point] = []
        self.left_out = 0
        self._state = SessionState(session)
        self._states = [self._state]
        self._lock = Lock()

    @property
    def seq(self) -> int:
        return self._state.seq

    def catch_up(self, journal: Journal) -> None:
        """Go on to the newest event."""
        with self._lock:
            for moment, _, after in history(
                (each for each in journal.read(self._state.id, self._state.seq)), self._state
            ):
                self._state = after
                if after.seq % EVENTS_PER_STATE == 0:
                    self._states.append(after)
                if not moment.is_message:
                    self._add(moment, after)

    def _add(self, moment: HistoryEntry, after: SessionState) -> None:
        self.moments.append(moment)
        if len(self.moments) > MOST_MOMENTS:
            del self.moments[: MOST_MOMENTS // 10]
            self.left_out += MOST_MOMENTS // 10
        progress = total_progress(after)
        point = Point(moment.at, progress.done, progress.total)
        if not self.points or self.points[-1][1:] != point[1:]:
            self.points.append(point)

    def at(self, journal: Journal, seq: int) -> SessionState:
        """The session as it was after an event."""
        place = bisect_right(self._states, seq, key=lambda state: state.seq) - 1
        known = self._states[max(place, 0)]
        return fold_all(known.id, journal.read(known.id, known.seq, seq), known)

    def index(self, seq: int) -> int:
        """Which moment an event is, or the last one before it; 0 if there is none."""
        return max(bisect_right(self.moments, seq, key=lambda moment: moment.seq) - 1, 0)


class Timelines:
    """The timelines of the sessions that were looked at last."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._kept: OrderedDict[str, Timeline] = OrderedDict()
        self._lock = Lock()

    def get(self, session: str) -> Timeline:
        """The past of a session, up to now."""
        with self._lock:
            timeline = self._kept.get(session)
            if timeline is None or self._journal.last_seq(session) < timeline.seq:  # it was forgotten, and began anew
                timeline = self._kept[session] = Timeline(session)
            self._kept.move_to_end(session)
            if len(self._kept) > KEPT_TIMELINES:
                self._kept.popitem(last=False)
        timeline.catch_up(self._journal)
        return timeline
