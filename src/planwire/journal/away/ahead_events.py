"""The events of one session that wait, as their process numbers them.

Their writers fold them and go on, so they need numbers. But others may append to the same session meanwhile, so nobody
knows the real ones yet. So they are numbered above all that any session reaches (`waiting.is_waiting`), from the last
known number on. An empty `Gap` marks where this machine's knowledge ends: whoever decided before it has to decide anew.
After delivery the session is shorter again, and every fold starts over, as after `forget` (`view.read_on`).
"""

from collections.abc import Iterable
from typing import Final

from planwire.journal.protocol import Once, Stamped
from planwire.journal.waiting import FIRST_WAITING
from planwire.model.events import Gap, Recorded
from planwire.model.records import PLANWIRE

__all__ = ["AheadEvents"]

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
