"""Making room: letting go of messages, in the order of `what_goes`, until the rest fits a budget.

Messages that go are put in piles, and a marker replaces each pile: a count of the messages since the last plan, or,
with a summariser, a summary for each set of steps. Markers cost something too, by any counter. So the rest has to fit
together with them, and where it would not, the budget comes first:

1. A pile whose marker would cost as much as its messages stays.
2. Summaries that are too long become counts, the longest first.
3. One marker counts everything; if that is still too much, it goes as well, unless the chat would be empty without it.
"""

from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from typing import Final, TypeAlias

from planwire.chat.markers import counted, is_count, is_summary, priced_marker, summary_marker
from planwire.chat.messages import EventMessage, Stored
from planwire.chat.what_goes import LAST, Leaving
from planwire.errors import BadMessage

#: Asks for the summaries of messages, one after the other, by their indexes.
Summaries: TypeAlias = Generator[Sequence[int], str, None]
_Key: TypeAlias = tuple[str, ...] | int

#: A summary not yet written is expected to cost, on top of its marker, an eighth of its messages or as much as eight
#: markers, whichever is less.
_EXPECTED: Final = 8


class _Pile:
    """Messages that go, by their indexes, and the `text` that replaces them. `asked` is how many messages that text is
    about. A pile that `is_silent` has no marker."""

    def __init__(self, steps: tuple[str, ...]) -> None:
        self.steps = steps
        self.indexes: list[int] = []
        self.cost = 0
        self.count = 0
        self.text: str | None = None
        self.asked = 0
        self.price = -1
        self.is_silent = False

    def put(self, indexes: Iterable[int], messages: Sequence[Stored], cost: Sequence[int]) -> None:
        for index in indexes:
            self.indexes.append(index)
            self.cost += cost[index]
            self.count += counted(messages[index])
        self.price = -1


class Room:
    """A chat that has to fit a budget. `total` is its cost, `segments` the number of plans before each message.
    `stays`: some messages stay in any case."""

    def __init__(
        self,
        messages: Sequence[Stored],
        cost: Sequence[int],
        price: Callable[[EventMessage], int],
        total: int,
        segments: Sequence[int],
        *,
        stays: bool,
    ) -> None:
        self._messages = messages
        self._cost = cost
        self._price = price
        self._bare = total
        self._segments = segments
        self._stays = stays
        self._by_step = False
        self._piles: dict[_Key, _Pile] = {}
        self._markers: dict[_Key, list[int]] = {}
        self._taken: set[int] = set()

    def make(self, budget: int, order: Iterable[Leaving], *, summarised: bool) -> Summaries:
        """Let go of as little as possible. Afterwards `gone` says what went."""
        self._by_step = summarised
        waiting = self._without_counts(order)
        margin = 0
        while True:
            while waiting and not self._fits(budget - margin):
                if waiting[0].row >= LAST and self._bare <= budget and self._unsaid():
                    break  # the real summaries may turn out shorter, so that the task stays
                self._take(waiting.popleft())
            for pile in self._unsaid():
                pile.indexes.sort()
                pile.text = checked((yield tuple(pile.indexes)))
                pile.asked, pile.price = len(pile.indexes), -1
            if not waiting or self._fits(budget):
                break
            margin = max(2 * margin, self._total() - budget) if waiting[0].row < LAST else 0
        if not self._fits(budget):
            self._give_up_words(budget)
        self._give_back()

    def gone(self) -> Iterable[tuple[list[int], EventMessage | None]]:
        """The messages that went, by their indexes, and the marker for each pile of them."""
        for pile in self._piles.values():
            indexes = sorted(pile.indexes)
            sources = [self._messages[index] for index in indexes]
            yield indexes, summary_marker(sources, pile.text, pile.steps) if not pile.is_silent else None

    def _without_counts(self, order: Iterable[Leaving]) -> deque[Leaving]:
        """The order without the markers that a pile's new marker replaces: a count never goes alone, a summary only if
        no new one is made for its steps."""
        waiting: deque[Leaving] = deque()
        for leaving in order:
            [at, *more] = leaving.indexes
            message = self._messages[at]
            if not more and (is_count(message) or (self._by_step and is_summary(message))):
                self._markers.setdefault(self._key(leaving.steps, at), []).append(at)
            if more or not is_count(message):
                waiting.append(leaving)
        return waiting

    def _key(self, steps: tuple[str, ...], index: int) -> _Key:
        return steps if steps and self._by_step else self._segments[index]

    def _take(self, leaving: Leaving) -> None:
        if leaving.indexes[0] in self._taken:
            return
        key = self._key(leaving.steps, leaving.indexes[0])
        if key not in self._piles:
            self._piles[key] = _Pile(leaving.steps if self._by_step else ())
            self._put(self._piles[key], (each for each in self._markers.get(key, ()) if each not in self._taken))
        self._put(self._piles[key], (each for each in leaving.indexes if each not in self._taken))

    def _put(self, pile: _Pile, indexes: Iterable[int]) -> None:
        new = list(indexes)
        pile.put(new, self._messages, self._cost)
        self._bare -= sum(self._cost[index] for index in new)
        self._taken.update(new)

    def _fits(self, budget: int) -> bool:
        """Whether the rest fits. Markers are priced only when they matter, since each price takes a count."""
        return self._bare <= budget and self._total() <= budget

    def _total(self) -> int:
        return self._bare + sum(map(self._priced, self._piles.values()))

    def _priced(self, pile: _Pile) -> int:
        """The price of a pile's marker; a guess while its summary is not written yet."""
        if pile.is_silent:
            return 0
        if pile.price < 0:
            pile.price = self._price(priced_marker(pile.count, pile.text, pile.steps))
            if self._by_step and pile.asked < len(pile.indexes):
                pile.price += min(pile.cost // _EXPECTED, pile.price * _EXPECTED)
        return pile.price

    def _unsaid(self) -> list[_Pile]:
        """The piles that need a summary."""
        return [pile for pile in self._piles.values() if self._by_step and pile.asked < len(pile.indexes)]

    def _give_up_words(self, budget: int) -> None:
        """Let go of summaries and markers, as far as that helps, when everything else went and the chat still does not
        fit."""
        counts = [each for found in self._markers.values() for each in found if each not in self._taken]
        least = self._bare - sum(self._cost[each] for each in counts)
        helps = self._stays and least <= budget
        for pile in sorted(self._piles.values(), key=self._priced, reverse=True):
            if pile.text is not None and not self._fits(budget) and (helps or self._priced(pile) >= pile.cost):
                pile.text, pile.price = None, -1
                pile.asked = len(pile.indexes)
        if self._fits(budget) or not helps:
            return
        whole = _Pile(())
        self._put(whole, counts)
        for pile in self._piles.values():
            whole.put(pile.indexes, self._messages, self._cost)
        whole.asked = len(whole.indexes)
        self._piles = {0: whole}
        if not self._fits(budget):
            whole.is_silent = True

    def _give_back(self) -> None:
        for key, pile in [*self._piles.items()]:
            if not pile.is_silent and self._priced(pile) >= pile.cost:
                del self._piles[key]
                self._bare += pile.cost
                self._taken.difference_update(pile.indexes)


def checked(text: object) -> str:
    """The text of a summary. Raises `BadMessage` for anything but a text."""
    if isinstance(text, str):
        return text
    if hasattr(text, "close"):  # a coroutine that is never awaited
        text.close()
    raise BadMessage(
        f"`summarise` must return a text, but returned {text!r:.200}: nothing was compacted. (A coroutine function "
        "is for PlanSession.compact.)"
    )
