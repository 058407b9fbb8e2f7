"""Plan changes as lines: steps added, removed and moved, the progress, and the lines of a text that differ."""

from collections.abc import Iterable, Iterator
from typing import Final

from planwire.readmodel.authors import author
from planwire.readmodel.differences import PlanDifference, StepDifference, plan_difference
from planwire.readmodel.plain_text import one_line, printable
from planwire.session.moved_on import MovedOn
from planwire.terminal.history_lines import word_parts
from planwire.terminal.lines import GUTTER, Line, Part
from planwire.terminal.plan_lines import progress_parts
from planwire.terminal.step_lines import step_parts

#: How many of the newest events a conflict lists.
LISTED: Final = 8


# -- changes, from a recording or a comparison


def change_lines(plans: Iterable[PlanDifference]) -> Iterator[Line]:
    """A headline for each plan, and what changed in it."""
    for plan in plans:
        yield from _plan_lines(plan)


def difference_lines(title: str, plans: Iterable[PlanDifference]) -> Iterator[Line]:
    """The title, then what was added, removed and changed in each plan."""
    if title:
        yield Line(((one_line(title), "muted"),))
    plans = list(plans)
    if not plans:
        yield Line((("  no difference", "muted"),))
    for plan in plans:
        yield from _plan_lines(plan)
        yield from _text_lines(plan)


def report_line(report: tuple[str, str], number: int) -> Line:
    """A report with the number of its line."""
    where, message = report
    place = f"line {number}, {one_line(where)}" if where else f"line {number}"
    return Line((("! ", "odd"), (place, "odd"), (f": {one_line(message)}", "")))


def _plan_lines(plan: PlanDifference) -> Iterator[Line]:
    far = progress_parts(plan.progress) if plan.progress is not None else ()
    yield Line((("  ", ""), (one_line(plan.title), "strong"), (f" {plan.what}", "muted"), *far))
    yield from (Line((("    ", ""), *_step_parts(step))) for step in plan.steps)
    if plan.size:
        yield Line((("    ", ""), (plan.size, "muted")))
    for said in plan.said:
        sign: Part = ("+ ", "added strong") if said.kind == "added" else ("- ", "removed strong")
        yield Line((("    ", ""), sign, (one_line(said.text), "suggestion"), (f"   {one_line(said.who)}", "muted")))


def _step_parts(each: StepDifference) -> tuple[Part, ...]:
    sign, words, tags = step_parts(each.row)
    before, after = one_line(each.before), one_line(each.after)
    match each.kind:
        case "added":
            spaced = [part for tag in tags for part in (("  ", ""), tag)]
            return ("+ ", "added strong"), ("  " * each.row.depth, ""), sign, words, *spaced
        case "removed":
            return ("- ", "removed strong"), (words[0], "muted")
        case "moved":
            return ("↕ ", "note"), (f"{words[0]} ({before} → {after})", "")
        case "reworded":
            return ("~ ", "odd"), (f"{before} → {after}", "")
        case "status":
            return sign, words, (f"  {before} → {after}", "muted")
        case _:
            return ("! ", "odd"), (f"{words[0]}: {before} → {after} {each.kind}", "")


def _text_lines(plan: PlanDifference) -> Iterator[Line]:
    for line in plan.text:
        look = "added" if line[0] == "+" else "removed"
        yield Line((("    ", ""), GUTTER, (f"{line[0]} {printable(line[1:])}", look)))


# -- a plan that moved on while a person decided


def conflict_lines(moved: MovedOn) -> list[Line]:
    """How a plan differs from the one that a person saw."""
    since = f"Since then, from revision {moved.seen} to {moved.revision}:"
    missing = [Line((("  the step is gone", "odd"),))] if moved.missing else []
    return [
        Line(((since, "muted"),)),
        *missing,
        *(list(_since_then(moved)) or [Line((("  no visible change", "muted"),))]),
    ]


def _since_then(moved: MovedOn) -> Iterator[Line]:
    difference = plan_difference(moved.plan_id, moved.title, moved.before, moved.now)
    if difference is not None:
        yield from _plan_lines(difference)
        yield from _text_lines(difference)
    for by, word in moved.beside[-LISTED:]:
        yield Line((("    ", ""), *word_parts(word), (f"   {author(by)}", "muted")))
