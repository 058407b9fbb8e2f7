"""The steps of a plan that are worth the room: a window of a long plan, and folds for runs of finished steps."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from planwire.readmodel.card import PlanCard, Progress, StepRow

__all__ = ["LONG", "counts", "fold_words", "in_runs", "window"]

#: A plan with more steps than this gets a window, with so many steps before and behind the current one.
LONG: Final = 60
BEFORE: Final = 8
BEHIND: Final = 24
#: So many finished steps in a row fold into one line.
FOLDED: Final = 8


def window(card: PlanCard) -> range:
    """The places of all steps of a short plan; else of those around the current step, or the first one that is open."""
    rows = card.rows
    if len(rows) <= LONG:
        return range(len(rows))
    focus = card.focus
    middle = rows.index(focus) if focus else len(rows) - 1
    end = min(len(rows), max(middle - BEFORE, 0) + BEFORE + BEHIND)
    return range(max(0, end - BEFORE - BEHIND), end)


def in_runs(rows: Sequence[StepRow | None]) -> Iterator[tuple[bool, range]]:
    """The places of rows in runs, each with whether it is to be folded: a long run of finished steps, of which nobody
    said anything. None is a row that is no step."""
    for is_over, run in groupby(range(len(rows)), lambda at: _is_over(rows[at])):
        places = list(run)
        yield is_over and len(places) >= FOLDED, range(places[0], places[-1] + 1)


def _is_over(row: StepRow | None) -> bool:
    return row is not None and not (row.has_work_left or row.suggestions or row.remarks)


def fold_words(rows: Sequence[StepRow]) -> str:
    """The one line for a run of finished steps."""
    progress = counts(rows)
    words = (progress.done, "done"), (progress.cancelled, "cancelled")
    return ", ".join(f"{count:,} {word}" for count, word in words if count)


def counts(rows: Sequence[StepRow]) -> Progress:
    """The progress of some steps of a plan."""
    cancelled = sum(not row.is_open and not row.is_done for row in rows)
    return Progress(sum(row.is_done for row in rows), len(rows) - cancelled, (), cancelled)
