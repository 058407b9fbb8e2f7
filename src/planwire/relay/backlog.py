"""The queue for the journal: bounded, and never in the way of those who put something in.

When it is full, the newest word on each thing (a plan, the end of a turn) takes the place of the one before, so that
the journal ends with the last state of everything, and the backlog counts what it displaced. A text that streams in
takes one place, however many pieces it comes in. Plans come first: while it is full, nothing keeps their why.
"""

from collections import deque
from math import inf
from threading import Event, Lock
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from planwire.model.events import PlanRemoved, PlanSet, SessionOpened
from planwire.relay.actions import Meet, Record, RecordLine
from planwire.relay.dedupe import extends

__all__ = ["MOST_BYTES", "MOST_RECORDS", "Arrived", "Backlog"]

#: Limits of a burst, whichever it meets first. Of plans with twenty steps, more than three hundred fit.
MOST_RECORDS: Final = 500
MOST_BYTES: Final = 700 * 1024


class Arrived(Struct, frozen=True):
    """Something for the journal, and when it came, in milliseconds. `size` is about what it weighs, in bytes."""

    action: Meet | Record | RecordLine
    at: int = 0
    size: int = 0


class Backlog:
    """A queue from the threads that carry the traffic to the one that has the journal."""

    def __init__(self, most_records: int = MOST_RECORDS, most_bytes: int = MOST_BYTES) -> None:
        self._most_records = most_records
        self._most_bytes = most_bytes
        self._lock = Lock()
        self._filled = Event()
        self._line: deque[Arrived] = deque()
        self._size = 0
        self._newest: dict[object, Arrived] = {}  # by what they are about, once the line is full
        self.displaced = 0

    def put(self, item: Arrived) -> None:
        """Add something, at once, and wake nobody."""
        with self._lock:
            if isinstance(item.action, Record) and item.action.streams:
                item = replace(item, action=self._grown(item.action))
            full = len(self._line) >= self._most_records or self._size + item.size > self._most_bytes
            if (self._newest or (full and self._line)) and not isinstance(item.action, Meet):
                subject = _subject(item.action)
                item = replace(item, action=replace(item.action, why=""))
                self.displaced += subject in self._newest
                self._newest.pop(subject, None)
                self._newest[subject] = item
            else:
                self._append(item)

    def take(self, most_records: float = inf, most_bytes: float = inf) -> list[Arrived]:
        """What waits, in order: all of it, or no more than that, but one if there is any."""
        items: list[Arrived] = []
        size = 0
        with self._lock:
            for each in self._newest.values():
                self._append(each)
            self._newest.clear()
            while self._line and (not items or (len(items) < most_records and size + self._line[0].size <= most_bytes)):
                items.append(self._line.popleft())
                size += items[-1].size
            self._size -= size
            if self._line:
                self._filled.set()
            else:
                self._filled.clear()
        return items

    def wait(self, seconds: float) -> bool:
        """Wait for a `wake`, or until the time is up."""
        return self._filled.wait(seconds)

    def wake(self) -> None:
        """End a wait that is going on, or the next one."""
        if not self._filled.is_set():
            self._filled.set()

    def __len__(self) -> int:
        with self._lock:
            return len(self._line) + len(self._newest)

    def _grown(self, after: Record) -> Record:
        """A text, in place of the last record if that is its beginning, which nobody would write anyway."""
        last = next(reversed(self._newest.values()), None) or (self._line[-1] if self._line else None)
        before = last.action if last else None
        if not (isinstance(before, Record) and before.streams and before.session == after.session):
            return after
        if not extends(before.event, after.event):
            return after
        if self._newest:
            self._newest.popitem()
        else:
            self._size -= self._line.pop().size
        return replace(after, why=before.why or after.why)

    def _append(self, item: Arrived) -> None:
        self._line.append(item)
        self._size += item.size


def _subject(action: Record | RecordLine) -> object:
    match action:
        case RecordLine():
            return action.session, PlanSet, action.plan_id
        case Record(event=PlanSet(plan=plan)):
            return action.session, PlanSet, plan.id
        case Record(event=PlanRemoved(plan_id=plan_id)):
            return action.session, PlanSet, plan_id
        case Record(event=SessionOpened(title=title)):  # who and where comes apart from the title
            return action.session, SessionOpened, title is None
        case Record(event=event):
            return action.session, type(event), getattr(event, "plan_id", None)
