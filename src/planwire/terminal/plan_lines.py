"""A plan as lines: its progress, the remarks on it, and its steps or its text; on a screen, or in a box for print."""

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from rich.cells import cell_len

from planwire.readmodel.card import PlanCard, Progress, StepRow
from planwire.readmodel.plain_text import one_line
from planwire.readmodel.text_pieces import text_without_title
from planwire.terminal.lines import BLANK, Line, Part, between, cut, fitted, folded, framed, is_endless, progress_bar
from planwire.terminal.nested_plans import Below, folded_line, way_lines, woven
from planwire.terminal.passages import Passages
from planwire.terminal.plan_questions import question_lines
from planwire.terminal.plan_remarks import brief_lines, reason_lines, remark_count, remark_lines
from planwire.terminal.prose import INDENT, prose_lines, woven_lines
from planwire.terminal.rows import FOLD, PLAN, ago
from planwire.terminal.step_lines import Shown, StepLines

#: The lines that a box takes.
FRAME: Final = 3
#: The cells of a line that a box takes.
FRAMED: Final = 2
#: Cells of a progress bar, and those of a short one.
BAR: Final = 24
SHORT_BAR: Final = 10


def card_lines(
    card: PlanCard, width: int, now: int, shown: Shown | None = None, below: Below | None = None, *, alone: bool = True
) -> Iterator[Line]:
    """All the lines of a plan on a screen, with those of the plans `below` its steps. A plan that works for a step, but
    is drawn `alone`, says for which one."""
    shown = shown or Shown()
    if card.ended and shown.unfold is not None and not shown.whole:
        yield _ended_line(card, width, now)
        return
    if card.is_folded and not alone and not shown.whole:
        yield folded_line(card, width, "" if shown.unfold is None else "Enter shows it")
        return
    yield _head_line(card, width, now, shown)
    if not card.text and cell_len(title := one_line(card.title)) > width // 2:  # the head may lack some of it
        yield from folded(Line((("  ", ""), (title, "strong")), "", (PLAN, card.id), title), width)
    if card.above and alone:
        yield from way_lines(card, width)
    passages = Passages(card, width - 1, now, shown, whole=_has_title(card, width))
    body = _body(card, width, StepLines(card, width, now, shown), passages)
    parts = [
        [*question_lines(card, width, now, "" if shown.unfold is None else None), *reason_lines(card, width)],
        list(woven(list(body), card, below or {})),
    ]
    parts.append(remark_lines(card, width, now, shown, passages.placed))
    for number, lines in enumerate(filter(None, parts)):
        yield from (BLANK, *lines) if number else lines


def _ended_line(card: PlanCard, width: int, now: int) -> Line:
    """A proposal whose life has ended, in one line."""
    words = f"  {card.ended_words.lower()} · {ago(card.changed_at, now)}   Enter shows it"
    name = fitted(one_line(card.title), max(width - 4 - cell_len(words), 8))
    return Line(cut(((" ▸ ", "muted"), (name, ""), (words, "muted")), width), "", (FOLD, card.id, PLAN))


def _head_line(card: PlanCard, width: int, now: int, shown: Shown) -> Line:
    """The line that stays in sight: the plan's name, its progress, how many remarks it has, and when it changed."""
    parts = _far(card, BAR if width >= 90 else SHORT_BAR, " / ")
    words = _past_words(card)
    words += [f"{len(shown.drafts)} to send (v)"] if shown.drafts else []
    words += [remark_count(card)] if remark_count(card) else []
    words += [one_line(card.mode)] if card.mode else []
    words += [f"version {card.version}"] if card.counts_versions else []
    words += [ago(card.changed_at, now)] if card.record is not None else []
    right: tuple[Part, ...] = ((f"  {' · '.join(words)}", "muted"),) if words else ()
    room = width - 2 - sum(cell_len(text) for text, _ in parts)
    name = (f" {fitted(one_line(card.title), max(room, 8))}", "strong")
    return Line(between(cut((name, *parts), width - 1), right, width - 1), "head", (PLAN, card.id))


def _past_words(card: PlanCard) -> list[str]:
    """How the plan ended, if it did."""
    return ["dismissed"] if card.removed else [card.ended_words.lower()] if card.ended else []


def _far(card: PlanCard, bar: int, slash: str) -> tuple[Part, ...]:
    """How far a plan is; for one without steps, its subtitle."""
    if not card.rows:
        return ((f"  {'empty' if card.is_blank else fitted(one_line(card.subtitle), BAR)}", "muted"),)
    parts = progress_parts(card.progress, bar, slash) if card.progress.total else ()
    cancelled = card.progress.cancelled
    return (*parts, (f"  {cancelled:,} cancelled", "muted")) if cancelled else parts


def progress_parts(progress: Progress, bar: int = BAR, slash: str = "/") -> tuple[Part, ...]:
    """A bar, and how many steps are done."""
    number: Part = (f"  {progress.done:,}{slash}{progress.total:,}", "strong")
    return ("  ", ""), *progress_bar(progress.done, progress.total, bar), number


def _body(card: PlanCard, width: int, steps: StepLines, passages: Passages | None = None) -> Iterator[Line]:
    """The steps of a plan, within its text if it has one."""
    whole = _has_title(card, width)
    if card.problem is not None:
        yield from folded(Line((("  ", ""), (one_line(card.problem), "odd"))), width - 1)
    elif card.fields:
        yield from prose_lines(card.fields, width - 1, INDENT, 0)
    elif not card.text.strip():
        yield from steps.of_all()
    elif card.rows:
        yield from woven_lines(card, width - 1, steps.of, passages, whole=whole)
    else:
        yield from prose_lines(card.text if whole else text_without_title(card), width - 1, INDENT, passages=passages)
    suggested = steps.of_none() if not card.rows else ()
    if suggested:
        yield from (BLANK, *suggested) if card.text else suggested
    elif card.is_blank:
        yield Line((("  nothing on the list", "muted"),))


def _has_title(card: PlanCard, width: int) -> bool:
    """Whether a text is drawn with its title: unless the head has all of it."""
    return is_endless(width) or cell_len(one_line(card.title)) > width // 2


# -- in print


def boxed_lines(
    card: PlanCard,
    width: int,
    now: int,
    fresh: Collection[str] = (),
    height: int | None = None,
    *,
    closed: bool = False,
    session: str = "",
    below: Below | None = None,
    alone: bool = True,
) -> Iterator[Line]:
    """A plan in a box, with the numbers and ids that commands take, and with the plans `below` its steps. With a
    `height`, only the steps around the current one and the last remarks. `closed` adds the remarks that ended.
    `session` names its session in commands."""
    inner, brief = max(width - FRAMED, 20), height is not None
    if card.is_folded and not alone and not closed:
        yield folded_line(card, width, "")
        return
    named = card.record is not None
    shown = Shown(frozenset(fresh), closed=closed)
    steps = StepLines(card, inner, now, shown, named=named, bare=brief)
    passages = Passages(card, inner, now, shown, whole=_has_title(card, inner), named=named)
    above = way_lines(card, inner) if card.above and alone else []
    above += question_lines(card, inner, now, session)
    if height is None:
        above += reason_lines(card, inner)
        body = list(woven(list(_body(card, inner, steps, passages)), card, below or {}))
        said = remark_lines(card, inner, now, shown, passages.placed, named=named)
    else:
        said = brief_lines(card, inner, now)
        body = list(_window(card, inner, steps, max(3, height - FRAME - len(above) - len(said))))
    blocks = [lines for lines in (above, body, said) if lines]
    inside = [line for number, lines in enumerate(blocks) for line in ((BLANK, *lines) if number else lines)]
    words = _past_words(card)
    words += [f"version {card.version}", f"revision {card.revision}", ago(card.changed_at, now)] if named else []
    yield from framed(_box_title(card), inside, " · ".join(words), inner + 2)


def _box_title(card: PlanCard) -> tuple[Part, ...]:
    """The title of a plan, its id for commands where that differs, and its progress."""
    title = one_line(card.title)
    name = f"  {one_line(card.own_name)}" if card.own_name not in ("", card.subtitle) else ""
    return (title, "strong"), (name, "muted"), *_far(card, BAR, "/")


def _window(card: PlanCard, width: int, steps: StepLines, height: int) -> Iterator[Line]:
    """As much of a plan as fits: the steps around the current one, or the beginning of a text."""
    rows, focus = card.rows, card.focus
    if not rows:
        lines = list(_body(card, width, steps))
        more = Line(((f"  … {len(lines) - height + 1} more lines: planwire show", "muted"),))
        yield from lines if len(lines) <= height else (*lines[: height - 1], more)
        return
    middle = rows.index(focus) if focus else len(rows)
    first = max(0, min(middle - height // 3, len(rows) - height))
    last = min(first + height, len(rows))
    yield from _left_out(rows[:first])
    yield from (line for row in rows[first:last] for line in steps.of(row))
    yield from _left_out(rows[last:])


def _left_out(rows: Sequence[StepRow]) -> Iterator[Line]:
    if rows:
        yield Line(((f"  ⋮ {len(rows)} more, {sum(row.is_done for row in rows)} done", "muted"),))
