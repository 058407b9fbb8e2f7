"""Every session of a journal as it is now: read once, then kept up to date.

The journal's follower hands over new events, and each is folded into its session. The overview of each session stays in
memory, and the whole state of the most recently used ones; any other state is loaded again on demand. A separate thread
looks at the leases every second: they say whether a session runs, and no event does. Now and then it calls the roll: it
loads the sessions that are missing, at first all of them, and drops those that were forgotten. A session that can't be
read is set aside: the others are not affected, and `problem` names it.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from typing import Final

from planwire.errors import EngineAway, JournalError, JournalUnavailable, NotFound
from planwire.journal import Followed, Journal, KnownLease, KnownSession, catch_up, follower_of, load_state, state_at
from planwire.journal.waiting import is_waiting, note_state
from planwire.model.clocks import time_after
from planwire.model.events import TurnEnded
from planwire.model.fold import fold
from planwire.model.records import SessionState
from planwire.readmodel.away_words import away_words
from planwire.readmodel.file_text import text_of_file
from planwire.readmodel.folders import dated, newest_first
from planwire.readmodel.followed_files import FilePlans
from planwire.readmodel.overview import Overview
from planwire.readmodel.shown import ShownSession, show_session
from planwire.readmodel.states import NOBODY, RUNNING, Hold, holds_of, is_running
from planwire.session.file_plans import record_files
from planwire.session.lapses import end_lapsed
from planwire.session.pending_reviews import PendingReviews

#: States that stay in memory.
KEPT_STATES: Final = 512
#: Seconds between two looks at the leases.
LOOK: Final = 1.0
#: Seconds between two looks for sessions that are missing, moved on unheard, or were forgotten.
ROLL_CALL: Final = 3.0

#: The sources of trouble with the journal, besides the events of a session.
_FOLLOWING: Final = "following"
_ROLL_CALL: Final = "roll call"


def load_session(
    journal: Journal,
    known: KnownSession,
    files: FilePlans,
    at: int | None = None,
    holds: Mapping[str, Hold] | None = None,
) -> ShownSession:
    """A session of a journal as it is now, or right after the event `at`; 0 is before the first. Files are always as
    they are now. To load several sessions, pass the `holds` of all."""
    if at is not None and at > known.last_seq:
        raise NotFound(f"session {known.id!r} has no event {at}: the latest is {known.last_seq}")
    state = load_state(journal, known.id) if at is None else state_at(journal, known.id, at)
    last_at = known.last_at
    if at is not None:
        last_at = next((each.at for each in journal.read(known.id, max(at - 1, 0), at)), known.first_at)
    if at is not None:
        return show_session(state, files.of(state), known.first_at, last_at, last_at)
    hold = (holds_of(journal.leases()) if holds is None else holds).get(known.id, NOBODY)
    return show_session(state, files.of(state), known.first_at, last_at, _now(), hold)


def load_sessions(
    journal: Journal, known: Iterable[KnownSession], files: FilePlans, holds: Mapping[str, Hold]
) -> tuple[list[ShownSession], list[JournalError]]:
    """Sessions of a journal as they are now; of those that are damaged the reasons, each once."""
    loaded: list[ShownSession] = []
    troubles: dict[str, JournalError] = {}
    for each in known:
        try:
            loaded.append(load_session(journal, each, files, holds=holds))
        except JournalUnavailable:
            raise
        except JournalError as error:
            troubles[str(error)] = error
    return loaded, list(troubles.values())


class Sessions:
    """The sessions of a journal. Thread-safe. Every change calls `changed` with the session's id, or with "" if it is
    about none: when all are loaded, or `problem` changed."""

    def __init__(self, journal: Journal, files: FilePlans, changed: Callable[[str], None]) -> None:
        self.journal = journal
        self.loading = True
        self.position = 0
        with suppress(EngineAway):  # the follower tells as soon as it is back
            self.position = journal.last_position()
        self._files = files
        self._pending = PendingReviews(journal)
        self._changed = changed
        self._lock = threading.RLock()
        self._glances: dict[str, Overview] = {}
        self._kept: OrderedDict[str, ShownSession] = OrderedDict()
        self._troubles: dict[str, JournalError | None] = {_FOLLOWING: None, _ROLL_CALL: None}
        self._holds: dict[str, Hold] = {}
        self._unreadable: dict[str, JournalError] = {}
        self._stop = threading.Event()
        self._unsubscribe: Callable[[], None] | None = None
        self._thread = threading.Thread(target=self._work, name="planwire-sessions", daemon=True)

    @property
    def problem(self) -> str | None:
        """Why the sessions may differ from the journal; None as long as all is well."""
        if (away := self.away) is not None:
            return away
        troubles = (*self._troubles.values(), *self._unreadable.values())
        return next((str(trouble) for trouble in troubles if trouble is not None), None)

    @property
    def away(self) -> str | None:
        """A sentence if the journal's server is away or something waits to be delivered; otherwise None."""
        return away_words(self.journal)

    def start(self) -> None:
        """Begin to follow the journal, and to load its sessions."""
        in_following = partial(self._has_trouble, _FOLLOWING)
        self._unsubscribe = follower_of(self.journal).subscribe(self._hear, trouble=in_following)
        self._thread.start()

    def close(self) -> None:
        self._stop.set()
        if self._unsubscribe is not None:
            self._unsubscribe()
        if self._thread.is_alive():
            self._thread.join(5)

    def glances(self) -> list[Overview]:
        """All sessions at a glance, in no order."""
        return list(self._glances.values())

    def get(self, session: str) -> ShownSession | None:
        """A session as it is now; None if there is none."""
        with self._lock:
            kept = self._kept.get(session)
            try:
                is_newest = kept is not None and self.journal.last_seq(session) == kept.journalled.seq
            except EngineAway:  # then what was seen last is all that is known here
                is_newest = kept is not None
                if not is_newest:
                    raise
            if kept is not None and is_newest:
                self._kept.move_to_end(session)
                return kept
            return self._load(session)

    def look_at_files(self, session: str) -> None:
        """Read the plan files of a session again, if they have changed. What was shown is recorded first: the next text
        has the ids of the steps that people saw."""
        self._record_files(session)
        with self._lock:
            kept = self._kept.get(session)
            if kept is None or self._files.of(kept.journalled) == kept.files:
                return
            self._keep(kept.journalled, kept.glance.first_at, kept.glance.last_at)
        self._record_files(session)

    def _record_files(self, session: str) -> None:
        if (kept := self._kept.get(session)) is not None:
            with suppress(JournalError):
                texts = {each.uri: text_of_file(each) for each in kept.files.values()}
                record_files(self.journal, kept.journalled, texts.get)

    def with_files(self) -> list[str]:
        """The sessions in memory that have plan files."""
        with self._lock:
            return [session for session, kept in self._kept.items() if kept.files]

    def _hear(self, followed: Followed) -> None:
        recorded = followed.recorded
        with self._lock:
            self.position = followed.position  # set before listeners hear of the change below
            if recorded.seq == 1:  # the session may have been forgotten, and begun anew
                self._kept.pop(recorded.session, None)
            if isinstance(recorded.event, TurnEnded) or not self._hold(recorded.session).is_working:
                with suppress(JournalError):  # the other thread reports it
                    self._note_holds(holds_of(self.journal.leases()))  # the writer updated its lease first
            kept = self._kept.get(recorded.session)
            seq = kept.journalled.seq if kept else 0
            if kept is None or recorded.seq > seq + 1 or is_waiting(seq):
                self._load_again(recorded.session)
            elif recorded.seq == seq + 1:
                last_at = time_after(kept.glance.last_at, recorded.at, _now())
                self._keep(fold(kept.journalled, recorded), kept.glance.first_at, last_at)

    def _has_trouble(self, where: str, trouble: JournalError | None) -> None:
        """Note trouble, or None once it is over. The change is about no session."""
        with self._lock:
            before = self.problem
            self._troubles[where] = trouble
            if self.problem != before:
                self._changed("")

    @contextmanager
    def _set_aside(self, session: str) -> Iterator[None]:
        """Leave out a session that can't be read, until it has another event."""
        try:
            yield
            trouble = None
        except JournalUnavailable:
            raise
        except JournalError as error:
            trouble = error
        if trouble is not None or session in self._unreadable:
            before = self.problem
            self._unreadable.pop(session, None)
            if trouble is not None:
                self._unreadable[session] = trouble
            if self.problem != before:
                self._changed("")

    def _work(self) -> None:
        next_roll_call, waiting = 0.0, away_words(self.journal)
        leases: list[KnownLease] = []
        while True:
            try:
                leases = self._look_at_leases()
                if time.monotonic() >= next_roll_call:
                    self._call_the_roll()
                    next_roll_call = time.monotonic() + ROLL_CALL
                    self._has_trouble(_ROLL_CALL, None)
            except JournalError as error:
                self._has_trouble(_ROLL_CALL, error)
            before, waiting = waiting, away_words(self.journal)
            if self.loading or waiting != before:
                self.loading = False
                self._changed("")
            if not all(each.is_held for each in leases):  # after all reading, since writing may take long
                with suppress(JournalError):
                    end_lapsed(self.journal)
            if self._stop.wait(min(LOOK, ROLL_CALL, self._hand_on())):
                return

    def _hand_on(self) -> float:
        """Hand on the verdicts that are due. Returns the seconds until the next look."""
        with self._lock:
            states = [kept.journalled for kept in self._kept.values() if kept.journalled.pending]
        return min([LOOK, *(self._pending.pause(each, LOOK) for each in states if not self._pending.hand_on(each))])

    def _look_at_leases(self) -> list[KnownLease]:
        """Note who holds which session, and notice sessions that went quiet."""
        leases, now = self.journal.leases(), _now()
        with self._lock:
            self._note_holds(holds_of(leases))
            for session in [each for each, kept in self._kept.items() if is_waiting(kept.journalled.seq)]:
                self._load_again(session)
            for glance in self.glances():
                if glance.state == RUNNING and not is_running(self._hold(glance.id), glance.last_at, now):
                    self._load_again(glance.id)
        return leases

    def _note_holds(self, holds: dict[str, Hold]) -> None:
        before, self._holds = self._holds, holds
        for session in before.keys() | holds.keys():
            if session in self._glances and before.get(session) != holds.get(session):
                self._load_again(session)

    def _hold(self, session: str) -> Hold:
        return self._holds.get(session, NOBODY)

    def _load_again(self, session: str) -> None:
        with self._set_aside(session):
            self._load(session)

    def _load(self, session: str, known: KnownSession | None = None) -> ShownSession | None:
        kept = self._kept.get(session)
        state = catch_up(self.journal, kept.journalled) if kept else load_state(self.journal, session)
        if not state.seq:
            self._drop(session)
            return None
        if known is not None and known.last_seq == state.seq:
            return self._keep(state, known.first_at, known.last_at)
        goes_on = kept is not None and (kept.journalled.seq <= state.seq or is_waiting(kept.journalled.seq))
        if kept is not None and goes_on:
            first = kept.glance.first_at
        else:
            [first] = [each.at for each in self.journal.read(session, 0, 1)] or [0]
        found = dated(self.journal, KnownSession(session, state.seq, first, state.at), _now())
        return self._keep(state, found.first_at, found.last_at)

    def _keep(self, state: SessionState, first_at: int, last_at: int) -> ShownSession:
        session = show_session(state, self._files.of(state), first_at, last_at, _now(), self._hold(state.id))
        note_state(self.journal, state)
        self._glances[state.id] = session.glance
        self._kept[state.id] = session
        self._kept.move_to_end(state.id)
        if len(self._kept) > KEPT_STATES:
            self._kept.popitem(last=False)
        self._changed(state.id)
        return session

    def _drop(self, session: str) -> None:
        if self._glances.pop(session, None) is not None or self._kept.pop(session, None) is not None:
            self._kept.pop(session, None)
            self._changed(session)

    def _call_the_roll(self) -> None:
        """Load the sessions that are missing or moved on unheard, and drop the forgotten ones, which no event
        announces."""
        known = newest_first(self.journal)
        self._load_missing(known)
        there = {each.id for each in known}
        with self._lock:
            for session in [each for each in self._glances if each not in there]:
                if not self.journal.last_seq(session):
                    self._drop(session)

    def _load_missing(self, known: list[KnownSession]) -> None:
        """Load missing sessions, the newest first, since people look for these; and again those that have other events
        than were heard, because following had trouble."""
        for each in known:
            if self._stop.is_set():
                return
            with self._lock:
                glance = self._glances.get(each.id)
                if each.id in self._unreadable:
                    continue
                if glance is None:
                    with self._set_aside(each.id):
                        if self._load(each.id, each) and len(known) > KEPT_STATES:
                            self._kept.move_to_end(each.id, last=False)
                elif glance.last_seq != each.last_seq and not is_waiting(glance.last_seq):
                    self._load_again(each.id)


def _now() -> int:
    return time.time_ns() // 1_000_000
