"""A plan's steps: stable ids for entries and checkboxes that have none, and progress.

No dialect gives an entry an identity, and agents reword entries while they work on them, send an empty list between
two full ones, drop entries and bring them back. So a plan remembers every step that it ever had, under every text that
the step ever had, and a new list is matched against that memory:

1. by text: first the steps of the last list, then former texts of these, then steps that had left the list;
2. what is left between the same two matched neighbours, if it is equally many: in order, where the texts are similar
   or the status moved forward (an agent that renames a step as it starts it); if it is not equally many, only where
   both hold, or the texts are nearly the same;
3. else it is a new step.

An id is never used again within its plan. An empty list forgets nothing.
"""

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct

from planwire.model.kinds import Draft, drafts_of
from planwire.model.plan import MEDIUM, ItemsPlan, Plan
from planwire.model.statuses import CANCELLED, COMPLETED, IN_PROGRESS, PENDING, Status, canonical, status_of

__all__ = ["PlanState", "Progress", "Step", "restate", "track"]

#: In an equal gap, texts at least this alike are one step reworded (1.0 = the same text).
SIMILAR: Final = 0.4
#: In an unequal gap there is less to go by, so the texts must be nearly the same.
NEARLY_SAME: Final = 0.75
#: How much of a text is compared, and how many pairs of texts in one list: similarity costs the product of lengths.
COMPARED_CHARACTERS: Final = 240
COMPARED_PAIRS: Final = 400
#: A plan that has had more texts than this forgets those of steps that left it.
REMEMBERED_TEXTS: Final = 20_000


class Step(Struct, frozen=True, gc=False):
    """One step as people see it. `depth` is its nesting in a markdown list."""

    id: str
    content: str
    status: str
    priority: str = MEDIUM
    depth: int = 0

    @property
    def known(self) -> Status | None:
        """The row of its status; None if the word stands for none."""
        return status_of(self.status)

    @property
    def is_open(self) -> bool:
        """Whether there is still something to do. Of a word that nobody knows, that is assumed."""
        row = status_of(self.status)
        return row is None or row.is_open

    @property
    def is_pending(self) -> bool:
        return canonical(self.status) == PENDING

    @property
    def is_current(self) -> bool:
        return canonical(self.status) == IN_PROGRESS

    @property
    def is_done(self) -> bool:
        return canonical(self.status) == COMPLETED

    @property
    def is_cancelled(self) -> bool:
        return canonical(self.status) == CANCELLED


class Progress(Struct, frozen=True):
    """How far a plan is: `done` of `total`, the steps being worked on; cancelled ones are counted apart."""

    done: int
    total: int
    current: tuple[Step, ...] = ()
    cancelled: int = 0

    @classmethod
    def of(cls, steps: Iterable[Step]) -> "Progress":
        done = total = uncounted = 0
        current: list[Step] = []
        for step in steps:
            row = status_of(step.status)
            if row is not None and not row.counts:
                uncounted += 1
                continue
            total += 1
            if row is None:
                continue
            if not row.is_open:
                done += 1
            elif row.word == IN_PROGRESS:
                current.append(step)
        return cls(done, total, tuple(current), uncounted)


class _Memory(Struct, frozen=True):
    """What a plan remembers of its steps: the last list that was not empty, and who ever had which text."""

    steps: tuple[Step, ...] = ()
    texts: list[str] = []
    owners: dict[str, tuple[str, ...]] = {}
    born: int = 0


class PlanState(Struct, frozen=True):
    """A plan together with its steps. Made by `track`, which carries the ids over from the state before."""

    plan: Plan
    steps: tuple[Step, ...]
    memory: _Memory

    @property
    def progress(self) -> Progress:
        return Progress.of(self.steps)


def track(plan: Plan, before: PlanState | None = None) -> PlanState:
    """The state of a plan that replaces `before`: every step keeps its id."""
    memory = before.memory if before else _Memory()
    if isinstance(plan, ItemsPlan) and [entry.content for entry in plan.entries] == memory.texts:
        steps = tuple(
            [
                step
                if step.status == entry.status and step.priority == (entry.priority or MEDIUM) and not step.depth
                else Step(step.id, entry.content, entry.status, entry.priority or MEDIUM)
                for step, entry in zip(memory.steps, plan.entries, strict=True)
            ]
        )
        return PlanState(plan, steps, _Memory(steps, memory.texts, memory.owners, memory.born))
    drafts = drafts_of(plan)
    if not drafts:
        return PlanState(plan, (), memory)
    steps, memory = _settle(drafts, _Matching(drafts, memory).ids, memory)
    return PlanState(plan, steps, memory)


def restate(plan: Plan, ids: Sequence[str | None], before: PlanState) -> PlanState:
    """The state of a plan of which it is known which step is which; None is a step that is new."""
    drafts = drafts_of(plan)
    if not drafts:
        return PlanState(plan, (), before.memory)
    steps, memory = _settle(drafts, ids, before.memory)
    return PlanState(plan, steps, memory)


def _settle(drafts: list[Draft], ids: Sequence[str | None], memory: _Memory) -> tuple[tuple[Step, ...], _Memory]:
    """Give every draft its id, new ones a new id; remember texts that were not known."""
    born = memory.born
    known = {step.id: step for step in memory.steps}
    learned: dict[str, list[str]] = {}
    steps: list[Step] = []
    for draft, known_id in zip(drafts, ids, strict=True):
        if known_id is None:
            born += 1
        step_id = known_id or f"s{born}"
        old = known.get(step_id)
        if old is None or old.content != draft.content:
            learned.setdefault(draft.content, []).append(step_id)
        step = Step(step_id, draft.content, draft.status, draft.priority, draft.depth)
        steps.append(old if step == old else step)
    owners = memory.owners
    if learned:
        owners = owners | {
            text: tuple(dict.fromkeys((*owners.get(text, ()), *new_owners))) for text, new_owners in learned.items()
        }
        if len(owners) > REMEMBERED_TEXTS:
            owners = {text: tuple(steps[at].id for at in places) for text, places in _places(steps).items()}
    settled = tuple(steps)
    return settled, _Memory(settled, [step.content for step in settled], owners, born)


class _Matching:
    """One new list against the memory of a plan; `ids` is the outcome, None for a new step."""

    def __init__(self, drafts: list[Draft], memory: _Memory) -> None:
        self.drafts = drafts
        self.last = memory.steps
        self.ids: list[str | None] = [None] * len(drafts)
        self.taken: set[str] = set()
        self.compared = 0
        wanted = _places(drafts)
        self._by_current_text(wanted)
        self._by_any_text(wanted, memory.owners)
        self._by_neighbours()

    def _take(self, place: int, step_id: str) -> None:
        self.ids[place] = step_id
        self.taken.add(step_id)

    def _by_current_text(self, wanted: dict[str, list[int]]) -> None:
        for text, olds in _places(self.last).items():
            news = wanted.get(text, [])
            equally_many = len(news) == len(olds)
            for new, old in zip(news, olds, strict=True) if equally_many else self._twins(news, olds):
                self._take(new, self.last[old].id)

    def _twins(self, news: list[int], olds: list[int]) -> Iterable[tuple[int, int]]:
        """Of several steps with one text some came or went: those that kept status and place stayed, then status."""
        stayed = {place for place in set(news) & set(olds) if self.last[place].status == self.drafts[place].status}
        yield from ((place, place) for place in sorted(stayed))
        by_status: dict[str, deque[int]] = {}
        for old in olds:
            if old not in stayed:
                by_status.setdefault(self.last[old].status, deque()).append(old)
        unpaired: list[int] = []
        for new in news:
            if new not in stayed:
                same = by_status.get(self.drafts[new].status)
                if same:
                    yield new, same.popleft()
                else:
                    unpaired.append(new)
        yield from zip(unpaired, sorted(old for rest in by_status.values() for old in rest), strict=False)

    def _by_any_text(self, wanted: dict[str, list[int]], owners: dict[str, tuple[str, ...]]) -> None:
        live = {step.id for step in self.last}
        for among_live in (True, False):
            for text, news in wanted.items():
                unmatched = [new for new in news if self.ids[new] is None]
                if unmatched and text in owners:
                    free = [each for each in owners[text] if each not in self.taken and (each in live) == among_live]
                    for new, owner in zip(unmatched, free, strict=False):
                        self._take(new, owner)

    def _by_neighbours(self) -> None:
        gaps = _gaps([step.id if step.id in self.taken else None for step in self.last])
        for neighbours, news in _gaps(self.ids).items():
            olds = gaps.get(neighbours, [])
            if len(olds) == len(news):
                for new, old in zip(news, olds, strict=True):
                    if self._moved_forward(old, new) or self._alike(old, new, SIMILAR):
                        self._take(new, self.last[old].id)
            else:
                self._pair_nearly_same(news, olds)

    def _pair_nearly_same(self, news: list[int], olds: list[int]) -> None:
        rest = olds
        for new in news:
            for index, old in enumerate(rest):
                if self.compared >= COMPARED_PAIRS:
                    return
                if self._alike(old, new, SIMILAR if self._moved_forward(old, new) else NEARLY_SAME):
                    self._take(new, self.last[old].id)
                    rest = rest[index + 1 :]
                    break

    def _moved_forward(self, old: int, new: int) -> bool:
        before, after = self.last[old].known, status_of(self.drafts[new].status)
        return before is not None and after is not None and after.rank > before.rank

    def _alike(self, old: int, new: int, threshold: float) -> bool:
        from difflib import SequenceMatcher  # noqa: PLC0415  (most updates reword nothing)

        self.compared += 1
        if self.compared > COMPARED_PAIRS:
            return False
        one = self.last[old].content[:COMPARED_CHARACTERS]
        other = self.drafts[new].content[:COMPARED_CHARACTERS]
        matcher = SequenceMatcher(None, one, other, autojunk=False)
        return matcher.quick_ratio() >= threshold and matcher.ratio() >= threshold


def _places(steps: Sequence[Step | Draft]) -> dict[str, list[int]]:
    """Where each text stands in a list."""
    places: dict[str, list[int]] = {}
    for place, step in enumerate(steps):
        places.setdefault(step.content, []).append(place)
    return places


def _gaps(ids: Sequence[str | None]) -> dict[tuple[str | None, str | None], list[int]]:
    """The positions without an id, by the ids that stand before and after them."""
    gaps: dict[tuple[str | None, str | None], list[int]] = {}
    before: str | None = None
    open_gap: list[int] = []
    for position, step_id in enumerate(ids):
        if step_id is None:
            open_gap.append(position)
            continue
        if open_gap:
            gaps[before, step_id] = open_gap
            open_gap = []
        before = step_id
    if open_gap:
        gaps[before, None] = open_gap
    return gaps
