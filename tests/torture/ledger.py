"""The acknowledgements that writers got, compared with the journal: nothing lost, doubled or out of order."""

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from msgspec import Struct

from planwire.journal import Journal
from planwire.journal.chain import NO_LINK, link
from planwire.model.events import TurnEnded

__all__ = ["Outcome", "judged"]


class Outcome(Struct, frozen=True):
    """The outcome of a proof in numbers: of the acknowledged events, how many are lost, doubled or misplaced."""

    acknowledged: int
    lost: int
    doubled: int
    disordered: int
    unlinked: int

    @property
    def is_clean(self) -> bool:
        return not (self.lost or self.doubled or self.disordered or self.unlinked)

    def __add__(self, other: "Outcome") -> "Outcome":
        return Outcome(
            self.acknowledged + other.acknowledged,
            self.lost + other.lost,
            self.doubled + other.doubled,
            self.disordered + other.disordered,
            self.unlinked + other.unlinked,
        )


def judged(journal: Journal, sessions: Iterable[str], acknowledged: Mapping[str, Iterable[int]]) -> Outcome:
    """Compare sessions with the numbers that were acknowledged to each writer, by its name."""
    promised = {name: set(numbers) for name, numbers in acknowledged.items()}
    found: defaultdict[str, list[int]] = defaultdict(list)
    unlinked = 0
    for session in sessions:
        for recorded in journal.read(session):
            if isinstance(recorded.event, TurnEnded):
                name, n = recorded.event.stop_reason.split(" ")[:2]
                found[name].append(int(n))
        unlinked += _unlinked(journal, session)
    return Outcome(
        acknowledged=sum(len(each) for each in promised.values()),
        lost=sum(len(numbers - set(found[name])) for name, numbers in promised.items()),
        doubled=sum(count - 1 for numbers in found.values() for count in Counter(numbers).values()),
        disordered=sum(before > after for each in found.values() for before, after in itertools.pairwise(each)),
        unlinked=unlinked,
    )


def _unlinked(journal: Journal, session: str) -> int:
    """How many events don't continue the chain or the numbers of the events before them."""
    before, last, wrong = NO_LINK, 0, 0
    for append in journal.stored(session):
        for each in append.events:
            made = link(before, session, each.seq, each.at, each.by, each.text)
            wrong += made != each.link or each.seq != last + 1
            before, last = each.link or NO_LINK, each.seq
    return wrong
