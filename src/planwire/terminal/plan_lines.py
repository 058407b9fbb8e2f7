"""A plan as lines: how far it is, remarks on it, and its steps or its text; on a screen, or in a box for print."""

from collections.abc import Collection, Iterator, Sequence
from typing import Final

import msgspec
from rich.cells import cell_len

from planwire.model.fold import PlanRecord
from planwire.model.kinds import content_of, is_blank, kind_of, noun_of, text_of
from planwire.model.plan import Plan
from planwire.model.steps import PlanState, Progress, Step
from planwire.readmodel.history import plan_name
from planwire.readmodel.plain_text import one_line, printable
from planwire.terminal.lines import BLANK, Line, Part, between, fitted, folded, framed, progress_bar, wrapped
from planwire.terminal.plan_card import PLAN, Card, ago
from planwire.terminal.plan_remarks import printed_remarks, question_lines, remark_lines
from planwire.terminal.prose import INDENT, LONGEST, prose_lines, woven_lines
from planwire.terminal.step_lines import StepLines

__all__ = ["boxed_lines", "card_lines", "progress_parts"]

#: A text with tasks that is longer than this appears as its steps alone.
LONG_TEXT: Final = 20_000
#: Lines for the fields of a plan of an unknown kind.
MOST_FIELDS: Final = 200
#: Remarks on a plan where room is short, and the lines of its box.
BRIEF: Final = 2
FRAME: Final = 3


def card_lines(
    card: Card, width: int, now: int, fresh: frozenset[str] = frozenset(), marked: frozenset[str] = frozenset()
) -> Iterator[Line]:
    """All the lines of a plan on a screen. `fresh` are steps to point at, `marked` the chosen ones."""
    yield _head_line(card, width, now)
    words = [*question_lines(card, width, now), *remark_lines(card, width, now)]
    if words:
        yield from words
        yield BLANK
    yield from _body(card, width, StepLines(card, width, now, fresh, marked), LONGEST)


def _head_line(card: Card, width: int, now: int) -> Line:
    """Its name, how far it is, and how often and when it changed: the line that stays in sight."""
    progress = card.state.progress
    parts: tuple[Part, ...] = ()
    if card.state.steps:
        share = 100 * progress.done // progress.total if progress.total else 100
        number = f"  {progress.done:,} / {progress.total:,}"
        parts = (
            ("  ", ""),
            *progress_bar(progress.done, progress.total, 24 if width >= 90 else 10),
            (number, "strong"),
        )
        parts += ((f"  {share} %", "muted"),) if width >= 50 else ()
        if progress.cancelled:
            parts += ((f"  {progress.cancelled:,} cancelled", "muted"),)
    else:
        parts = ((f"  {_noun(card.state, is_file=card.uri is not None)}", "muted"),)
    room = width - 2 - sum(cell_len(text) for text, _ in parts)
    name = (f" {fitted(one_line(plan_name(card.id)) or '(no name)', max(room, 8))}", "strong")
    return Line(between((name, *parts), _numbers(card, now), width - 1), "head", (PLAN, card.id))


def _noun(state: PlanState, *, is_file: bool = False) -> str:
    """What to call a plan without steps."""
    return "file" if is_file else "empty" if is_blank(state.plan) else one_line(noun_of(state.plan))


def _numbers(card: Card, now: int) -> tuple[Part, ...]:
    record = card.record
    if record is None:
        return ()
    words = ["removed"] if record.removed else []
    words += [one_line(record.mode)] if record.mode else []
    words += [f"version {record.version}"] if record.version > 1 else []
    return ((f"  {' · '.join([*words, ago(record.changed_at, now)])}", "muted"),)


def _body(card: Card, width: int, steps: StepLines, longest: int | None) -> Iterator[Line]:
    """The steps of a plan, within its text if it is one. `longest` bounds the characters of a text."""
    plan, all_steps = card.state.plan, card.state.steps
    kind, text = kind_of(plan), text_of(plan)
    if card.problem is not None:
        yield from (Line((("  ", ""), (line, "odd"))) for line in wrapped(one_line(card.problem), max(width - 3, 10)))
    elif not kind.has_editable_steps:
        yield from _fields(plan, width, longest)
    elif not text.strip() or (all_steps and len(text) > LONG_TEXT):
        yield from (line for step in all_steps for line in steps.of(step))
    elif all_steps:
        yield from woven_lines(text, all_steps, width - 1, steps.of)
    else:
        yield from prose_lines(text, width - 1, INDENT, longest)
    suggested = steps.of_none() if not all_steps else ()
    if suggested:
        yield from (BLANK, *suggested) if text else suggested
    elif is_blank(plan):
        yield Line((("  nothing on the list", "muted"),))


def _fields(plan: Plan, width: int, longest: int | None) -> Iterator[Line]:
    """The address of a file, or the fields of a plan of an unknown kind, as JSON."""
    if kind_of(plan).field is not None:
        lines, look = [one_line(text_of(plan))], "note"
    else:
        text = msgspec.json.format(msgspec.json.encode(content_of(plan)), indent=2).decode()
        lines, look = printable(text).split("\n"), "code"
    for line in lines[: MOST_FIELDS if longest is not None else None]:
        yield from folded(Line((("  ", ""), (line, look))), width - 1)


# -- in print


def progress_parts(progress: Progress) -> tuple[Part, ...]:
    """A bar, and how many steps are done."""
    number: Part = (f"  {progress.done}/{progress.total}", "strong")
    return ("  ", ""), *progress_bar(progress.done, progress.total, 24), number


def boxed_lines(
    card: Card, width: int, now: int, fresh: Collection[str] = (), height: int | None = None
) -> Iterator[Line]:
    """A plan in a box: its steps, then the remarks on it. With a `height`, the steps around the current one come first
    and only the last remarks follow."""
    state, record, inner = card.state, card.record, max(width - 2, 20)
    bare = Card(state, stopped=card.stopped)  # the remarks below tell its suggestions
    steps = StepLines(bare, inner, now, frozenset(fresh))
    said = printed_remarks(record, inner - 1, now, None if height is None else BRIEF) if record else []
    why = [Line(((f"  {line}", "emphasis"),)) for line in printable((record and record.summary) or "").splitlines()]
    above = [line for each in why for line in folded(each, inner - 1)]
    if height is None:
        body = list(_body(bare, inner, steps, None))
    else:
        body = list(_window(bare, inner, steps, max(3, height - FRAME - bool(above) - len(above) - len(said))))
    lines = [*above, *([BLANK] if above else []), *body, *([BLANK] if said else []), *said]
    yield from framed(_title(state), lines, _footer(record, now) if record else "", inner + 2)


def _title(state: PlanState) -> tuple[Part, ...]:
    name: Part = (one_line(plan_name(state.plan.id)), "strong")
    if not state.steps:
        return name, (f"  {_noun(state)}", "muted")
    cancelled = state.progress.cancelled
    return name, *progress_parts(state.progress), (f"  {cancelled} cancelled" if cancelled else "", "muted")


def _footer(record: PlanRecord, now: int) -> str:
    words = [f"version {record.version}", f"revision {record.revision}", ago(record.changed_at, now)]
    return " · ".join(["removed", *words] if record.removed else words)


def _window(card: Card, width: int, steps: StepLines, height: int) -> Iterator[Line]:
    """As much of a plan as fits: the steps around the current one, or the beginning of a text."""
    every = card.state.steps
    if not every:
        lines = list(_body(card, width, steps, LONGEST))
        yield from lines if len(lines) <= height else (*lines[: height - 1], Line((("  …", "muted"),)))
        return
    current = next((at for at, step in enumerate(every) if step.is_current), None)
    middle = current if current is not None else next((at for at, step in enumerate(every) if step.is_open), len(every))
    first = max(0, min(middle - height // 3, len(every) - height))
    last = min(first + height, len(every))
    yield from _left_out(every[:first])
    yield from (line for step in every[first:last] for line in steps.of(step))
    yield from _left_out(every[last:])


def _left_out(steps: Sequence[Step]) -> Iterator[Line]:
    if steps:
        yield Line(((f"  ⋮ {len(steps)} more, {Progress.of(steps).done} done", "muted"),))
