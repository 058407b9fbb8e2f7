"""The steps of a plan as rows: all of them, or a window around the current one. Long runs of finished steps fold."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby
from typing import Final

from msgspec import Struct

from planwire.model.plan import MEDIUM, PRIORITIES
from planwire.model.steps import Progress, Step
from planwire.web.annotations_view import NO_ANNOTATIONS, Extra, StepAnnotations, ghost_row
from planwire.web.html import Html, attributes, el
from planwire.web.page_tree import Part, branch, leaf
from planwire.web.status_look import checkbox, look, wording

__all__ = ["LONG", "StepList", "progress_view", "steps_part"]

#: A plan with more steps than this gets a window, with so many steps before and behind the current one.
LONG: Final = 60
BEFORE: Final = 8
BEHIND: Final = 24
#: So many finished steps in a row fold into one line.
FOLDED: Final = 8
#: A text with more characters or lines than this may need more than the six lines that a row shows at first.
LONG_STEP: Final = 220
MOST_LINES: Final = 6
#: Most steps wait for their turn: they need no class of their own.
_LOOKS: Final = {"pending": ""}


class StepList(Struct, frozen=True):
    """The way to show a list of steps: the id of its plan on the page, of an agent that stopped, with marks that people
    can use, and with `more`, the address of all steps, if a long plan is to get a window."""

    part_id: str
    stopped: bool = False
    usable: bool = False
    more: str | None = None


def _in_sight(steps: Sequence[Step]) -> range:
    """All steps of a short plan; else those around the current step, or the first one that is open."""
    if len(steps) <= LONG:
        return range(len(steps))
    current = next((at for at, step in enumerate(steps) if step.is_current), None)
    unfinished = next((at for at, step in enumerate(steps) if step.is_open), len(steps) - 1)
    middle = unfinished if current is None else current
    end = min(len(steps), max(middle - BEFORE, 0) + BEFORE + BEHIND)
    return range(max(0, end - BEFORE - BEHIND), end)


def steps_part(shown_as: StepList, steps: Sequence[Step], annotations: StepAnnotations = NO_ANNOTATIONS) -> Part:
    """The rows of a plan."""
    part_id, more = shown_as.part_id, shown_as.more
    shown = _in_sight(steps) if more else range(len(steps))
    extras = dict(annotations.steps)
    rows = [_row(shown_as, step, extras.get(step.id)) for step in steps[shown.start : shown.stop]]
    if annotations.added:
        rows = _with_ghosts(part_id, rows, annotations, begins=not shown.start, ends=shown.stop == len(steps))
    if more and shown.start:
        nearest = f"{more}#{part_id}-{steps[shown.start - 1].id}"
        rows.insert(0, _gap(f"{part_id}-above", steps[: shown.start], nearest, "above"))
    if more and shown.stop < len(steps):
        nearest = f"{more}#{part_id}-{steps[shown.stop].id}"
        rows.append(_gap(f"{part_id}-below", steps[shown.stop :], nearest, "below"))
    if more and len(shown) == len(steps):
        rows = _folded(part_id, rows, {f"{part_id}-{step.id}": step for step in steps if step.id not in extras})
    return branch(f"{part_id}-steps", "ol", rows, class_="steps")


def _folded(part_id: str, rows: list[Part], plain: dict[str, Step]) -> list[Part]:
    """The rows, with long runs of finished steps folded. A step with a suggestion or a remark stays in sight."""
    shown: list[Part] = []
    for is_over, run in groupby(rows, lambda row: row.id in plain and not plain[row.id].is_open):
        together = list(run)
        if is_over and len(together) >= FOLDED:
            shown.append(_fold(together, [plain[row.id] for row in together]))
        else:
            shown += together
    return shown


def _fold(rows: list[Part], steps: Sequence[Step]) -> Part:
    """One line for many rows. Its id is that of the first one: the fold stays the same while it grows."""
    own = f"{rows[0].id}-fold"
    progress = Progress.of(steps)
    counts = (progress.done, "done"), (progress.cancelled, "cancelled")
    words = ", ".join(f"{count:,} {word}" for count, word in counts if count)
    inside = leaf(f"{own}-name", "summary", words), branch(f"{own}-steps", "ol", rows)
    return branch(own, "li", [branch(f"{own}-box", "details", inside)], class_="fold")


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
def _row(shown_as: StepList, step: Step, extra: Extra | None) -> Part:
    shown = look(step.status, shown_as.stopped)
    row_id = f"{shown_as.part_id}-{step.id}"
    is_long = len(step.content) > LONG_STEP or step.content.count("\n") >= MOST_LINES
    name_id = f"{row_id}-w" if extra or is_long else row_id  # a row with nothing but words is its own name
    own_id = None if name_id == row_id else name_id
    details = [el("span", wording(step.content), id=own_id, class_="words")]
    if is_long:
        details.append(el("button", "Show more", type="button", class_="show-more"))
    if shown.kind in ("other", "stopped"):
        details.append(el("span", shown.word, class_=f"tag tag-{shown.kind}", aria_hidden="true"))
    if step.priority != MEDIUM:
        known = step.priority if step.priority in PRIORITIES else "other"
        details.append(el("span", step.priority, el("span", " priority", class_="unseen"), class_=f"tag tag-{known}"))
    if extra or len(details) > 1:
        details = [el("div", *details, extra.html if extra else None, class_="about")]
    classes = f"step{_LOOKS.get(shown.kind, f' is-{shown.kind}')}"
    if step.depth:
        classes += f" deep-{min(step.depth, 6)}"
    values = {
        "id": row_id,
        "class": classes + extra.classes if extra else classes,
        "data-step": step.id,
        "data-status": shown.kind,
        "aria-current": "step" if shown.kind == "current" else None,
    }
    mark = checkbox(step.status, shown_as.stopped, name_id, usable=shown_as.usable)
    body = Html("".join((mark, *details)))
    return Part(row_id, Html(f"<li{attributes(values)}>{body}</li>"))


def _gap(row_id: str, steps: Sequence[Step], address: str, where: str) -> Part:
    progress = Progress.of(steps)
    count = progress.total + progress.cancelled
    done = "all done" if progress.done == count else f"{progress.done:,} done" if progress.done else ""
    cancelled = f"{progress.cancelled:,} cancelled" if progress.cancelled else ""
    words = ", ".join(filter(None, (f"{count:,} more {where}", done, cancelled)))
    return leaf(row_id, "li", el("a", words, href=address), class_="gap")


def progress_view(progress: Progress, name: str, part_id: str | None = None, *, brief: bool = False) -> Html:
    """A bar and a number; the cancelled steps, which neither of them counts, unless it is to be `brief`."""
    bar = el("progress", value=progress.done, max=max(progress.total, 1), aria_label=f"progress of {name}")
    number = el("span", el("b", f"{progress.done:,}"), f" / {progress.total:,}", class_="number")
    rest = el("span", f"{progress.cancelled:,} cancelled") if progress.cancelled and not brief else None
    return el("div", bar, number, rest, id=part_id, class_="progress")
