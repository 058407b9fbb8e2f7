"""How this process numbers events that the journal's server does not have yet.

Such events need numbers, because their writer folds them and goes on. But other writers may append to the same session
meanwhile, so the real numbers are not known yet. Provisional numbers are higher than any session ever gets. The first
one belongs to an empty `Gap`, which marks where this machine's knowledge ends; after it, readers stay on provisional
numbers. After delivery the session is shorter again, and every fold starts over, as after `forget` (`view.read_on`).

Some events refer to others by number. They are delivered with the real numbers of the others (`resolved`). Their writer
says which appends have those (`WaitingPlace`): by then, another process may have delivered them.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any, Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from planwire.journal.codec import EventRow
from planwire.journal.protocol import Once
from planwire.model.events import (
    ContextCompacted,
    Event,
    Gap,
    MessageAdded,
    MessagePinned,
    PlanReviewed,
    Recorded,
    RemarkAnswered,
    RemarkClosed,
    Remarked,
    RemarkReopened,
    Told,
)
from planwire.model.names import MESSAGE, made_name, renumbered
from planwire.model.records import PLANWIRE

__all__ = [
    "PROVISIONAL",
    "AheadEvents",
    "Doubt",
    "RealNumber",
    "WaitingPlace",
    "deliverable",
    "is_provisional",
    "named_in",
    "remark_in",
    "resolved",
]

#: The real number and time of an event, by its provisional number, where they are known.
RealNumber: TypeAlias = Callable[[int], tuple[int, int] | None]

#: Provisional numbers begin here. They stay below 2**53, where JavaScript and JSON readers keep numbers exact.
PROVISIONAL: Final = 10**12
_UNKNOWN: Final = "the journal's server is away, so what others wrote since is not known"


def is_provisional(seq: int) -> bool:
    """Whether an event's number will change when the event is delivered."""
    return seq >= PROVISIONAL


class Doubt(Struct, frozen=True):
    """An append that the server may or may not have: the connection broke before it answered. If the server has it, it
    comes right after the event `after` (`is_there`), or anywhere after it (not `is_there`)."""

    after: int
    is_there: bool
    rows: tuple[tuple[int, str, str], ...]

    def means(self, rows: Sequence[EventRow]) -> bool:
        """Whether these are the same events, prepared again: only their times may differ."""
        return [(by, text) for _, by, text in self.rows] == [(row.by, row.text) for row in rows]


class WaitingPlace(Struct, frozen=True, array_like=True):
    """Where a waiting event is: the `nth` (from 0) of the append with the key `once`, which may be in doubt."""

    once: Once
    nth: int
    doubt: Doubt | None = None


class AheadEvents:
    """The events of one session that wait, after those `known` up to number `base`. None is from before `at`.

    Once they are delivered (`rest`), the process goes by the server. If the server goes away again, they go on with
    other events behind another `Gap` (`resume`), because some of their readers may not have begun anew in between.
    """

    def __init__(self, session: str, base: int, known: Iterable[Recorded], at: int) -> None:
        self.base = base
        self.keys: dict[Once, tuple[Recorded, ...]] = {}
        #: Appends that their writers may prepare again, and when the last of them came into doubt (`monotonic`).
        self._doubts: list[Doubt] = []
        self.doubted_at = 0.0
        #: Whether a remark waits: its name is not known before it is delivered.
        self.has_remarks = False
        self._known = [each for each in known if each.seq <= base]
        self._own = [Recorded(session, PROVISIONAL + base, at, PLANWIRE, Gap(0, _UNKNOWN))]
        self._places: list[WaitingPlace | None] = []
        self._delivered = 0  # how many of these the server had when it was last there
        self._session = session

    @property
    def last(self) -> int:
        return self._own[-1].seq

    def add(self, rows: Iterable[EventRow | Recorded], once: Once, doubt: Doubt | None = None) -> tuple[Recorded, ...]:
        """Add events of this process, or waiting ones of other processes, that are delivered with the key `once`."""
        first = self.last + 1
        added = tuple(
            Recorded(self._session, seq, row.at, row.by, row.event) for seq, row in enumerate(rows, start=first)
        )
        self._own += added
        self.has_remarks = self.has_remarks or any(isinstance(each.event, Remarked) for each in added)
        self.keys[once] = added
        self._places += (WaitingPlace(once, nth, doubt) for nth in range(len(added)))
        return added

    def place(self, number: int) -> WaitingPlace | None:
        """Where the event with a provisional number is; None if it is not one of those that wait."""
        nth = number - self._own[0].seq - 1
        return self._places[nth] if 0 <= nth < len(self._places) else None

    def rest(self) -> None:
        """Note that all of them are delivered, and that no writer repeats any."""
        self._doubts.clear()
        self._delivered = len(self._own)

    def resume(self, at: int) -> None:
        """Prepare to add others, none from before `at`."""
        self._own.append(Recorded(self._session, self.last + 1, at, PLANWIRE, Gap(0, _UNKNOWN)))
        self._places.append(None)

    def doubt(self, doubt: Doubt, now: float) -> None:
        """Remember an append for when its writer repeats it."""
        self._doubts.append(doubt)
        self.doubted_at = now

    def take_doubt(self, rows: Sequence[EventRow]) -> Doubt | None:
        """Take the doubt about the append that is repeated with these events, if it was in doubt."""
        found = next((each for each in self._doubts if each.means(rows)), None)
        if found is not None:
            self._doubts.remove(found)
        return found

    def is_in_doubt(self, since: float) -> bool:
        """Whether a writer may still repeat an append that came into doubt after `since`."""
        return bool(self._doubts) and self.doubted_at > since

    def read(self, after: int, upto: int | None) -> list[Recorded] | None:
        """The events after a number; None if only the server has the first of them. A reader at the end pays nothing
        for the events that wait, which may be many in a long outage."""
        if after < self.base and (not self._known or after < self._known[0].seq - 1):
            return None
        is_past = self.base < after < self._own[0].seq  # the reader has from the server what was delivered
        own = self._own[self._delivered if is_past else max(0, after + 1 - self._own[0].seq) :]
        found = [*(each for each in self._known if after < each.seq), *own]
        return found if upto is None else [each for each in found if each.seq <= upto]


def remark_in(event: Event) -> str | None:
    """The name of the remark that an event closes, answers or reopens."""
    return event.remark if isinstance(event, RemarkClosed | RemarkAnswered | RemarkReopened) else None


def deliverable(recorded: Recorded, is_certain: Callable[[str], bool]) -> Event:
    """An event as it can be delivered. A message keeps the name that its number gives it here, since its writer has
    that. A `Told` names only remarks whose names are certain, since another name may turn out to be that of another
    remark: at worst the agent is told once more."""
    match recorded.event:
        case Told(remarks=remarks) as told if not all(map(is_certain, remarks)):
            return replace(told, remarks=tuple(filter(is_certain, remarks)))
        case MessageAdded(message=message) as added if not message.get("message_id"):
            return replace(added, message={**message, "message_id": made_name(MESSAGE, recorded)})
    return recorded.event


def named_in(event: Event) -> set[int]:
    """The provisional numbers that an event names others by."""
    found: set[int] = set()

    def note(number: int) -> None:
        if is_provisional(number):
            found.add(number)

    resolved(event, note, 0)
    return found


def resolved(event: Event, real: RealNumber, base: int) -> Event:
    """An event with the `real` numbers of the events that it names, which come with their times. A `Told` goes no
    further than the event `base`, up to which its writer knew the session: after that, others may have said what was
    not told."""
    match event:
        case Told(upto=upto, since=since) if is_provisional(max(upto, since)):
            return replace(event, upto=min(upto, base), since=min(since, base))
        case Remarked(revision=revision) | PlanReviewed(revision=revision) if is_provisional(revision):
            return replace(event, revision=(real(revision) or (base, 0))[0])
        case MessagePinned(message_id=name):
            return replace(event, message_id=renumbered(name, real))
        case ContextCompacted(kept=kept, written=written):
            # A message has either name: the server may have it from an append that was in doubt.
            both = ((name, renumbered(name, real, kept=())) for name in _resolved_all(kept, real))
            names = dict.fromkeys(chain.from_iterable(both))
            return replace(event, kept=tuple(names), written=_resolved_all(written, real))
        case _:
            return event


def _resolved_all(value: Any, real: RealNumber) -> Any:
    """What a compaction keeps and writes, with the names and the revisions that came of provisional numbers."""
    match value:
        case str():
            return renumbered(value, real)
        case int() if (found := real(value)) is not None:
            return found[0]
        case list() | tuple():
            return type(value)(_resolved_all(each, real) for each in value)
        case dict():
            return {key: _resolved_all(each, real) for key, each in value.items()}
    return value
