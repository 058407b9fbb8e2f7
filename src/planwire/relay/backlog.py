"""The queue for the journal: bounded, and never in the way of the threads that fill it.

Each session has a line of its own, and the lines take turns, so that none waits for another's flood. When a line is
full, the newest record on each subject (a plan, the end of a turn) replaces the one before: the journal ends with the
last state of everything, and a `Gap` stands where the others would. A text that streams in takes one place, however
many pieces it comes in. While a line is full, plans are kept without their why.
"""

from collections import Counter, deque
from collections.abc import Iterable
from math import inf
from threading import Event, Lock
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from planwire.model.events import Gap, MessageAdded, PlanRemoved, PlanSet, SessionOpened, Told
from planwire.relay.actions import BY_RELAY, ForJournal, Leave, Meet, Record, RecordLine
from planwire.relay.dedupe import extends

#: Limits of a burst, whichever is reached first; sessions share them. More than three hundred plans of twenty steps
#: fit.
MOST_RECORDS: Final = 500
MOST_BYTES: Final = 700 * 1024
#: Why there is a gap, unless the recorder knows better.
TOO_FAST: Final = "they came faster than they could be recorded"


class Arrived(Struct, frozen=True):
    """An action for the journal, and when it came, in milliseconds. `size` is its approximate weight in bytes; `number`
    is its place in the order of arrival."""

    action: ForJournal
    at: int = 0
    size: int = 0
    number: int = 0


class _Waiting:
    """One session's line: what waits for the journal."""

    def __init__(self) -> None:
        self.waiting: deque[Arrived] = deque()
        self.size = 0
        self._newest: dict[object, Arrived] = {}  # by subject, once the line is full
        self._missing: dict[str, int] = {}  # how many were lost before these, by reason

    def __len__(self) -> int:
        return len(self.waiting) + len(self._newest)

    @property
    def first(self) -> Arrived:
        return self.waiting[0] if self.waiting else next(iter(self._newest.values()))

    def append(self, item: Arrived) -> None:
        self.waiting.append(item)
        self.size += item.size

    def displace(self, item: Arrived, why: str) -> bool:
        """Replace the newest record on the same subject. Returns whether that one is lost."""
        subject = _subject(item.action)
        before = self._newest.pop(subject, None)
        self._newest[subject] = item
        is_lost = before is not None and before.action != item.action
        if is_lost:
            self._miss(why)
        return is_lost

    def settle(self) -> None:
        """Append the newest records to the rest, with the gaps between them."""
        items, self._newest = [*self._newest.values()], {}
        missing, self._missing = self._missing, {}
        for each in (*_gaps(items, missing), *items):
            self.append(each)

    def reduce(self, why: str) -> int:
        """Keep only the newest record on each subject. Returns how many others were lost."""
        self.settle()
        items, self.waiting, self.size = self.waiting, deque(), 0
        lost = 0
        for each in items:
            if isinstance(each.action, Meet):
                self.append(each)
            elif isinstance(each.action, Record) and isinstance(gap := each.action.event, Gap):
                self._miss(gap.why, gap.count)
            else:
                lost += self.displace(each, why)
        self.settle()
        return lost

    def take_beginning(self, of: Record) -> Record | None:
        """Take out the last record if it is the beginning of this text: it would not be written anyway."""
        last = next(reversed(self._newest.values()), None) or (self.waiting[-1] if self.waiting else None)
        before = last.action if last else None
        if not (isinstance(before, Record) and before.streams and extends(before.event, of.event)):
            return None
        if self._newest:
            self._newest.popitem()
        else:
            self.size -= self.waiting.pop().size
        return before

    def is_full(self, size: int, most_records: float, most_bytes: float) -> bool:
        if self._newest:
            return True
        return bool(self.waiting) and (len(self.waiting) >= most_records or self.size + size > most_bytes)

    def _miss(self, why: str, count: int = 1) -> None:
        self._missing[why] = self._missing.get(why, 0) + count


class Backlog:
    """A queue from the threads that carry the traffic to the one that has the journal. `why` is the reason given for
    records displaced from now on; `displaced` counts them by reason."""

    def __init__(self, most_records: int = MOST_RECORDS, most_bytes: int = MOST_BYTES) -> None:
        self._most_records = most_records
        self._most_bytes = most_bytes
        self._lock = Lock()
        self._filled = Event()
        self._lines: dict[str, _Waiting] = {}  # the non-empty ones, in the order of their turns
        self.why = TOO_FAST
        self.displaced: Counter[str] = Counter()
        self.arrived = 0

    def put(self, action: ForJournal, at: int = 0, size: int = 0) -> None:
        """Add something at once, without waking the thread that takes."""
        with self._lock:
            self.arrived += 1
            line = self._lines.get(action.session) or self._lines.setdefault(action.session, _Waiting())
            if isinstance(action, Meet):
                return line.append(Arrived(action, at, size, self.arrived))
            if isinstance(action, Record) and action.streams and (before := line.take_beginning(action)):
                action = replace(action, why=before.why or action.why)
            share = len(self._lines)
            if not line.is_full(size, self._most_records / share, self._most_bytes / share):
                return line.append(Arrived(action, at, size, self.arrived))
            bare = action if isinstance(action, Leave) or not action.why else replace(action, why="")
            if line.displace(Arrived(bare, at, size, self.arrived), self.why):
                self.displaced[self.why] += 1
            return None

    def take(self, most_records: float = inf, most_bytes: float = inf) -> list[Arrived]:
        """Take out what waits, in order for each session: all of it, or up to these limits, but at least one if there
        is any."""
        items: list[Arrived] = []
        with self._lock:
            for line in self._lines.values():
                line.settle()
            while self._lines and len(items) < most_records:
                session = self._next()
                line = self._lines[session]
                item = line.first
                if items and item.size > most_bytes:
                    break
                most_bytes -= item.size
                line.size -= item.size
                items.append(line.waiting.popleft())
                del self._lines[session]
                if line:
                    self._lines[session] = line  # its next turn comes after the others'
            if self._lines:
                self._filled.set()
            else:
                self._filled.clear()
        return items

    def _next(self) -> str:
        """The session whose turn it is. A fork waits for its parent's earlier records."""
        session = next(iter(self._lines))
        while isinstance(meeting := (item := self._lines[session].first).action, Meet):
            parent = self._lines.get(meeting.fork_of or "")
            if meeting.fork_of is None or parent is None or parent.first.number > item.number:
                break
            session = meeting.fork_of
        return session

    def reduce(self, held: Iterable[Arrived], why: str) -> None:
        """Put back what was taken, then keep only the newest record on each subject. `why` is the reason for the
        gaps."""
        with self._lock:
            for each in reversed([*held]):
                line = self._lines.setdefault(each.action.session, _Waiting())
                line.waiting.appendleft(each)
                line.size += each.size
            self.displaced[why] += sum(line.reduce(why) for line in self._lines.values())

    @property
    def first(self) -> Arrived | None:
        """What has waited longest."""
        with self._lock:
            return min((line.first for line in self._lines.values()), key=lambda each: each.number, default=None)

    def wait(self, seconds: float) -> bool:
        """Wait for a `wake`, or until the time is up."""
        return self._filled.wait(seconds)

    def wake(self) -> None:
        """End the current wait, or the next one."""
        if not self._filled.is_set():
            self._filled.set()

    def __len__(self) -> int:
        with self._lock:
            return sum(map(len, self._lines.values()))


def _gaps(items: list[Arrived], missing: dict[str, int]) -> Iterable[Arrived]:
    """The gaps before some items, as if they had come with the first of them."""
    for why, count in missing.items():
        gap = Record(items[0].action.session, Gap(count, why), BY_RELAY)
        yield Arrived(gap, items[0].at, 0, items[0].number)


def _subject(action: ForJournal) -> object:
    """What a record is about. Of two records on the same subject, the newer one says it all."""
    match action:
        case RecordLine():
            return PlanSet, action.plan_id
        case Record(event=PlanSet(plan=plan)):
            return PlanSet, plan.id
        case Record(event=PlanRemoved(plan_id=plan_id)):
            return PlanSet, plan_id
        case Record(event=SessionOpened(title=title)):  # agent and folder come apart from the title
            return SessionOpened, title is None
        case Record(event=Told(request=request, stage=stage)):
            return Told, request, stage
        case Record(event=MessageAdded(message=message)):
            return MessageAdded, str(message.get("id"))
        case Record(event=event):
            return type(event), getattr(event, "plan_id", None)
        case Meet() | Leave():
            return type(action)
