"""A plan's steps, with ids that the writer decided and events record, and progress.

Folding compares no texts: `restate` gives steps the ids that it is told. The writer decides once which step is which
(`model.identity`), against what the plan remembers: its last list that was not empty, every text that each step ever
had, and how many ids were given out. Ids never come back within a plan, and an empty list forgets nothing.
"""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Final

from msgspec import Struct

from planwire.model.kinds import drafts_of
from planwire.model.names import id_number, new_id
from planwire.model.plan import MEDIUM, Plan
from planwire.model.statuses import COMPLETED, Status, canonical, status_of

#: Texts that a plan remembers: as many as a list may have entries. Beyond that it forgets the oldest.
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
        return self.known is None or self.known.is_open

    @property
    def is_current(self) -> bool:
        return self.known is not None and self.known.is_current

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
        rows = [(step, step.known) for step in steps if step.status]  # items of numbered lists have none
        counted = [(step, row) for step, row in rows if row is None or row.counts]
        done = sum(row is not None and not row.is_open for _, row in counted)
        current = tuple([step for step, row in counted if row is not None and row.is_current])
        return cls(done, len(counted), current, len(rows) - len(counted))


class Memory(Struct, frozen=True):
    """What a plan remembers of its steps.

    `steps` is the last list that was not empty, `owners` maps each text to the ids of the steps that ever had it, the
    oldest text first; `born` is the highest number that a step got.
    """

    steps: tuple[Step, ...] = ()
    owners: dict[str, tuple[str, ...]] = {}
    born: int = 0


class PlanState(Struct, frozen=True):
    """A plan together with its steps. `restate` makes it."""

    plan: Plan
    steps: tuple[Step, ...]
    memory: Memory

    @property
    def progress(self) -> Progress:
        return Progress.of(self.steps)

    @property
    def born(self) -> int:
        """The highest number that the plan has given to a step so far."""
        return self.memory.born


def restate(plan: Plan, ids: Sequence[str | None], before: PlanState | None = None, born: int = 0) -> PlanState:
    """The state of a plan whose steps have these ids, after `before`; `born` counts ids given out elsewhere.

    It takes whatever a journal holds. A step without an id of its own (there are too few, one stands twice, it is None)
    gets a fresh number; ids without a step are only counted.
    """
    memory = before.memory if before else Memory()
    known = {step.id: step for step in memory.steps}
    born = max(memory.born, born, *(id_number("s", each) for each in ids if each and each not in known), 0)
    learned: dict[str, dict[str, None]] = {}
    steps: dict[str, Step] = {}
    for place, draft in enumerate(drafts_of(plan)):
        step_id = ids[place] if place < len(ids) else None
        if not step_id or step_id in steps:
            born += 1
            step_id = new_id("s", born)
        step = Step(step_id, draft.content, draft.status, draft.priority, draft.depth)
        old = known.get(step_id)
        if old is None or old.content != step.content:
            learned.setdefault(step.content, dict.fromkeys(memory.owners.get(step.content, ())))[step_id] = None
        steps[step_id] = old if old is not None and step == old else step
    owners = {**memory.owners, **{text: tuple(each) for text, each in learned.items()}} if learned else memory.owners
    oldest = max(0, len(owners) - REMEMBERED_TEXTS)
    owners = dict(islice(owners.items(), oldest, None)) if oldest else owners
    settled = tuple(steps.values())
    return PlanState(plan, settled, Memory(settled or memory.steps, owners, born))
