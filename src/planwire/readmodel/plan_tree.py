"""The tree of a session's plans: a plan that works for a step is below that step's plan, which shows its progress.

No plan is ever left out: a plan whose step is gone, or that works for itself in a circle, is at the top.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from operator import is_
from typing import Final, NamedTuple

from msgspec.structs import replace

from planwire.model.children import Children, is_finished, rolled_up
from planwire.model.events import StepRef
from planwire.model.plan import PlanId
from planwire.model.steps import Progress
from planwire.readmodel.card import PlanBelow, PlanCard, StepRow, Tag

#: The kind of the tag that shows progress below a step.
BELOW: Final = "below"


class PlanNode(NamedTuple):
    """A plan, and the plans that work for its steps, in the order of the steps."""

    card: PlanCard
    below: "tuple[PlanNode, ...]"


class _Below(NamedTuple):
    """What is below a step."""

    step: str
    children: tuple[PlanBelow, ...]
    progress: Progress


class _PlaceKey(NamedTuple):
    """A key for the cache: a card compared by identity, and its place in the tree."""

    card: PlanCard
    above: tuple[str, ...]
    below: tuple[_Below, ...]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _PlaceKey) and is_(self.card, other.card) and self[1:] == other[1:]

    def __hash__(self) -> int:
        return hash((id(self.card), self.above))


def in_tree(cards: Sequence[PlanCard], children: Children) -> tuple[PlanCard, ...]:
    """The cards in the reading order of a tree: each is followed by those below it, in the order of their steps. A tree
    comes first if one of its plans needs a person."""
    if not children:
        return tuple(cards)
    known = {card.id: card for card in cards}
    ids = {step: tuple(record.state.plan.id for record in below) for step, below in children.items()}
    placed = {plan_id for below in ids.values() for plan_id in below}
    walked: dict[PlanId, PlanCard] = {}
    families = []
    for top in (*(card for card in cards if card.id not in placed), *cards):
        if top.id not in walked:  # of the second series only those in a circle
            family = [*_walk(top, (), known, ids, children, walked)]
            families.append(family)
    families.sort(key=lambda family: not any(card.needs_you and not card.ended for card in family))
    return tuple(card for family in families for card in family)


def _walk(
    card: PlanCard,
    above: tuple[str, ...],
    known: Mapping[PlanId, PlanCard],
    ids: Mapping[StepRef, tuple[PlanId, ...]],
    children: Children,
    walked: dict[PlanId, PlanCard],
) -> Iterator[PlanCard]:
    steps = [(row, ids[ref]) for row in card.rows if (ref := StepRef(card.id, row.id)) in ids]
    below = tuple(_below(StepRef(card.id, row.id), known, children) for row, _ in steps)
    walked[card.id] = _placed(_PlaceKey(card, above, below)) if above or below else card
    yield walked[card.id]
    for row, plans in steps:
        for plan_id in plans:
            if plan_id not in walked:
                yield from _walk(known[plan_id], (*above, row.text), known, ids, children, walked)


def _below(step: StepRef, known: Mapping[PlanId, PlanCard], children: Children) -> _Below:
    plans = tuple(
        PlanBelow(card.id, card.title, card.progress, is_finished(record))
        for record in children[step]
        for card in (known[record.state.plan.id],)
    )
    return _Below(step.step, plans, rolled_up(children, step) or Progress(0, 0))


@lru_cache(maxsize=256)
def _placed(key: _PlaceKey) -> PlanCard:
    """A card in its place. The same card in the same place is the same object."""
    card, above, _ = key
    below = {each.step: each for each in key.below}
    rows = tuple(
        replace(
            row,
            tags=(*row.tags, *_tags(row, below[row.id].progress)),
            children=below[row.id].children,
            below=below[row.id].progress,
        )
        if row.id in below
        else row
        for row in card.rows
    )
    parent = card.record.parent if card.record and above else None
    return replace(card, rows=rows, above=above, parent=parent)


def _tags(row: StepRow, progress: Progress) -> tuple[Tag, ...]:
    """The tag of a step with plans below it, as long as it or they have something left to do."""
    is_over = not row.is_open and progress.done == progress.total
    return () if is_over else (Tag(BELOW, below_words(progress)),)


def forest(cards: Iterable[PlanCard]) -> tuple[PlanNode, ...]:
    """The trees that cards make. A plan whose parent is not among them is at the top."""
    cards = tuple(cards)
    known = {card.id for card in cards}
    below: dict[PlanId, list[PlanCard]] = {}
    for card in cards:
        if card.parent and card.parent.plan_id in known:
            below.setdefault(card.parent.plan_id, []).append(card)

    def node(card: PlanCard) -> PlanNode:
        return PlanNode(card, tuple(map(node, below.get(card.id, ()))))

    return tuple(node(card) for card in cards if not card.parent or card.parent.plan_id not in known)


def below_words(progress: Progress) -> str:
    """The progress of the plans below a step, in words."""
    return f"{progress.done:,} of {progress.total:,} below"
