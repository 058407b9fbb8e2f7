"""The thread that has the journal: it writes what happened, and finds out what others wrote.

The traffic never waits for it. It shares an interpreter with the pipes, so it works in small slices and makes way while
lines flood in. It tries a locked or full journal again for as long as the backlog lasts, and gives up on one that can't
be used at all. It counts what it could not record, and the journal gets a `Gap` in its place. If it falls behind
(sooner after the end of a turn), or time is short at the end, it lets the past go, so that the journal has the newest
state of every plan.

A prompt waits a moment for a look at what others wrote, so that a person's last word goes along (`look_now`). Another
thread takes that look (`looker`), whatever this one is doing. Only a session whose history has not been found yet has
to wait for this thread, which then makes way for nothing.
"""

import gc
from collections import Counter, deque
from collections.abc import Callable
from math import inf
from threading import Condition, Thread
from time import monotonic, sleep, time_ns
from typing import Final

from planwire.errors import JournalUnavailable
from planwire.journal.protocol import Journal, Terms
from planwire.journal.waiting import refusal_of
from planwire.model.events import Gap, PlanSet, TurnEnded
from planwire.model.kinds import prose_of
from planwire.relay.actions import ForJournal, Leave, Meet, Record, RecordLine, SessionMemory
from planwire.relay.backlog import TOO_FAST, Arrived, Backlog
from planwire.relay.journalled import JournalledSessions
from planwire.relay.looker import Looker
from planwire.session.recording_mark import RecordingMark

#: Records in one slice, their bytes, and the seconds after which it ends: the traffic waits while this thread computes,
#: and a record in hand takes several times the memory of one that waits.
SLICE: Final = 16
SLICE_BYTES: Final = 32 * 1024
SLICE_SECONDS: Final = 0.05
#: Records in one slice at the end, when there is no traffic to make way for.
LAST_SLICE: Final = 256
#: Seconds to wait for more before a slice, while lines come in. If more than a few wait then, it is a flood, which this
#: thread makes way for. Others write to the same sessions, and the order must be right within ten milliseconds.
GATHER: Final = 0.003
FEW: Final = 4
MAKE_WAY: Final = 0.035
#: Seconds that a record may wait for this thread, in a journal that answers, before the past is let go.
BEHIND: Final = 5.0
#: Seconds that the end of a turn may wait likewise: this process may be ended at any time then.
BEHIND_THE_END: Final = 2.0
#: Seconds after which a write counts as one that had to wait for another writer or the disk.
SLOW: Final = 1.0
#: The share of the time at the end that the past may take, and extra seconds for the newest state.
FOR_THE_PAST: Final = 0.75
LAST_PATIENCE: Final = 3.0
#: Seconds until the next try at a journal that could not be written, at the end.
LAST_RETRY: Final = 0.05
#: Records after which the garbage collector runs: Python 3.11 keeps two thousand freed tuples of exactly twenty
#: elements, and never uses them again (gh-121439).
TIDY: Final = 256
#: Seconds between two looks at what others wrote to the sessions of this connection.
LOOK: Final = 0.2
#: Seconds until the next try at a journal that could not be written.
RETRY: Final = 1.0
#: Seconds that nothing could be recorded before the log says so: an agent may run for days, and a lock is soon gone.
LASTING: Final = 10.0
_UNWRITABLE: Final = "the journal could not be written"
_STUCK: Final = "the journal did not answer in time"
_ENDED: Final = "the agent ended before they could be recorded"


class Recorder:
    """Writes to the journal that `open_journal` opens.

    `tell` gets what the journal knows of a session. `traffic` returns a number that changes as long as there is
    traffic, `look` the seconds between two looks at the journal. `on_unavailable` is called once if the journal can't
    be used; if it is given, the recorder opens the journal at once. `terms` tells what the lease of a session should
    say. `mark` shows another process how far the recorder has come. `say` writes to the log what a person has to do.
    """

    def __init__(
        self,
        open_journal: Callable[[], Journal],
        tell: Callable[[str, SessionMemory], None],
        traffic: Callable[[], float] = float,
        look: Callable[[], float] = lambda: LOOK,
        on_unavailable: Callable[[Exception], None] | None = None,
        terms: Callable[[str], Terms] = lambda _: Terms(),
        mark: RecordingMark | None = None,
        say: Callable[[str], None] | None = None,
    ) -> None:
        self._open_journal = open_journal
        self._traffic = traffic
        self._look = look
        self._on_unavailable = on_unavailable
        self._mark = mark
        self._say = say
        self._backlog = Backlog()
        self._journal: Journal | None = None
        self._sessions = JournalledSessions(tell, terms)
        self._held: deque[Arrived] = deque()  # taken from the backlog, and not in `_sessions` yet
        self._seen_traffic = -1.0
        self._since_tidied = 0
        self._lost: Counter[str] = Counter()  # by the reason
        self._answers_since = 0  # milliseconds: the journal could be used since then
        self._asked: float | None = None  # when the journal got the request that it is working on
        self._turn_end = Arrived(Meet("", True))  # the last one of any session
        self._past_until = 0.0
        self._problem: Exception | None = None
        self._unusable_since: float | None = None
        self._given_up = self._closing = False
        self._unfound: set[str] = set()  # sessions that may have a history
        self._worked = Condition()  # notified when a slice is waited for, and when it is done
        self._is_awaited = self._failed = False
        self._looker = Looker(self._look_for_prompt)
        self._thread = Thread(target=self._run, name="planwire journal", daemon=True)

    def start(self) -> None:
        self._thread.start()
        self._looker.start()

    def put(self, action: ForJournal, size: int) -> None:
        """Record something that happened just now, on a line of that size. It may wait a little for `wake`."""
        if isinstance(action, Meet) and not action.fresh:
            self._unfound.add(action.session)
        weight = size + len(action.why) if isinstance(action, RecordLine) else _weight(action, size)
        if self._is_stuck(SLOW):
            self._backlog.why = _STUCK
        self._backlog.put(action, now := _now(), weight)
        if isinstance(action, Record) and isinstance(action.event, TurnEnded):
            self._turn_end = Arrived(action, now, number=self._backlog.arrived)
        if self._mark is not None:
            self._mark.arrived(self._backlog.arrived)

    def wake(self) -> None:
        """Write everything that waits."""
        self._backlog.wake()

    def look_now(self, patience: float) -> None:
        """Find out at once what others wrote, waiting `patience` seconds at most. After a journal took longer, or
        failed, no call waits for it until it answers again."""
        self._looker.ask(patience)

    def close(self, patience: float) -> str | None:
        """Write what is left, for `patience` seconds: the past for a part of them, then the newest state of everything,
        which may take some seconds more. Returns a sentence about what was lost, if anything was."""
        self._past_until = monotonic() + patience * FOR_THE_PAST
        with self._worked:
            self._closing = True
            self._worked.notify_all()
        self._backlog.wake()
        self._thread.join(patience)
        if self._thread.is_alive() and not self._is_stuck(min(SLOW, patience / 2)):
            self._thread.join(LAST_PATIENCE)
        lost = self._lost + self._backlog.displaced
        if self._thread.is_alive():
            why = _STUCK if self._asked else _ENDED
            lost[str(self._problem or why)] += len(self._backlog) + len(self._held) + self._sessions.unwritten
        return "; ".join(Gap(count, why).sentence for why, count in lost.items() if count) or None

    # -- the thread

    def _run(self) -> None:
        if self._on_unavailable is not None:
            self._work()
        while not self._closing:
            has_more = bool(self._held) or self._backlog.wait(self._look())
            if has_more and (self._journal or self._given_up):  # the first time, at once
                self._make_way()
            self._failed = not self._work()
            self._report_trouble()
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
        self._rest(GATHER)
        if len(self._held) + len(self._backlog) > FEW:
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
        """Work off a slice. Returns False if the journal could not be used this time."""
        if self._given_up:
            self._held += self._backlog.take()
            self._drop()
        elif self._is_behind():
            self._reduce(TOO_FAST)
        if not self._held and not self._sessions.unwritten:
            self._held += self._backlog.take(most_records, most_bytes)
        try:
            if self._journal is None and (self._held or self._on_unavailable):
                self._asked = monotonic()
                self._journal = self._open_journal()
                self._asked = None
                self._answers_since = _now()
            if self._journal is not None and not self._given_up:
                self._advance(self._journal)
                self._report_refusal(self._journal)
        except JournalUnavailable as error:
            self._asked, self._answers_since = None, _now()
            self._problem, self._backlog.why = error, _UNWRITABLE
            if self._journal is None:
                self._report_unavailable(error)
            return False
        except Exception as error:  # whatever is wrong with a journal, the traffic goes on
            self._give_up(error)
        self._backlog.why = TOO_FAST
        self._show_mark()
        return True

    def _advance(self, journal: Journal) -> None:
        until = monotonic() + SLICE_SECONDS
        while self._held:
            self._sessions.take(journal, self._held[0].action, self._held[0].at)
            self._unfound.discard(self._held.popleft().action.session)
            self._since_tidied += 1
            if monotonic() > until:
                break
        self._write(journal)
        if self._since_tidied >= TIDY:
            self._since_tidied = 0
            gc.collect()

    def _write(self, journal: Journal, *, all_streams: bool = False) -> None:
        self._asked = monotonic()
        for problem in self._sessions.write(journal, all_streams=all_streams):
            self._lost[str(problem)] += 1
        if self._is_stuck(SLOW):
            self._answers_since = _now()
        self._asked = None

    def _is_stuck(self, seconds: float) -> bool:
        """Whether the journal has been working on its request for longer than that."""
        asked = self._asked
        return asked is not None and monotonic() - asked > seconds

    def _is_behind(self) -> bool:
        """Whether this thread can't keep up, though the journal answers."""
        first, end = self._held[0] if self._held else self._backlog.first, self._turn_end
        if first is None:
            return False
        is_over = first.number <= end.number and self._has_waited(end, BEHIND_THE_END)
        return is_over or self._has_waited(first, BEHIND)

    def _has_waited(self, item: Arrived, seconds: float) -> bool:
        return _now() - max(item.at, self._answers_since) > seconds * 1_000

    def _reduce(self, why: str) -> None:
        self._backlog.reduce(self._held, why)
        self._held.clear()

    def _show_mark(self) -> None:
        if self._mark is not None:
            arrived, first = self._backlog.arrived, self._backlog.first  # in this order: more may arrive in between
            waiting = [*self._held, *([first] if first else ())]
            self._mark.recorded(min((each.number - 1 for each in waiting), default=arrived))

    def _finish(self) -> None:
        """Write the past for as long as there is time, then the newest record on each subject. A journal that can't be
        used may come back in that time."""
        works = self._work()
        while self._held or len(self._backlog) or self._sessions.unwritten:
            is_late = monotonic() > self._past_until
            if is_late and works:
                self._reduce(_ENDED)
            elif is_late:
                break
            elif not works:
                sleep(LAST_RETRY)
            works = self._work(LAST_SLICE, inf)
        if works and self._journal is not None and not self._given_up:
            try:
                self._write(self._journal, all_streams=True)
                self._journal.close()
            except Exception as error:  # as above: the end comes, whatever is wrong with the journal
                self._problem = error
        self._failed = True
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

    def _report_trouble(self) -> None:
        """Say, once, that nothing has been recorded for a while: often only a person can mend that."""
        if not (self._failed or self._given_up):
            self._unusable_since = None
            return
        self._unusable_since = self._unusable_since or monotonic()
        if self._say is not None and monotonic() - self._unusable_since >= LASTING:
            self._say(f"nothing can be recorded: {self._problem}. The agent works on")
            self._say = None

    def _report_refusal(self, journal: Journal) -> None:
        """Say, once, that the journal's server refuses the login: only a person can mend that."""
        if self._say is not None and (refusal := refusal_of(journal)) is not None:
            self._say(f"{refusal}. The agent works on, and what is recorded waits on this machine until then")
            self._say = None

    def _drop(self) -> None:
        """Drop what will not be recorded, and count it."""
        lost = sum(not isinstance(each.action, Meet | Leave) for each in self._held) + self._sessions.drop()
        self._lost[str(self._problem or _ENDED)] += lost
        self._held.clear()
        self._unfound.clear()

    # -- the looker's thread

    def _look_for_prompt(self) -> bool:
        """Tell what others wrote, once every session is found. Returns whether the journal answered."""
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


def _now() -> int:
    return time_ns() // 1_000_000


def _weight(action: Meet | Leave | Record, size: int) -> int:
    """Roughly how many bytes a record of a line holds. The line may bring only the newest piece of a text; of a prompt
    only the title stays."""
    match action:
        case Record(event=PlanSet(plan=plan), why=why):
            return max(size, len(prose_of(plan) or "")) + len(why)
    return 0
