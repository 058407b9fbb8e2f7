"""Differences between plans as values: steps added, removed, moved or changed, and the lines of a text that differ."""

import re
from collections.abc import Iterable, Iterator, Mapping
from difflib import unified_diff
from itertools import islice
from typing import Final

from msgspec import Struct

from planwire.model.diff import compare
from planwire.model.kinds import kind_of, text_of
from planwire.model.plan_change import PlanChange
from planwire.model.records import PlanRecord
from planwire.model.steps import PlanState, Progress
from planwire.readmodel.card import PlanId, StepRow, status_look
from planwire.readmodel.cards import ChangedPlans, cards_of
from planwire.readmodel.compare import SaidBetween

#: Lines with tasks, which are told as steps already.
_TASK: Final = re.compile(r"[ +-]\s*(?:[-*+]|\d+[.)])\s+\[.\]\s")
#: Characters of a text up to which its lines are compared. A longer one only says how much of it changed.
LONGEST: Final = 200_000
#: Lines before the first difference: the names of the files.
HEADER: Final = 2


class StepDifference(Struct, frozen=True):
    """A step that differs. `kind` is `added`, `removed`, `moved`, `reworded`, `status` or `priority`; `before` and
    `after` are its places, counted from 1, or its words."""

    kind: str
    row: StepRow
    before: str = ""
    after: str = ""


class PlanDifference(Struct, frozen=True):
    """A plan that differs. `what` says whether it is `new`, `removed`, `changed` or the `same`, `progress` how far
    it is now.

    `size` says how much of its text changed, and `text` has its added (`+`) and removed (`-`) lines. `said` has the
    remarks and reviews in between; a plan that is the `same` has nothing else.
    """

    id: PlanId
    title: str
    what: str
    progress: Progress | None
    steps: tuple[StepDifference, ...]
    size: str
    text: tuple[str, ...]
    said: tuple[SaidBetween, ...] = ()


def differences(changes: Iterable[PlanChange], titles: Mapping[PlanId, str]) -> tuple[PlanDifference, ...]:
    """The differences that changes of plans make. The plans have the titles that their session gives them."""
    return tuple(_difference(each, titles[each.id]) for each in changes)


def plan_difference(
    plan_id: PlanId, title: str, before: PlanRecord | None, now: PlanRecord | None
) -> PlanDifference | None:
    """The difference between two moments of one plan; None if nothing visible differs."""
    if before is None or now is None:
        return PlanDifference(plan_id, title, "removed" if now is None else "new", None, (), "", ())
    difference = compare(before.state, now.state)
    return _difference(PlanChange(plan_id, before.state, now.state, difference), title) if difference else None


def changed_steps(change: ChangedPlans) -> frozenset[str]:
    """The ids of the steps that a change is about."""
    kinds = ("added", "moved", "reworded", "status", "priority")
    return frozenset(item.step.id for plan in change.plans for kind in kinds for item in getattr(plan.diff, kind))


def _difference(change: PlanChange, title: str) -> PlanDifference:
    before, after = change.before, change.after
    return PlanDifference(
        change.id,
        title,
        "new" if before is None else "removed" if after is None else "changed",
        after.progress if after is not None and after.steps else None,
        tuple(_steps(change)) if after is not None else (),
        _size(before, after),
        tuple(_lines(before, after)),
    )


def _steps(change: PlanChange) -> Iterator[StepDifference]:
    diff = change.diff
    rows = {row.id: row for state in (change.before, change.after) if state for row in cards_of(state)[0].rows}
    yield from (StepDifference("added", rows[each.step.id]) for each in diff.added)
    yield from (StepDifference("removed", rows[each.step.id]) for each in diff.removed)
    for moved in diff.moved:
        yield StepDifference("moved", rows[moved.step.id], str(moved.before + 1), str(moved.at + 1))
    yield from (StepDifference("reworded", rows[each.step.id], each.before, each.after) for each in diff.reworded)
    for status in diff.status:
        words = (status_look(each).word for each in (status.before, status.after))
        yield StepDifference("status", rows[status.step.id], *words)
    yield from (StepDifference("priority", rows[each.step.id], each.before, each.after) for each in diff.priority)


def _size(old: PlanState | None, new: PlanState | None) -> str:
    before, after = _text(old), _text(new)
    if after is None or before == after:
        return ""
    if before is None:
        return f"a text of {len(after):,} characters"
    if after.startswith(before):
        return f"… {len(after) - len(before):,} characters more"
    return f"text rewritten: {len(before):,} → {len(after):,} characters"


def _lines(old: PlanState | None, new: PlanState | None) -> Iterator[str]:
    before, after = _text(old), _text(new)
    if before is None or after is None or max(len(before), len(after)) > LONGEST:
        return
    for line in islice(unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm=""), HEADER, None):
        if line[0] in "+-" and not _TASK.match(line):
            yield line


def _text(state: PlanState | None) -> str | None:
    """The text of a text plan; None for a list, and for a file, whose text here is only its address."""
    return (text_of(state.plan) or None) if state and kind_of(state.plan).is_text else None
