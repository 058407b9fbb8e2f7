"""The steps of a plan as rows: all of them, or a window around the current one. Long runs of finished steps fold."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from msgspec import Struct

from planwire.readmodel.card import PRIORITIES, Ghost, PlanBelow, PlanCard, PlanId, Progress, StepRow, Tag
from planwire.readmodel.in_sight import counts, fold_words, in_runs, window
from planwire.readmodel.unseen import left_out, line_keys
from planwire.web.annotations_view import annotation_classes, annotations_html, ghost_row
from planwire.web.html import Html, attributes, el
from planwire.web.page_tree import Part, branch, leaf
from planwire.web.status_look import checkbox, wording

#: A text with more characters or lines than this may need more than the six lines that a row shows at first.
LONG_STEP: Final = 220
MOST_LINES: Final = 6
#: Most steps wait for their turn: they need no class of their own.
_CLASSES: Final = {"pending": ""}


class StepList(Struct, frozen=True):
    """How to show a list of steps: the id of its plan on the page, whether its marks are `usable` and its suggestions
    can be withdrawn (`steerable`), and `more`, the address of all steps, if a long plan is to get a window. `below` are
    the plans on the page that work for its steps, each with its id there."""

    part_id: str
    usable: bool = False
    steerable: bool = False
    more: str | None = None
    below: tuple[tuple[PlanId, str], ...] = ()


def steps_part(shown_as: StepList, card: PlanCard) -> Part:
    """The rows of a plan."""
    part_id, more = shown_as.part_id, shown_as.more
    shown = window(card) if more else range(len(card.rows))
    steps: list[StepRow | None] = []
    parts: list[Part] = []
    behind: dict[str, list[Ghost]] = {}
    for ghost in (*card.moved, *card.ghosts):
        behind.setdefault(ghost.behind, []).append(ghost)

    def add_ghosts(step: str) -> None:
        for ghost in behind.get(step, ()):
            steps.append(None)
            moved = card.row(ghost.step)
            parts.append(Part(*ghost_row(part_id, ghost, "step", moved, steerable=shown_as.steerable)))

    if not shown.start:
        add_ghosts("")
    keys = line_keys(tuple(row.text for row in card.rows))
    for at, row in enumerate(card.rows[shown.start : shown.stop], shown.start):
        steps.append(row)
        parts.append(_row(shown_as, row, keys[at]))
        add_ghosts(row.id)
    if more and len(shown) == len(card.rows):
        parts = _folded(steps, parts)
    if more and shown.start:
        nearest = f"{more}#{part_id}-{card.rows[shown.start - 1].id}"
        parts.insert(0, _gap(f"{part_id}-above", card.rows[: shown.start], nearest, "above"))
    if more and shown.stop < len(card.rows):
        nearest = f"{more}#{part_id}-{card.rows[shown.stop].id}"
        parts.append(_gap(f"{part_id}-below", card.rows[shown.stop :], nearest, "below"))
    unread = len(left_out(card, ())) if card.text else None  # its text is not on the page
    return branch(f"{part_id}-steps", "ol", parts, class_="steps", data_left_out=unread)


def drawn_suggestions(card: PlanCard, shown: range) -> frozenset[str]:
    """The ids of the suggestions drawn at the rows in sight."""
    rows = card.rows[shown.start : shown.stop]
    places = {row.id for row in rows} | ({""} if not shown.start else set())
    ghosts = (each.change.suggestion for each in (*card.moved, *card.ghosts) if each.behind in places)
    return frozenset((*ghosts, *(each.suggestion for row in rows for each in row.suggestions)))


def _folded(steps: Sequence[StepRow | None], parts: list[Part]) -> list[Part]:
    shown: list[Part] = []
    for is_folded, places in in_runs(steps):
        together = parts[places.start : places.stop]
        rows = [row for row in steps[places.start : places.stop] if row is not None]
        shown += [_fold(together, rows)] if is_folded else together
    return shown


def _fold(parts: list[Part], rows: Sequence[StepRow]) -> Part:
    """One line for many rows. Its id comes from the first row, so that it stays the same fold while it grows."""
    own = f"{parts[0].id}-fold"
    inside = leaf(f"{own}-name", "summary", fold_words(rows)), branch(f"{own}-steps", "ol", parts)
    return branch(own, "li", [branch(f"{own}-box", "details", inside)], class_="fold")


@lru_cache(maxsize=20_000)
def _row(shown_as: StepList, row: StepRow, key: str) -> Part:
    row_id = f"{shown_as.part_id}-{row.id}"
    name_id = f"{row_id}-w"
    details = [el("span", wording(row.text), id=name_id, class_="words")]
    if len(row.text) > LONG_STEP or row.text.count("\n") >= MOST_LINES:
        details.append(el("button", "Show more", type="button", class_="show-more"))
    details += map(tag_view, row.tags)
    if row.suggestions or row.remarks:
        details.append(annotations_html(row, steerable=shown_as.steerable))
    details += (_child(each, dict(shown_as.below).get(each.id)) for each in row.children)
    if len(details) > 1:
        details = [el("div", *details, class_="about")]
    classes = f"step{_CLASSES.get(row.look, f' is-{row.look}')}{annotation_classes(row)}"
    values = {
        "id": row_id,
        "class": f"{classes} deep-{min(row.depth, 6)}" if row.depth else classes,
        "data-step": row.id,
        "data-status": row.look,
        "data-lines": key,
        "aria-current": "step" if row.look == "current" else None,
    }
    body = Html("".join((checkbox(row, name_id, usable=shown_as.usable), *details)))
    return Part(row_id, Html(f"<li{attributes(values)}>{body}</li>"))


def _child(child: PlanBelow, part_id: str | None) -> Html:
    """A plan that works for a step, in a line below that step. All of it is shown below the step's plan."""
    name = el("a", el("bdi", child.title), href=f"#{part_id}-name") if part_id else el("bdi", child.title)
    now = [step.content for step in child.progress.current[:1]]
    words = " · ".join((str(child.progress), *now))
    return el(
        "div",
        name,
        " ",
        el("span", words, class_="far", dir="auto"),
        class_="child is-over" if child.is_over else "child",
    )


def tag_view(tag: Tag) -> Html:
    """A word beside a step. One that repeats the mark is hidden from screen readers."""
    if tag.kind in PRIORITIES:
        return el("span", tag.text, el("span", " priority", class_="unseen"), class_=f"tag tag-{tag.kind}")
    hidden = "true" if tag.kind in ("other", "stopped") else None
    return el("span", tag.text, class_=f"tag tag-{tag.kind.replace('_', '-')}", aria_hidden=hidden)


def _gap(row_id: str, rows: Sequence[StepRow], address: str, where: str) -> Part:
    progress = counts(rows)
    done = "all done" if progress.done == len(rows) else f"{progress.done:,} done" if progress.done else ""
    cancelled = f"{progress.cancelled:,} cancelled" if progress.cancelled else ""
    words = ", ".join(filter(None, (f"{len(rows):,} more {where}", done, cancelled)))
    return leaf(row_id, "li", el("a", words, href=address), class_="gap", data_left_out=len(rows))


def progress_view(progress: Progress, name: str, part_id: str | None = None, *, brief: bool = False) -> Html:
    """A bar and a number, and unless `brief`, the cancelled steps, which neither of them counts."""
    bar = el("progress", value=progress.done, max=max(progress.total, 1), aria_label=f"progress of {name}")
    number = el("span", el("b", f"{progress.done:,}"), f" / {progress.total:,}", class_="number")
    rest = el("span", f"{progress.cancelled:,} cancelled") if progress.cancelled and not brief else None
    return el("div", bar, number, rest, id=part_id, class_="progress")
