"""Which step is which: the ids of a new list of steps, decided once by whoever writes it.

No dialect gives an entry an identity, and agents reword, number, tag, reorder, drop and bring back their entries. A
wrong link moves what a person said to a task that they never saw; a lost one only begins the step anew. So precision
comes first, by the same rules for the wire, checkboxes and tools:

1. Texts are compared as `likeness` reads them, without enumerators, signs, tags and verbs' endings.
2. Equal is the same step, against every step that the plan ever had. Doubles are told apart by their order.
3. Of the rest the best pair comes first, over the whole list. Where two are as good, neither is taken.
4. Another object is another step, and another act too, also by two changes: "Delete the staging database" becomes
   "Delete the database", and that not "Delete the production database". So is a finished step that is open again under
   other words.
5. An empty list retires nothing. Where every step was finished and none is equal, nothing is linked: another plan.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, count
from operator import itemgetter
from typing import TYPE_CHECKING, Final

from planwire.model.kinds import Draft, drafts_of
from planwire.model.names import new_id
from planwire.model.plan import Plan
from planwire.model.statuses import status_of
from planwire.model.steps import Memory, PlanState, Step, restate

if TYPE_CHECKING:
    from planwire.model.likeness import Text

#: The likeness from which two texts are one step reworded: anywhere, and between the same two neighbours.
ALIKE: Final = 0.55
ALIKE_IN_PLACE: Final = 0.4
#: What the place is worth beside the words, and how much better the best pair must be than the next.
IN_PLACE: Final = 0.1
MARGIN: Final = 0.03
#: Characters read of both lists, and pairs compared: beyond these, texts are only equal to themselves.
READ_IN_ALL: Final = 100_000
COMPARED_PAIRS: Final = 2_500
#: Texts of a step's past, the oldest first, that a new one must not contradict.
FORMER: Final = 4
#: Steps that may share a word: one that more have tells none of them apart.
COMMON: Final = 60


def step_ids(plan: Plan, before: PlanState | None, suffix: str = "") -> tuple[str, ...]:
    """An id for each step of a plan: those that its steps had, and new ones (`s7`, or `s7-k3` with a suffix)."""
    memory = before.memory if before else Memory()
    fresh = (new_id("s", number, suffix) for number in count(memory.born + 1))
    return tuple([each or next(fresh) for each in _Matching(drafts_of(plan), memory).ids])


def track(plan: Plan, before: PlanState | None = None) -> PlanState:
    """The state of a plan that follows `before`, where no event records the ids."""
    return restate(plan, step_ids(plan, before), before)


class _Matching:
    """Matches a new list against the memory of a plan. `ids` is the result, with None for a new step."""

    def __init__(self, drafts: list[Draft], memory: Memory) -> None:
        self.drafts, self.last = drafts, memory.steps
        self.ids: list[str | None] = [None] * len(drafts)
        self.taken: set[str] = set()
        self.texts: dict[str, Text] = {}
        self.former: dict[str, list[Text]] = {}  # the texts of each step of the last list, the oldest first
        self.unread = READ_IN_ALL
        contents = [draft.content for draft in drafts], [step.content for step in self.last]
        if contents[0] == contents[1]:
            self.ids = [step.id for step in self.last]
        if contents[0] == contents[1] or not self.last:
            return
        from planwire.model import likeness  # noqa: PLC0415  (its tables take 10 ms, and most lists need none)

        self.likeness = likeness
        self._read(sorted(dict.fromkeys((*contents[0], *contents[1])), key=len))
        self.news, self.olds = ([self.texts[each] for each in side] for side in contents)
        wanted = _places(self.news, range(len(drafts)))
        for words, olds in _places(self.olds, range(len(self.last))).items():
            if words in wanted:
                self._pair_doubles(wanted[words], olds)
        self._by_former_text(memory.owners)
        if self.taken or any(step.is_open for step in self.last):
            self._by_likeness()

    def _read(self, contents: Iterable[str]) -> None:
        """Read texts while the budget lasts. Beyond it each is only equal to itself."""
        for content in contents:
            if content not in self.texts:
                self.unread -= len(content) * (1 if content.isascii() else 3)
                like = self.likeness
                self.texts[content] = like.read(content) if self.unread > 0 else like.Text((content,))

    def _take(self, new: int, old_id: str) -> None:
        self.ids[new] = old_id
        self.taken.add(old_id)

    def _pair_doubles(self, news: list[int], olds: list[int]) -> None:
        """Pair steps of one wording. Equally many pair in order, unless that crosses their writings or reopens one;
        else the same writing comes first, in the same place, between the same neighbours, as open as it was, in order.
        """
        pairs = [(self.drafts[new], self.last[old]) for new, old in zip(news, olds, strict=False)]
        crosses = sorted(new.content for new, _ in pairs) == sorted(old.content for _, old in pairs) and any(
            new.content != old.content or (_is_open(new) and not _is_open(old)) for new, old in pairs
        )
        in_order = len(news) == len(olds) and (len(news) == 1 or not crosses)
        for aspect in range(4 if in_order else 0, 5):
            free: dict[object, deque[int]] = {}
            for old in olds:
                if self.last[old].id not in self.taken:
                    free.setdefault(_aspect(aspect, self.last, self.olds, old), deque()).append(old)
            for new in news:
                if self.ids[new] is None and (same := free.get(_aspect(aspect, self.drafts, self.news, new))):
                    self._take(new, self.last[same.popleft()].id)

    def _by_former_text(self, owners: dict[str, tuple[str, ...]]) -> None:
        """Link texts that a step had before, steps of the last list first."""
        rest = _places(self.news, (new for new, step_id in enumerate(self.ids) if step_id is None))
        if not rest:
            return
        self._read(owners)
        live = {step.id for step in self.last}
        found: list[tuple[bool, tuple[str, ...], str]] = []
        for content, step_ids in owners.items():
            text = self.texts[content]
            if text.words in rest:
                found += [(each not in live, text.words, each) for each in step_ids]
            for each in live.intersection(step_ids):
                self.former.setdefault(each, []).append(text)
        for _, words, step_id in sorted(found, key=itemgetter(0)):
            if rest[words] and step_id not in self.taken:
                self._take(rest[words].pop(0), step_id)

    def _by_likeness(self) -> None:
        """Link the best pair first, and neither of two that are as good."""
        pairs = sorted(self._pairs())
        rivals: dict[int, list[tuple[float, int, int]]] = {}
        for pair in pairs:
            rivals.setdefault(~pair[1], []).append(pair)
            rivals.setdefault(pair[2], []).append(pair)
        settled: set[int] = set()
        for badness, old, new in pairs:
            if settled.isdisjoint((~old, new)):
                free = [each for each in (*rivals[~old], *rivals[new]) if settled.isdisjoint((~each[1], each[2]))]
                as_good = {(self.olds[a].words, self.news[b].words) for other, a, b in free if other < badness + MARGIN}
                settled |= {~old, new}
                if len(as_good) == 1:
                    self._take(new, self.last[old].id)

    def _pairs(self) -> Iterator[tuple[float, int, int]]:
        """The pairs that may be one step, and how unlike they are. Rare words lead to them."""
        index: dict[str, list[int]] = {}
        for old, step in enumerate(self.last):
            for key in self.olds[old].keys if step.id not in self.taken else ():
                index.setdefault(key, []).append(old)
        old_gaps = _gaps([step.id if step.id in self.taken else None for step in self.last])
        new_gaps, left = _gaps(self.ids), COMPARED_PAIRS
        for new, gap in new_gaps.items():
            lists = [olds for key in self.news[new].keys if key in index and len(olds := index[key]) <= COMMON]
            lists.sort(key=len)
            found = dict.fromkeys(chain.from_iterable(lists))
            for old in [*found][: min(left, max(2, COMPARED_PAIRS // len(new_gaps)))]:
                left -= 1
                likeness = self.likeness.compare(self.olds[old], self.news[new])
                in_place = _same_place(new, gap, old, old_gaps[old])
                if likeness >= (ALIKE_IN_PLACE if in_place else ALIKE) and self._may_be(old, new):
                    yield 1.0 - likeness - in_place * IN_PLACE, old, new

    def _may_be(self, old: int, new: int) -> bool:
        """Whether a step may go on as another: no open step for a finished one, and nothing else than it ever was."""
        step = self.last[old]
        if _is_open(self.drafts[new]) and not step.is_open:
            return False
        former = [text for text in self.former.get(step.id, [])[:FORMER] if text.words != self.olds[old].words]
        return all(self.likeness.compare(text, self.news[new]) for text in former)


def _places(texts: "Sequence[Text]", places: Iterable[int]) -> dict[tuple[str, ...], list[int]]:
    """The places of each wording in a list."""
    found: dict[tuple[str, ...], list[int]] = {}
    for place in places:
        found.setdefault(texts[place].words, []).append(place)
    return found


def _is_open(step: Step | Draft) -> bool:
    row = status_of(step.status)
    return row is None or row.is_open


def _aspect(number: int, steps: Sequence[Step | Draft], texts: "list[Text]", at: int) -> object:
    """What tells a step apart from its doubles: one aspect after the other."""
    content, around = steps[at].content, [texts[each].words for each in (at - 1, at + 1) if 0 <= each < len(texts)]
    same_place, openness = (content, steps[at].status, at), (content, _is_open(steps[at]))
    return (same_place, (content, at > 0, *around), openness, content, None)[number]


def _gaps(ids: Sequence[str | None]) -> dict[int, tuple[str, str, int, int]]:
    """The places without an id, each with the gap that it is in: the ids around it, where it begins, and where it ends.
    The places of a gap share one tuple: a tuple for each would keep the garbage collector busy."""
    gaps: dict[int, tuple[str, str, int, int]] = {}
    before, begin = "", 0
    for end, step_id in enumerate((*ids, "")):
        if step_id is not None:
            gaps |= dict.fromkeys(range(begin, end), (before, step_id, begin, end))
            before, begin = step_id, end + 1
    return gaps


def _same_place(new: int, gap: tuple[str, str, int, int], old: int, was: tuple[str, str, int, int]) -> bool:
    """Whether two places are the same in gaps of one size between the same ids."""
    around, begin, end = gap[:2], gap[2], gap[3]
    return any(around) and around == was[:2] and (new - begin, end - begin) == (old - was[2], was[3] - was[2])
