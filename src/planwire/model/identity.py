"""Which step is which: the ids of a new list of steps, decided once by whoever writes it.

No dialect gives an entry an identity, and agents reword, number, tag, reorder, drop and bring back their entries. A
wrong link moves what a person said to a task that they never saw; a lost one only begins the step anew. So precision
comes first, by the same rules for the wire, checkboxes and tools:

1. Texts are compared as `likeness` reads them, without enumerators, signs, tags and verbs' endings.
2. Equal is the same step, against every step that the plan ever had. Doubles are told apart by their order.
3. Of the rest the best pair comes first, over the whole list. Where two are as good, neither is taken.
4. Another object is another step, and an opposite too. A verb may change as its step begins. A finished step that is
   open again under other words is another step.
5. An empty list retires nothing. Where every step was finished and none is equal, nothing is linked: another plan.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import Final

from planwire.model.kinds import Draft, drafts_of
from planwire.model.likeness import Text, compare, read
from planwire.model.plan import Plan
from planwire.model.statuses import status_of
from planwire.model.steps import Memory, PlanState, Step, restate

__all__ = ["step_ids", "track"]

#: The likeness from which two texts are one step reworded: anywhere, and between the same two neighbours.
ALIKE: Final = 0.55
ALIKE_IN_PLACE: Final = 0.35
#: What the place is worth beside the words, and how much better the best pair must be than the next.
IN_PLACE: Final = 0.1
MARGIN: Final = 0.03
#: Characters read of a list, and pairs compared: beyond these, texts are only equal to themselves.
READ_IN_ALL: Final = 150_000
COMPARED_PAIRS: Final = 5_000
#: Steps that may share a word: one that more have tells none of them apart.
COMMON: Final = 60


def step_ids(plan: Plan, before: PlanState | None, suffix: str = "") -> tuple[str, ...]:
    """An id for each step of a plan: those that its steps had, and new ones (`s7`, or `s7-k3` with a suffix)."""
    memory = before.memory if before else Memory()
    ids = _Matching(drafts_of(plan), memory).ids
    taken = {step.id for step in memory.steps}.union(*memory.owners.values()) if None in ids else set()
    numbers = (f"s{number}-{suffix}" if suffix else f"s{number}" for number in count(memory.born + 1))
    fresh = (each for each in numbers if each not in taken)
    return tuple(each or next(fresh) for each in ids)


def track(plan: Plan, before: PlanState | None = None) -> PlanState:
    """The state of a plan that follows `before`, where no event records the ids."""
    return restate(plan, step_ids(plan, before), before)


class _Matching:
    """Matches a new list against the memory of a plan. `ids` is the result, with None for a new step."""

    def __init__(self, drafts: list[Draft], memory: Memory) -> None:
        self.drafts, self.last = drafts, memory.steps
        self.ids: list[str | None] = [None] * len(drafts)
        self.taken: set[str] = set()
        if not self.last:
            return
        if [draft.content for draft in drafts] == [step.content for step in self.last]:
            self.ids = [step.id for step in self.last]
            return
        self.news, self.olds = _texts(each.content for each in drafts), _texts(each.content for each in self.last)
        wanted = _places(self.news)
        for words, olds in _places(self.olds).items():
            for new, old in self._doubles(wanted[words], olds) if words in wanted else ():
                self._take(new, self.last[old].id)
        self._by_former_text(memory)
        if self.taken or any(step.is_open for step in self.last):
            self._by_likeness()

    def _take(self, new: int, step_id: str) -> None:
        self.ids[new] = step_id
        self.taken.add(step_id)

    def _doubles(self, news: list[int], olds: list[int]) -> Iterator[tuple[int, int]]:
        """Pair steps of one wording. Equally many that are written otherwise pair in order; else the same writing comes
        first, in the same place, between the same neighbours, with the same status, in order."""
        texts = [self.drafts[new].content for new in news], [self.last[old].content for old in olds]
        if len(news) == len(olds) and (len(news) == 1 or sorted(texts[0]) != sorted(texts[1])):
            yield from zip(news, olds, strict=True)
            return
        news, olds = [*news], [*olds]
        for aspect in range(7):
            free: dict[object, deque[int]] = {}
            for old in olds:
                free.setdefault(_mark(aspect, self.last, self.olds, old), deque()).append(old)
            for new in [*news]:
                if same := free.get(_mark(aspect, self.drafts, self.news, new)):
                    old = same.popleft()
                    news.remove(new)
                    olds.remove(old)
                    yield new, old

    def _by_former_text(self, memory: Memory) -> None:
        """Link texts that a step had before, steps of the last list first."""
        rest = _places(self.news, (new for new, step_id in enumerate(self.ids) if step_id is None))
        live = {step.id for step in self.last}
        former = [*zip(_texts(memory.owners), memory.owners.values(), strict=True)] if rest else []
        for among_live in (True, False):
            for text, owners in former:
                for step_id in owners if text.words in rest else ():
                    if rest[text.words] and step_id not in self.taken and (step_id in live) == among_live:
                        self._take(rest[text.words].pop(0), step_id)

    def _by_likeness(self) -> None:
        """Link the best pair first, and neither of two that are as good."""
        pairs = sorted(self._pairs())
        rivals: dict[tuple[str, int], list[tuple[float, int, int]]] = {}
        for pair in pairs:
            rivals.setdefault(("old", pair[1]), []).append(pair)
            rivals.setdefault(("new", pair[2]), []).append(pair)
        settled_olds: set[int] = set()
        settled_news: set[int] = set()
        for badness, old, new in pairs:
            if old in settled_olds or new in settled_news:
                continue
            as_good = [
                (other_old, other_new)
                for side in (("old", old), ("new", new))
                for other_badness, other_old, other_new in rivals[side]
                if other_badness < badness + MARGIN and not (other_old in settled_olds or other_new in settled_news)
            ]
            settled_olds.add(old)
            settled_news.add(new)
            texts = {(self.olds[other_old].words, self.news[other_new].words) for other_old, other_new in as_good}
            if len(texts) == 1:
                self._take(new, self.last[old].id)

    def _pairs(self) -> Iterator[tuple[float, int, int]]:
        """The pairs that may be one step, and how unlike they are. Rare words lead to them."""
        index: dict[str, list[int]] = {}
        for old, step in enumerate(self.last):
            for key in self.olds[old].keys if step.id not in self.taken else ():
                index.setdefault(key, []).append(old)
        old_places = _between([step.id if step.id in self.taken else None for step in self.last])
        new_places = _between(self.ids)
        news = [new for new, step_id in enumerate(self.ids) if step_id is None]
        left = COMPARED_PAIRS
        for new in news:
            lists = sorted((index[key] for key in self.news[new].keys if key in index), key=len)
            found = dict.fromkeys(old for olds in lists if len(olds) <= COMMON for old in olds)
            for old in [*found][: min(left, max(2, COMPARED_PAIRS // len(news)))]:
                left -= 1
                in_place = old_places[old] is not None and old_places[old] == new_places[new]
                if likeness := self._likeness(old, new, ALIKE_IN_PLACE if in_place else ALIKE):
                    yield 1.0 - likeness - in_place * IN_PLACE, old, new

    def _likeness(self, old: int, new: int, bar: float) -> float:
        """How alike two steps are; 0 if they can't be the same."""
        step, status = self.last[old], status_of(self.drafts[new].status)
        if not step.is_open and (status is None or status.is_open):
            return 0.0
        likeness, exchange = compare(self.olds[old], self.news[new])
        begins = step.known is not None and status is not None and step.known.rank == 0 < status.rank and status.counts
        return likeness if likeness >= bar and (exchange == "nothing" or (exchange == "verb" and begins)) else 0.0


def _texts(contents: Iterable[str]) -> list[Text]:
    """Texts as they are compared; beyond the budget each is only equal to itself."""
    left, texts = READ_IN_ALL, []
    for content in contents:
        left -= len(content)
        texts.append(read(content) if left > 0 else Text((content,)))
    return texts


def _places(texts: Sequence[Text], places: Iterable[int] | None = None) -> dict[tuple[str, ...], list[int]]:
    """The places of each wording in a list."""
    found: dict[tuple[str, ...], list[int]] = {}
    for place in range(len(texts)) if places is None else places:
        found.setdefault(texts[place].words, []).append(place)
    return found


def _mark(aspect: int, steps: Sequence[Step | Draft], texts: list[Text], at: int) -> object:
    """What tells a step apart from its doubles: one aspect after the other."""
    content, row = steps[at].content, status_of(steps[at].status)
    before = texts[at - 1].words if at else None
    after = texts[at + 1].words if at + 1 < len(texts) else None
    is_open = row is None or row.is_open
    return (
        (content, steps[at].status, at),
        *((content, before, after), (content, before), (content, after)),
        *((content, is_open), content, None),
    )[aspect]


def _between(ids: Sequence[str | None]) -> list[object]:
    """The place of each step without an id: its neighbours that have one, and how far away they are."""
    sides: list[list[tuple[str | None, int]]] = []
    for direction in (1, -1):
        near: tuple[str | None, int] = (None, 0)
        side = []
        for step_id in ids[::direction]:
            near = (step_id, 0) if step_id else (near[0], near[1] + 1)
            side.append(near)
        sides.append(side[::direction])
    return [(before, after) if before[0] or after[0] else None for before, after in zip(*sides, strict=True)]
