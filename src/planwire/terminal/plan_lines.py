"""A plan as lines: how far it is, what was said of it, and its steps or its text."""

from collections.abc import Iterator
from typing import Final

import msgspec
from rich.cells import cell_len

from planwire.model.plan import FilePlan, MarkdownPlan, OtherPlan
from planwire.readmodel.history import plan_name
from planwire.readmodel.plain_text import one_line, printable
from planwire.terminal.lines import BLANK, Line, Part, between, fitted, progress_bar, wrapped
from planwire.terminal.plan_card import Card, ago, plan_row
from planwire.terminal.plan_remarks import asked_lines, word_lines
from planwire.terminal.prose import INDENT, prose_lines, woven_lines
from planwire.terminal.step_lines import StepLines

__all__ = ["card_lines", "head_line"]

#: A text with tasks that is longer than this is shown as its steps alone.
LONG_TEXT: Final = 20_000
#: Fields of a plan of an unknown kind: so many lines of them.
MOST_FIELDS: Final = 200


def card_lines(
    card: Card, width: int, now: int, fresh: frozenset[str] = frozenset(), marked: frozenset[str] = frozenset()
) -> Iterator[Line]:
    """All the lines of a plan. `fresh` are steps to point at, `marked` those that were chosen."""
    yield head_line(card, width, now)
    words = [*asked_lines(card, width, now), *word_lines(card, width, now)]
    if words:
        yield from words
        yield BLANK
    yield from _body(card, width, StepLines(card, width, now, fresh, marked))


def head_line(card: Card, width: int, now: int) -> Line:
    """Its name, how far it is, and how often and when it changed: the line that stays in sight."""
    progress = card.state.progress
    parts: tuple[Part, ...] = ()
    if card.state.steps:
        share = round(100 * progress.done / progress.total) if progress.total else 100
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
        parts = ((f"  {_kind(card)}", "muted"),)
    room = width - 2 - sum(cell_len(text) for text, _ in parts)
    name = (f" {fitted(one_line(plan_name(card.id)) or '(no name)', max(room, 8))}", "strong")
    return Line(between((name, *parts), _numbers(card, now), width - 1), "head", plan_row(card.id))


def _kind(card: Card) -> str:
    match card.state.plan:
        case MarkdownPlan():
            return "proposal" if card.uri is None else "file"
        case OtherPlan(type=kind):
            return one_line(kind)
        case FilePlan():
            return "file"
    return "empty"


def _numbers(card: Card, now: int) -> tuple[Part, ...]:
    record = card.record
    if record is None:
        return ()
    words = ["removed"] if record.removed else []
    words += [one_line(record.mode)] if record.mode else []
    words += [f"version {record.version}"] if record.version > 1 else []
    return ((f"  {' · '.join([*words, ago(record.changed_at, now)])}", "muted"),)


def _body(card: Card, width: int, steps: StepLines) -> Iterator[Line]:
    state = card.state
    if card.problem is not None:
        yield from (Line((("  ", ""), (line, "odd"))) for line in wrapped(one_line(card.problem), max(width - 3, 10)))
        return
    match state.plan:
        case FilePlan(uri=uri):
            yield Line((("  ", ""), (fitted(one_line(uri), width - 3), "note")))
        case OtherPlan(fields=fields):
            text = printable(msgspec.json.format(msgspec.json.encode(fields), indent=2).decode())
            for line in text.split("\n")[:MOST_FIELDS]:
                yield Line((("  ", ""), (fitted(line, width - 3), "code")))
        case MarkdownPlan(content=content) if not state.steps:
            yield from prose_lines(content, width - 1, INDENT)
        case MarkdownPlan(content=content) if len(content) <= LONG_TEXT:
            yield from woven_lines(content, state.steps, width - 1, steps.of)
        case _ if not state.steps and not steps.of_none():
            yield Line((("  nothing on the list", "muted"),))
        case _:
            for step in state.steps:
                yield from steps.of(step)
    if not state.steps and (ghosts := steps.of_none()):
        yield from (BLANK, *ghosts) if isinstance(state.plan, MarkdownPlan) else ghosts
