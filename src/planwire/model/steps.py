"""A plan's steps: stable ids for entries and checkboxes, which have none on the wire, and progress.

No dialect gives an entry an identity, and agents reword entries while they work on them, send an empty list between
two full ones, drop entries and bring them back. So a plan remembers every step it ever had, under every text the step
ever had, and matches a new list against that memory:

1. By text: first the steps of the last list, then former texts of these, then steps that had left the list.
2. By neighbours: the unmatched steps between the same two matched ones. Equally many on both sides pair up in order,
   where the texts are similar or the status moved forward. Otherwise a pair needs both, or nearly the same text.
3. By the same words and a few more or less, wherever they are now: a step that moved and was made clearer.
4. The rest is new.

When a model *replaces* a plan, it writes a whole new one, and a step's place says nothing. Then only texts that are
nearly the same keep their ids, or a remark about one task would land on another.

Ids never come back within a plan. An empty list forgets nothing.

Why neighbours? Text alone loses the most common rewording: agents rename a step as they start it ("Ship it" becomes
"Uploading wheels", which have next to nothing in common), and comments and suggestions hang on that step's id. Position
alone does worse: one step inserted at the top would shift every id below it. But a step that changed while both of its
neighbours stayed is either the same step under another name or its replacement, and the status decides which. A step
that moves from pending to in progress under a new name was renamed. A step whose status stays must also read alike, or
"Buy milk" would inherit the comments on "Read the config". The same holds for every step of a list that shares no step
with the one before, unless all of them moved forward: that is another plan.

Why 0.4? In the recorded conversations of the tests, rewordings measure 0.61 ("Write the parser — with ünïcode" to
"Writing the parser") to 0.93, and unrelated steps in one place 0.36 at most. Where the counts differ, any pair in the
gap could be the right one, and "Run the tests" and "Run the linter" already measure 0.74. Hence 0.75 there. In another
plan, and elsewhere in the list, the place says nothing: 0.8 there ("Write the docs" and "Write the code" measure 0.79),
and in another plan a changed number makes it another step ("Fix bug 12").
"""

import re
from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct

from planwire.model.kinds import Draft, drafts_of
from planwire.model.likeness import Likeness
from planwire.model.names import id_number
from planwire.model.plan import MEDIUM, ItemsPlan, Plan
from planwire.model.statuses import COMPLETED, Status, canonical, status_of

__all__ = ["PlanState", "Progress", "Step", "restate", "track"]

#: Similarity (1.0 = the same text) from which texts in equal gaps are one step reworded.
SIMILAR: Final = 0.4
#: The same in unequal gaps, where the position says less.
NEARLY_SAME: Final = 0.75
#: The same where the position says nothing.
ALMOST_EQUAL: Final = 0.8
#: Characters compared per text, and pairs compared per list: without these limits, and that of `likeness`, one long
#: list could hold up every line after it.
COMPARED_CHARACTERS: Final = 240
COMPARED_PAIRS: Final = 400
#: Texts that a plan remembers: as many as a list may have entries. Beyond that it forgets those of steps that left.
REMEMBERED_TEXTS: Final = 20_000


class Step(Struct, frozen=True, gc=False):
    """One step of a plan. `depth` is its nesting in a markdown list."""

    id: str
    content: str
    status: str
    priority: str = MEDIUM
    depth: int = 0

    @property
    def known(self) -> Status | None:
        """The row of its status; None for a word without one."""
        return status_of(self.status)

    @property
    def is_open(self) -> bool:
        """Whether there is still something to do. An unknown status counts as open."""
        row = status_of(self.status)
        return row is None or row.is_open

    @property
    def is_current(self) -> bool:
        row = status_of(self.status)
        return row is not None and row.is_current

    @property
    def is_done(self) -> bool:
        return canonical(self.status) == COMPLETED


class Progress(Struct, frozen=True):
    """How far along a plan is: `done` of `total`, and the steps in progress. Cancelled steps count apart."""

    done: int
    total: int
    current: tuple[Step, ...] = ()
    cancelled: int = 0

    def __str__(self) -> str:
        """In words, as models and people read it."""
        return f"{self.done} of {self.total} done"

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
            elif row.is_current:
                current.append(step)
        return cls(done, total, tuple(current), uncounted)


class _Memory(Struct, frozen=True):
    """A plan's memory of its steps.

    `steps` is the last list that was not empty, `texts` its wording, `owners` maps each text to the ids of the steps
    that ever had it, `born` is the number of ids so far.
    """

    steps: tuple[Step, ...] = ()
    texts: list[str] = []
    owners: dict[str, tuple[str, ...]] = {}
    born: int = 0


class PlanState(Struct, frozen=True):
    """A plan together with its steps. `track` makes it, carrying over the ids of the state before."""

    plan: Plan
    steps: tuple[Step, ...]
    memory: _Memory

    @property
    def progress(self) -> Progress:
        return Progress.of(self.steps)

    @property
    def born(self) -> int:
        """The number of ids that the plan has given to steps so far."""
        return self.memory.born


def track(plan: Plan, before: PlanState | None = None, *, is_replacement: bool = False) -> PlanState:
    """The state of a plan that follows `before`: a step that stays, reworded or not, keeps its id. With
    `is_replacement` it is another plan in place of that one, and only steps with nearly the same text keep theirs."""
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
    steps, memory = _settle(drafts, _Matching(drafts, memory, is_replacement).ids, memory)
    return PlanState(plan, steps, memory)


def restate(plan: Plan, ids: Sequence[str | None], before: PlanState | None, born: int = 0) -> PlanState:
    """The state of a plan whose writer decided which step is which: `ids` has one for each step, and None for a new
    one. `born` is how many ids the plan gave out, if that is known from elsewhere."""
    memory = before.memory if before else _Memory()
    born = max(memory.born, born, *(id_number("s", each) for each in ids if each), 0)
    memory = _Memory(memory.steps, memory.texts, memory.owners, born)
    drafts = drafts_of(plan)
    if not drafts:
        return PlanState(plan, (), memory)
    fitting = [*ids[: len(drafts)], *[None] * (len(drafts) - len(ids))]
    steps, memory = _settle(drafts, fitting, memory)
    return PlanState(plan, steps, memory)


def _settle(drafts: list[Draft], ids: Sequence[str | None], memory: _Memory) -> tuple[tuple[Step, ...], _Memory]:
    """Turn drafts into steps, giving new ones new ids, and remember texts that are new."""
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
    """Matches a new list against the memory of a plan. `ids` is the result, with None for a new step."""

    def __init__(self, drafts: list[Draft], memory: _Memory, is_replacement: bool) -> None:
        self.drafts = drafts
        self.is_replacement = is_replacement
        self.last = memory.steps
        self.ids: list[str | None] = [None] * len(drafts)
        self.taken: set[str] = set()
        self.compared = 0
        self.likeness = Likeness()
        wanted = _places(drafts)
        self._by_current_text(wanted)
        self._by_any_text(wanted, memory.owners)
        self._by_neighbours()
        self._by_likeness()

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
        """Pair steps with the same text when their number changed: by status and place, then by status, then in
        order."""
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
            if len(olds) == len(news) and not self.is_replacement:
                pairs = [*zip(news, olds, strict=True)]
                moved = {new for new, old in pairs if self._moved_forward(old, new)}
                is_another_plan = neighbours == (None, None) and len(moved) < len(pairs)
                for new, old in pairs:
                    if (new in moved and not is_another_plan) or self._alike(old, new, SIMILAR):
                        self._take(new, self.last[old].id)
            else:
                self._pair_nearly_same(news, olds)

    def _pair_nearly_same(self, news: list[int], olds: list[int]) -> None:
        """Pair steps of one gap in order. In another plan, steps with other numbers in their text are other steps."""
        kinds: dict[tuple[str, ...], list[int]] = {}
        for old in olds:
            kinds.setdefault(self._numbers(self.last[old].content), []).append(old)
        last = -1
        for new in news:
            same = kinds.get(self._numbers(self.drafts[new].content), [])
            for old in same[bisect_right(same, last) :]:
                if self.compared >= COMPARED_PAIRS:
                    return
                if self._is_pair(old, new):
                    self._take(new, self.last[old].id)
                    last = old
                    break

    def _numbers(self, text: str) -> tuple[str, ...]:
        return tuple(re.findall(r"\d+", text)) if self.is_replacement else ()

    def _is_pair(self, old: int, new: int) -> bool:
        """Whether two steps in the same gap are one, where the gap alone doesn't decide."""
        if self.is_replacement:
            return self._alike(old, new, ALMOST_EQUAL)
        return self._alike(old, new, SIMILAR if self._moved_forward(old, new) else NEARLY_SAME)

    def _by_likeness(self) -> None:
        rest = [old for old, step in enumerate(self.last) if step.id not in self.taken]
        words = {old: self.last[old].content.casefold().split() for old in rest}
        for new in [place for place, step_id in enumerate(self.ids) if step_id is None] if rest else ():
            new_words = self.drafts[new].content.casefold().split()
            for old in rest:
                if self.compared >= COMPARED_PAIRS:
                    return
                if self._alike(old, new, ALMOST_EQUAL) and self.likeness.is_extended(words[old], new_words):
                    self._take(new, self.last[old].id)
                    rest.remove(old)
                    break

    def _moved_forward(self, old: int, new: int) -> bool:
        before, after = self.last[old].known, status_of(self.drafts[new].status)
        return before is not None and after is not None and after.rank > before.rank

    def _alike(self, old: int, new: int, threshold: float) -> bool:
        self.compared += 1
        if self.compared > COMPARED_PAIRS:
            return False
        one = self.last[old].content[:COMPARED_CHARACTERS]
        other = self.drafts[new].content[:COMPARED_CHARACTERS]
        return self.likeness.is_alike(one, other, threshold)


def _places(steps: Sequence[Step | Draft]) -> dict[str, list[int]]:
    """The positions of each text in a list."""
    places: dict[str, list[int]] = {}
    for place, step in enumerate(steps):
        places.setdefault(step.content, []).append(place)
    return places


def _gaps(ids: Sequence[str | None]) -> dict[tuple[str | None, str | None], list[int]]:
    """The positions without an id, by the ids before and after them."""
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
