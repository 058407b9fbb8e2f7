"""The past of a session: every change in words, its progress, any past state, and how two states differ.

A timeline folds the past once and then continues from where it ended. It keeps a state every so often, and folds the
events after it again, so that every moment costs the same.
"""

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache, partial
from threading import Lock
from time import time_ns
from typing import Final, NamedTuple

from msgspec.structs import replace

from planwire.journal import Journal, read_on, state_at
from planwire.model import diff
from planwire.model.clocks import time_after
from planwire.model.events import Recorded
from planwire.model.fold import fold, fold_all
from planwire.model.identity import track
from planwire.model.plan import PlanId
from planwire.model.plan_change import PlanChange
from planwire.model.records import SessionState
from planwire.readmodel.compare import said_between
from planwire.readmodel.differences import PlanDifference, differences
from planwire.readmodel.file_text import FilesOf, no_plan_files, titles_of, with_files
from planwire.readmodel.history import HistoryEntry, describe, history
from planwire.readmodel.overview import total_progress
from planwire.readmodel.shown import ShownSession, show_session

#: Events between two states that a timeline keeps.
EVENTS_PER_STATE: Final = 64
#: How many moments of a very long past a timeline keeps in words, the newest. It reads the others again.
MOST_MOMENTS: Final = 20_000
KEPT_TIMELINES: Final = 16


class Point(NamedTuple):
    """The progress of a session at some time, after the event `seq`."""

    at: int
    done: int
    total: int
    seq: int = 0


class Timeline:
    """The past of one session up to its event `seq`. A moment has a place, counted from the first one, and the number
    of its event. `moments` are the newest ones, without the `left_out` oldest. No journal has the past of plan files,
    so at every moment they are as they are now."""

    def __init__(self, session: str, files: FilesOf = no_plan_files) -> None:
        self.id = session
        self._files = files
        self._lock = Lock()
        self._begin()

    def _begin(self) -> "Timeline":
        self.moments: list[HistoryEntry] = []
        self.numbers = array("q")
        self.points: list[Point] = []
        self._state = SessionState(self.id)
        self._states = [self._state]
        self._titles: dict[PlanId, str] = {}
        return self

    @property
    def seq(self) -> int:
        return self._state.seq

    @property
    def left_out(self) -> int:
        return len(self.numbers) - len(self.moments)

    def catch_up(self, journal: Journal) -> None:
        """Continue to the newest event; or begin anew, if a plan file has another heading now."""
        with self._lock:
            if self._titles != self._names():
                self._begin()
            read_on(journal, self, self._begin, Timeline._take)
            self._titles = self._names()

    def _names(self) -> dict[PlanId, str]:
        return titles_of(self._state, self._files(self._state))

    def _take(self, events: Iterable[Recorded]) -> "Timeline":
        for moment, _, after in history(events, self._state, self._files):
            self._state = after
            if after.seq % EVENTS_PER_STATE == 0:
                self._states.append(after)
            if not moment.is_aside:
                self._add(moment, after)
        return self

    def _add(self, moment: HistoryEntry, after: SessionState) -> None:
        self.moments.append(moment)
        self.numbers.append(moment.seq)
        if len(self.moments) > MOST_MOMENTS:
            del self.moments[: MOST_MOMENTS // 10]
        progress = total_progress(after)
        now = time_ns() // 1_000_000
        at = min(time_after(self.points[-1].at if self.points else 0, moment.at, now), now)
        point = Point(at, progress.done, progress.total, moment.seq)
        if not self.points or self.points[-1][1:3] != point[1:3]:
            self.points.append(point)

    def at(self, journal: Journal, seq: int) -> SessionState:
        """The session as it was after an event."""
        place = bisect_right(self._states, seq, key=lambda state: state.seq) - 1
        known = self._states[max(place, 0)]
        return fold_all(known.id, journal.read(known.id, known.seq, seq), known)

    def entries(self, journal: Journal, begin: int, end: int) -> list[HistoryEntry]:
        """The moments from one place up to another."""
        with self._lock:
            if begin >= self.left_out:
                return self.moments[begin - self.left_out : end - self.left_out]
            numbers = self.numbers[begin:end]
        before = self.at(journal, numbers[0] - 1)
        events = journal.read(self.id, before.seq, numbers[-1])
        return [moment for moment, _, _ in history(events, before, self._files) if not moment.is_aside]

    def entry(self, journal: Journal, place: int) -> HistoryEntry | None:
        """The moment at a place; None if it is before the first one."""
        return self.entries(journal, place, place + 1)[0] if self.numbers and place >= 0 else None

    def shown(self, journal: Journal, moment: HistoryEntry | None) -> ShownSession:
        """The session as it was after a moment; None is before it began."""
        if moment is None:
            return show_session(SessionState(self.id), {}, 0, 0, 0)
        state = self.at(journal, moment.seq)
        return show_session(state, dict(self._files(state)), self.points[0].at, moment.at, moment.at)

    def index(self, seq: int) -> int:
        """The place of an event's moment, or of the last moment before it; 0 if there is none."""
        return max(bisect_right(self.numbers, seq) - 1, 0)


class Timelines:
    """The timelines of the sessions that people looked at last. `files` must not be shared with live sessions: a plan
    that was another file in the past would replace the file that a live session follows."""

    def __init__(self, journal: Journal, files: FilesOf) -> None:
        self._journal = journal
        self._kept = lru_cache(KEPT_TIMELINES)(partial(Timeline, files=files))

    def get(self, session: str) -> Timeline:
        """The past of a session, up to now."""
        timeline = self._kept(session)
        timeline.catch_up(self._journal)
        return timeline


def moments_of(journal: Journal, session: str, files: FilesOf) -> Iterator[HistoryEntry]:
    """Every moment of a session, the oldest first."""
    return (moment for moment, _, _ in history(journal.read(session), SessionState(session), files))


def news(
    journal: Journal, is_wanted: Callable[[SessionState], bool], files: FilesOf, timeout: float | None = None
) -> Iterator[HistoryEntry]:
    """Every moment of the wanted sessions from now on, until nothing has happened for `timeout` seconds."""
    position = journal.last_position()
    states: dict[str, SessionState] = {}

    def moments() -> Iterator[HistoryEntry]:
        for recorded in (each.recorded for each in journal.follow(position, timeout=timeout)):
            before = states.get(recorded.session)
            if before is None or before.seq != recorded.seq - 1:  # not seen yet, or forgotten and begun anew
                before = state_at(journal, recorded.session, recorded.seq - 1)
            after = states[recorded.session] = fold(before, recorded)
            if is_wanted(after):
                yield describe(recorded, before, after, files)

    return moments()


def compare_sessions(before: ShownSession, after: ShownSession) -> list[PlanChange]:
    """The change of every plan between two moments of a session, or from one session to another."""
    return compare_states(*(with_files(each.journalled, each.files) for each in (before, after)))


def session_differences(before: ShownSession, after: ShownSession) -> tuple[PlanDifference, ...]:
    """The differences of all plans between two moments of a session, or from one session to another."""
    titles = {card.id: card.title for each in (before, after) for card in each.cards()}
    made = differences(compare_sessions(before, after), titles)
    if before.id != after.id:
        return made
    olds, news = ({card.id: card for card in each.cards()} for each in (before, after))
    told = {plan_id: said_between(olds.get(plan_id), card) for plan_id, card in news.items()}
    changed = {each.id: replace(each, said=told.get(each.id, ())) for each in made}
    same = {
        plan_id: PlanDifference(plan_id, news[plan_id].title, "same", None, (), "", (), said)
        for plan_id, said in told.items()
        if said and plan_id not in changed
    }
    return (*changed.values(), *same.values())


def compare_states(before: SessionState, after: SessionState) -> list[PlanChange]:
    """The change of every plan. If two sessions have one plan each, these are compared whatever their ids."""
    olds = {plan_id: record.state for plan_id, record in before.live().items()}
    news = {plan_id: record.state for plan_id, record in after.live().items()}
    if before.id != after.id and len(olds) == len(news) == 1:
        olds = dict(zip(news, olds.values(), strict=True))
    changes = []
    for plan_id in {**olds, **news}:
        old, new = olds.get(plan_id), news.get(plan_id)
        if new is None:
            gone = tuple(diff.Removed(step, at) for at, step in enumerate(old.steps if old else ()))
            changes.append(PlanChange(plan_id, old, None, diff.Diff(removed=gone)))
        else:
            if before.id != after.id and old is not None:
                new = track(new.plan, old)  # the steps of another session have other ids
            difference = diff.compare(old, new)
            if old is None or difference:
                changes.append(PlanChange(plan_id, old, new, difference))
    return changes
