"""Changes of plans as lines: what came, went and moved, how far the work is, and which lines of a text differ."""

import re
from collections.abc import Iterator, Sequence
from difflib import unified_diff
from itertools import islice
from typing import Final

from planwire.acp import Report
from planwire.acp.board import Change, PlanChange
from planwire.model.diff import compare
from planwire.model.fold import SessionState
from planwire.model.kinds import kind_of, text_of
from planwire.model.steps import PlanState
from planwire.readmodel.history import plan_name
from planwire.readmodel.plain_text import one_line, printable
from planwire.session.moved_on import MovedOn
from planwire.terminal.history_lines import word_parts
from planwire.terminal.lines import Line, Part
from planwire.terminal.plan_lines import progress_parts
from planwire.terminal.step_lines import step_parts

__all__ = ["change_lines", "conflict_lines", "difference_lines", "fresh_steps", "report_line"]

#: Tasks: steps tell of them already.
_TASK: Final = re.compile(r"[ +-]\s*(?:[-*+]|\d+[.)])\s+\[.\]\s")
#: Characters of a text up to which its lines are compared, and how many of those a difference shows.
LONGEST: Final = 200_000
MOST_LINES: Final = 200
#: Lines before the first difference: the names of the files.
HEADER: Final = 2
#: The newest events that a conflict tells of, and what a difference of two plans leaves out.
LISTED: Final = 8
_UNSEEN: Final = ("wish", "settled", "withdrawn", "note", "why", "text", "asked")


# -- a change, as a recording or a difference has it


def change_lines(change: Change) -> Iterator[Line]:
    """A headline for each plan, and what changed in it."""
    for plan in change.plans:
        yield from _plan_lines(plan)


def _plan_lines(plan: PlanChange) -> Iterator[Line]:
    what = "new" if plan.before is None else "gone" if plan.after is None else "changed"
    far = progress_parts(plan.after.progress) if plan.after is not None and plan.after.steps else ()
    yield Line((("  ", ""), (one_line(plan_name(plan.id)), "strong"), (f" {what}", "muted"), *far))
    yield from (Line((("    ", ""), *parts)) for parts in _details(plan))


def _details(plan: PlanChange) -> Iterator[tuple[Part, ...]]:
    diff = plan.diff
    if plan.after is not None:
        for item in diff.added:
            sign, words, tags = step_parts(item.step)
            spaced = [part for tag in tags for part in (("  ", ""), tag)]
            yield ("+ ", "added strong"), ("  " * item.step.depth, ""), sign, words, *spaced
        for gone in diff.removed:
            yield ("- ", "removed strong"), (one_line(gone.step.content), "muted")
    for moved in diff.moved:
        yield ("↕ ", "wish"), (f"{one_line(moved.step.content)} ({moved.before + 1} → {moved.at + 1})", "")
    for changed in diff.reworded:
        yield ("~ ", "odd"), (f"{one_line(changed.before)} → {one_line(changed.after)}", "")
    for changed in diff.status:
        sign, words, _ = step_parts(changed.step)
        yield sign, words, (f"  {one_line(changed.before)} → {one_line(changed.after)}", "muted")
    for changed in diff.priority:
        became = f"{one_line(changed.before)} → {one_line(changed.after)} priority"
        yield ("! ", "odd"), (f"{one_line(changed.step.content)}: {became}", "")
    yield from _size(plan)


def _size(plan: PlanChange) -> Iterator[tuple[Part, ...]]:
    """How much of a text changed. The text itself follows in a difference, and at the end of a recording."""
    before, after = _text(plan.before), _text(plan.after)
    if after is None or before == after:
        return
    if before is None:
        yield ((f"a text of {len(after):,} characters", "muted"),)
    elif after.startswith(before):
        yield ((f"… {len(after) - len(before):,} characters more", "muted"),)
    else:
        yield ((f"text rewritten: {len(before):,} → {len(after):,} characters", "muted"),)


def _text(state: PlanState | None) -> str | None:
    """The text of a plan that is one: a list has none, and the address of a file is none."""
    return (text_of(state.plan) or None) if state and kind_of(state.plan).has_editable_steps else None


def report_line(report: Report, number: int) -> Line:
    """A report, with the number of the line that it is about."""
    where = f"line {number}, {one_line(report.where)}" if report.where else f"line {number}"
    rule = f"  [{report.rule}]" if report.rule else ""
    return Line((("! ", "odd"), (where, "odd"), (f": {one_line(report.message)}", ""), (rule, "muted")))


def fresh_steps(change: Change) -> set[str]:
    """The ids of the steps that a change is about."""
    return {
        item.step.id
        for plan in change.plans
        for items in (plan.diff.added, plan.diff.moved, plan.diff.reworded, plan.diff.status, plan.diff.priority)
        for item in items
    }


# -- a difference between two states


def difference_lines(before: SessionState, after: SessionState, changes: Sequence[PlanChange]) -> Iterator[Line]:
    """A headline, then for each plan what came, went and changed."""
    name = f"{one_line(before.id)} at {before.seq} → "
    name += f"{after.seq}" if before.id == after.id else f"{one_line(after.id)} at {after.seq}"
    yield Line(((name, "muted"),))
    if not changes:
        yield Line((("  no difference", "muted"),))
    for change in changes:
        yield from _plan_lines(change)
        yield from _text_lines(change)


def _text_lines(change: PlanChange) -> Iterator[Line]:
    old, new = _text(change.before), _text(change.after)
    if old is None or new is None or max(len(old), len(new)) > LONGEST:
        return
    lines = islice(unified_diff(old.splitlines(), new.splitlines(), n=0, lineterm=""), HEADER, None)
    told = [line for line in lines if line[0] in "+-" and not _TASK.match(line)]
    for line in told[:MOST_LINES]:
        yield Line(((f"    {line[0]} {printable(line[1:])}", "added" if line[0] == "+" else "removed"),))
    if len(told) > MOST_LINES:
        yield Line(((f"    … {len(told) - MOST_LINES} more lines", "muted"),))


# -- a plan that moved on while a person decided


def conflict_lines(moved: MovedOn, wanted: str) -> list[Line]:
    """What a person wants, and how the plan differs from the one that they saw."""
    saw = f"You saw revision {moved.seen}. Since then, up to revision {moved.revision}:"
    return [
        Line((("You want  ", "muted"), (one_line(wanted), "strong"))),
        Line(((saw, "muted"),)),
        *(list(_since_then(moved)) or [Line((("  nothing that can be seen", "muted"),))]),
    ]


def _since_then(moved: MovedOn) -> Iterator[Line]:
    if moved.before is None or moved.now is None:
        yield Line((("  it is another plan now", "odd"),))
        return
    difference = compare(moved.before.state, moved.now.state)
    if difference:
        change = PlanChange(moved.plan_id, moved.before.state, moved.now.state, difference)
        yield from _plan_lines(change)
        yield from _text_lines(change)
    told = [(moment.by, word) for moment in moved.moments for word in moment.words if word.kind in _UNSEEN]
    for by, word in told[-LISTED:]:
        yield Line((("    ", ""), *word_parts(word), (f"   {one_line(by)}", "muted")))
