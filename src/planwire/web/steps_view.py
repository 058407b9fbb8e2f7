"""The steps of a plan as rows: all of them, or a window around the current one."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from planwire.model.plan import MEDIUM, PRIORITIES
from planwire.model.steps import Progress, Step
from planwire.web.annotations_view import NO_ANNOTATIONS, Extra, StepAnnotations, ghost_row
from planwire.web.html import Html, attributes, el
from planwire.web.page_tree import Part, branch, leaf
from planwire.web.status_look import look, mark, wording

__all__ = ["LONG", "progress_view", "steps_part"]

#: A plan with more steps than this gets a window, with so many steps before and behind the current one.
LONG: Final = 60
BEFORE: Final = 8
BEHIND: Final = 24


def _in_sight(steps: Sequence[Step]) -> range:
    """All steps of a short plan; else those around the current step, or the first one that is open."""
    if len(steps) <= LONG:
        return range(len(steps))
    current = next((at for at, step in enumerate(steps) if step.is_current), None)
    unfinished = next((at for at, step in enumerate(steps) if step.is_open), len(steps) - 1)
    middle = unfinished if current is None else current
    end = min(len(steps), max(middle - BEFORE, 0) + BEFORE + BEHIND)
    return range(max(0, end - BEFORE - BEHIND), end)


def steps_part(
    part_id: str, steps: Sequence[Step], stopped: bool, more: str | None, annotations: StepAnnotations = NO_ANNOTATIONS
) -> Part:
    """The rows of a plan. With `more`, the address of all of them, a long plan gets a window."""
    shown = _in_sight(steps) if more else range(len(steps))
    extras = dict(annotations.steps)
    rows = [_row(part_id, step, stopped, extras.get(step.id)) for step in steps[shown.start : shown.stop]]
    if annotations.added:
        rows = _with_ghosts(part_id, rows, annotations, begins=not shown.start, ends=shown.stop == len(steps))
    if more and shown.start:
        nearest = f"{more}#{part_id}-{steps[shown.start - 1].id}"
        rows.insert(0, _gap(f"{part_id}-above", steps[: shown.start], nearest, "above"))
    if more and shown.stop < len(steps):
        nearest = f"{more}#{part_id}-{steps[shown.stop].id}"
        rows.append(_gap(f"{part_id}-below", steps[shown.stop :], nearest, "below"))
    return branch(f"{part_id}-steps", "ol", rows, class_="steps")


def _with_ghosts(
    part_id: str, rows: list[Part], annotations: StepAnnotations, *, begins: bool, ends: bool
) -> list[Part]:
    """The rows, with suggested steps in their places, as far as these are in sight."""
    behind: dict[str | None, list[Part]] = {}
    for after, key, html in annotations.added:
        row_id = f"{part_id}-{key}"
        anchor = after if not after else f"{part_id}-{after}"
        behind.setdefault(anchor, []).append(Part(row_id, ghost_row(row_id, html, "step")))
    first = behind.get("", []) if begins else []
    last = behind.get(None, []) if ends else []
    return [*first, *(each for row in rows for each in (row, *behind.get(row.id, ()))), *last]


@lru_cache(maxsize=20_000)
def _row(part_id: str, step: Step, stopped: bool, extra: Extra | None) -> Part:
    shown = look(step.status, stopped)
    row_id = f"{part_id}-{step.id}"
    details = [el("span", wording(step.content), class_="words", dir="auto")]
    if shown.kind in ("other", "stopped"):
        details.append(el("span", shown.word, class_=f"tag tag-{shown.kind}"))
    if step.priority != MEDIUM:
        known = step.priority if step.priority in PRIORITIES else "other"
        details.append(el("span", step.priority, el("span", " priority", class_="unseen"), class_=f"tag tag-{known}"))
    if extra:
        details = [el("div", *details, extra.html, class_="about")]
    classes = f"step is-{shown.kind}{f' deep-{min(step.depth, 6)}' if step.depth else ''}"
    values = {
        "id": row_id,
        "class": classes + extra.classes if extra else classes,
        "data-step": step.id,
        "data-status": shown.kind,
        "aria-current": "step" if shown.kind == "current" else None,
    }
    body = Html("".join((mark(step.status, stopped), *details)))
    return Part(row_id, Html(f"<li{attributes(values)}>{body}</li>"))


def _gap(row_id: str, steps: Sequence[Step], address: str, where: str) -> Part:
    progress = Progress.of(steps)
    count = progress.total + progress.cancelled
    done = "all done" if progress.done == count else f"{progress.done:,} done" if progress.done else ""
    cancelled = f"{progress.cancelled:,} cancelled" if progress.cancelled else ""
    words = ", ".join(filter(None, (f"{count:,} more {where}", done, cancelled)))
    return leaf(row_id, "li", el("a", words, href=address), class_="gap")


def progress_view(progress: Progress, name: str, part_id: str | None = None, *, brief: bool = False) -> Html:
    """A bar and a number."""
    share = 100 * progress.done // progress.total if progress.total else 0
    bar = el("progress", value=progress.done, max=max(progress.total, 1), aria_label=f"progress of {name}")
    number = el("span", el("b", f"{progress.done:,}"), f" / {progress.total:,}", class_="number")
    rest = f"{share} %"
    if progress.cancelled and not brief:
        rest += f" · {progress.cancelled:,} cancelled"
    return el("div", bar, number, el("span", rest, class_="share"), id=part_id, class_="progress")
