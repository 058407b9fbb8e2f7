"""A plan as lines: how far it is, why it is as it is, and its steps or its text."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

import msgspec
from msgspec import Struct
from rich.cells import cell_len

from planwire.ages import age
from planwire.events import APPROVED
from planwire.fold import PlanRecord
from planwire.moments import plan_name, wish_words
from planwire.plan import (
    CANCELLED,
    COMPLETED,
    IN_PROGRESS,
    PENDING,
    FilePlan,
    MarkdownPlan,
    OtherPlan,
    PlanId,
    meaning,
)
from planwire.safe import one_line, printable
from planwire.steps import PlanState, Step
from planwire.terminal.lines import BLANK, Line, Part, between, fitted, progress_bar, wrapped
from planwire.terminal.prose import INDENT, prose_lines, woven_lines

__all__ = ["Card", "ago", "card_lines", "head_line", "step_row"]

#: How many notes of a plan are shown, the newest; the history has them all.
NOTES: Final = 3
#: A text with tasks that is longer than this is shown as its steps alone.
LONG_TEXT: Final = 20_000
#: Fields of a plan of an unknown kind: so many lines of them.
MOST_FIELDS: Final = 200
LABEL: Final = 10
MINUTE: Final = 60_000

_SIGNS: Final = {
    PENDING: ("○", "muted", "open"),
    IN_PROGRESS: ("▶", "current", "current"),
    COMPLETED: ("✔", "done", "muted"),
    CANCELLED: ("✗", "low", "cancelled"),
}
_STOPPED: Final = ("■", "stopped", "stopped")
_ODD: Final = ("?", "odd", "open")


class Card(Struct, frozen=True):
    """A plan that is to be shown. `record` is what a journal knows of it, `said` what its author was thinking then,
    `problem` why its file can't be read; `stopped` says that nobody works on it."""

    state: PlanState
    record: PlanRecord | None = None
    stopped: bool = False
    said: str | None = None
    problem: str | None = None
    uri: str | None = None

    @property
    def id(self) -> PlanId:
        return self.state.plan.id


def card_lines(card: Card, width: int, now: int, fresh: frozenset[str] = frozenset()) -> Iterator[Line]:
    """All the lines of a plan."""
    yield head_line(card, width, now)
    why = list(_why(card, width, now))
    if why:
        yield from why
        yield BLANK
    yield from _body(card, width, fresh)


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
    return Line(between((name, *parts), _numbers(card, now), width - 1), "head", ("plan", card.id))


def step_row(plan_id: PlanId, step: str) -> tuple[object, ...]:
    """What the lines of a step are about."""
    return "step", plan_id, step


def ago(then: int, now: int) -> str:
    """When it was, without seconds: they would only fidget."""
    return "just now" if now - then < MINUTE else f"{age(then, now)} ago"


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


def _why(card: Card, width: int, now: int) -> Iterator[Line]:
    """What its author said of it, notes since, wishes of people, and the last review."""
    record = card.record
    if card.uri is not None:
        yield from _said("File", "muted", one_line(card.uri), "", width)
    if record is None:
        return
    if record.summary:
        yield from _said("Why", "note", record.summary, "", width)
    if card.said:
        yield from _said("Thinking", "muted", card.said, "", width)
    for delta in [each for each in record.deltas if each.note][-NOTES:]:
        yield from _said("Note", "note", delta.note or "", _origin(delta.by, delta.at, now), width)
    for wish in record.wishes:
        words = [word.text for word in wish_words(record.state, wish.changes)]
        text = "; ".join([*words, wish.note] if wish.note else words)
        yield from _said("Wished", "wish", text, _origin(wish.by, wish.at, now), width)
    review = record.review
    if review is not None:
        words = [review.verdict.replace("_", " ")]
        words += [f"to run: {', '.join(review.selected) or 'nothing'}"] if review.selected is not None else []
        words += [comment.text for comment in review.comments if comment.step is None]
        words += ["the plan has changed since"] if record.review_is_stale else []
        look = "done" if review.verdict == APPROVED else "odd"
        yield from _said("Review", look, " · ".join(words), _origin(review.by, review.at, now), width)


def _said(label: str, look: str, text: str, origin: str, width: int) -> Iterator[Line]:
    name = f"  {label:<{LABEL}}"
    room = max(min(width, 110) - cell_len(name) - 1, 10)
    lines = [line for each in printable(text).split("\n") if each.strip() for line in wrapped(one_line(each), room)]
    for number, line in enumerate(lines or [""]):
        parts: tuple[Part, ...] = ((name if not number else " " * cell_len(name), look), (line, ""))
        if origin and number == len(lines) - 1:
            if cell_len(line) + cell_len(origin) + 3 > room:
                yield Line(parts)
                parts = ((" " * cell_len(name), ""), (fitted(origin, room), "muted"))
            else:
                parts += ((f"   {origin}", "muted"),)
        yield Line(parts)


def _origin(by: str, at: int, now: int) -> str:
    return f"{one_line(by)}, {ago(at, now)}"


def _body(card: Card, width: int, fresh: frozenset[str]) -> Iterator[Line]:
    state = card.state
    if card.problem is not None:
        yield from (Line((("  ", ""), (line, "odd"))) for line in wrapped(one_line(card.problem), max(width - 3, 10)))
        return
    comments = _comments(card.record)

    def step_lines(step: Step) -> tuple[Line, ...]:
        return _step_lines(card.id, step, width, card.stopped, step.id in fresh, comments.get(step.id))

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
            yield from woven_lines(content, state.steps, width - 1, step_lines)
        case _ if not state.steps:
            yield Line((("  nothing on the list", "muted"),))
        case _:
            for step in state.steps:
                yield from step_lines(step)


def _comments(record: PlanRecord | None) -> dict[str, str]:
    if record is None or record.review is None:
        return {}
    return {comment.step: comment.text for comment in record.review.comments if comment.step is not None}


@lru_cache(maxsize=16_384)
def _step_lines(
    plan_id: PlanId, step: Step, width: int, stopped: bool, fresh: bool, comment: str | None
) -> tuple[Line, ...]:
    known = meaning(step.status)
    sign, sign_look, look = _SIGNS.get(known or "", _ODD)
    tags: list[Part] = [(one_line(step.priority), _priority_look(step.priority))] if step.priority != "medium" else []
    if known is None:
        tags.append((one_line(step.status), "odd"))
    if stopped and known == IN_PROGRESS:
        (sign, sign_look, look) = _STOPPED
        tags.append(("stopped", "stopped"))
    if fresh:
        tags.append(("●", "fresh"))
    indent = INDENT + min(step.depth, 8) * INDENT
    room = max(width - indent - 3, 8)
    row = step_row(plan_id, step.id)
    lines: list[tuple[Part, ...]] = []
    for number, text in enumerate(wrapped(one_line(step.content), room)):
        start: Part = (f"{sign} " if not number else "  ", sign_look)
        lines.append(((" " * indent, ""), start, (text, look)))
    for text, tag in tags:
        if sum(cell_len(each) for each, _ in lines[-1]) + cell_len(text) + 2 >= width:
            lines.append(((" " * indent, ""), (fitted(text, room), tag)))
        else:
            lines[-1] += (("  ", ""), (text, tag))
    if comment:
        words = wrapped(one_line(comment), max(room - 2, 8))
        lines += [
            ((" " * indent, ""), ("  › " if not at else "    ", "odd"), (text, "")) for at, text in enumerate(words)
        ]
    return tuple(Line(parts, "", row) for parts in lines)


def _priority_look(priority: str) -> str:
    return {"high": "high", "low": "low"}.get(priority, "odd")
