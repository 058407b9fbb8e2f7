"""The steps of a plan to show: a window of a long plan, with runs of finished steps folded."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from planwire.readmodel.card import PlanCard, Progress, StepRow

#: A plan with more steps than this gets a window, with this many steps before the current one and from it on.
LONG: Final = 60
BEFORE: Final = 8
BEHIND: Final = 24
#: The least number of consecutive finished steps that fold into one line.
FOLDED: Final = 8


def window(card: PlanCard) -> range:
    """The places of all steps of a short plan; otherwise of those around the current or else the first open step."""
    rows = card.rows
    if len(rows) <= LONG:
        return range(len(rows))
    focus = card.focus
    middle = rows.index(focus) if focus else len(rows) - 1
    end = min(len(rows), max(middle - BEFORE, 0) + BEFORE + BEHIND)
    return range(max(0, end - BEFORE - BEHIND), end)


def in_runs(rows: Sequence[StepRow | None]) -> Iterator[tuple[bool, range]]:
    """The places of rows in runs, each with whether to fold it: a long run of finished steps without remarks. None
    stands for a row that is not a step."""
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
