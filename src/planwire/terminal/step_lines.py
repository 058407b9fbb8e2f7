"""Steps as lines: a sign and words, then what is wished for the step and was said of it; new steps that are wished.

A wish is never shown as if the agent had said it: it has a sign of its own, and says whose it is.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from rich.cells import cell_len

from planwire.model.events import COMMENTED
from planwire.model.fold import PlanRecord
from planwire.model.plan import PlanId
from planwire.model.statuses import CANCELLED, COMPLETED, IN_PROGRESS, PENDING, meaning
from planwire.model.steps import Step
from planwire.readmodel.annotations import Annotations, Remark, WishedChange, annotations
from planwire.readmodel.plain_text import one_line
from planwire.terminal.lines import Line, Part, fitted, wrapped
from planwire.terminal.plan_card import Card, Row, origin, step_row, wish_row
from planwire.terminal.prose import INDENT

__all__ = ["MARK", "StepLines", "sign_column"]

#: The sign before a step that was chosen to be run, and the one of a wish.
MARK: Final = "▸"
WISH: Final = "☆"
DEEPEST: Final = 8

_SIGNS: Final = {
    PENDING: ("○", "muted", "open"),
    IN_PROGRESS: ("▶", "current", "current"),
    COMPLETED: ("✔", "done", "muted"),
    CANCELLED: ("✗", "low", "cancelled"),
}
_STOPPED: Final = ("■", "stopped", "stopped")
_ODD: Final = ("?", "odd", "open")
_OVER: Final = (COMPLETED, CANCELLED)
_WISHED: Final = {"reword": "→ ", "status": "→ ", "move": "↕ ", "remove": "✗ "}


class _Under(NamedTuple):
    """Words below a step."""

    sign: str
    sign_look: str
    text: str
    look: str
    origin: str


class StepLines:
    """The lines of every step of a plan, each with the new steps that are wished behind it."""

    def __init__(
        self,
        card: Card,
        width: int,
        now: int,
        fresh: frozenset[str] = frozenset(),
        marked: frozenset[str] = frozenset(),
    ) -> None:
        self._card = card
        self._width = width
        self._now = now
        self._fresh = fresh
        self._marked = marked
        record = card.record
        self._over = annotations(record) if record and (record.wishes or record.reviews) else Annotations()
        self._to_run = frozenset(_to_run(record))
        self._notes = {wish.seq: (wish.note, wish.at) for wish in record.wishes} if record else {}
        self._ghosts = self._places()

    def of(self, step: Step) -> tuple[Line, ...]:
        """The lines of a step, and of all that is wished to stand before or behind it."""
        fresh, marked = step.id in self._fresh, step.id in self._marked
        run = step.id in self._to_run and meaning(step.status) not in _OVER
        under = tuple(self._under(step.id))
        lines = _step_lines(self._card.id, step, self._width, self._card.stopped, fresh, marked, run, under)
        if not self._ghosts:
            return lines
        first = self._ghosts.get("", ()) if step is self._card.state.steps[0] else ()
        return (*first, *lines, *self._ghosts.get(step.id, ()))

    def of_none(self) -> tuple[Line, ...]:
        """New steps that are wished for a plan without any."""
        return tuple(line for lines in self._ghosts.values() for line in lines)

    def _under(self, step: str) -> Iterator[_Under]:
        for wished in self._over.steps.get(step, ()):
            text = f"{_WISHED.get(wished.kind, '')}{one_line(wished.text)}"
            yield _Under(WISH, "wish", text, "wish", self._whose(wished))
        for remark in self._over.remarks.get(step, ()):
            yield _Under("›", "odd", one_line(remark.text), "", _said_by(remark, self._now))

    def _whose(self, wished: WishedChange) -> str:
        note, at = self._notes[wished.wish]
        whose = origin(wished.by, at, self._now)
        return f"“{one_line(note)}” {whose}" if note else whose

    def _places(self) -> dict[str, tuple[Line, ...]]:
        """The lines of new steps, by the step that they follow; "" is the beginning."""
        steps = self._card.state.steps
        places = {step.id: place for place, step in enumerate(steps)} if self._over.added else {}
        ghosts: dict[str, tuple[Line, ...]] = {}
        for number, (after, wished) in enumerate(self._over.added):
            at = len(steps) - 1 if after is None else places[after] if after else -1
            depth = steps[at].depth if after else 0
            while after and at + 1 < len(steps) and steps[at + 1].depth > depth:  # behind all that is nested in it
                at += 1
            row = wish_row(self._card.id, wished.wish, number)
            lines = _ghost_lines(row, depth, wished, self._whose(wished), self._width)
            key = steps[at].id if at >= 0 else ""
            ghosts[key] = (*ghosts.get(key, ()), *lines)
        return ghosts


def sign_column(step: Step) -> int:
    """Where the sign of a step stands."""
    return INDENT + min(step.depth, DEEPEST) * INDENT


def _to_run(record: PlanRecord | None) -> tuple[str, ...]:
    """The steps that were chosen last."""
    verdicts = [each for each in record.reviews if each.verdict != COMMENTED] if record else []
    return (verdicts[-1].selected or ()) if verdicts else ()


def _said_by(remark: Remark, now: int) -> str:
    return origin(remark.by, remark.at, now)


@lru_cache(maxsize=16_384)
def _step_lines(
    plan_id: PlanId,
    step: Step,
    width: int,
    stopped: bool,
    fresh: bool,
    marked: bool,
    run: bool,
    under: tuple[_Under, ...],
) -> tuple[Line, ...]:
    known = meaning(step.status)
    sign, sign_look, look = _SIGNS.get(known or "", _ODD)
    tags: list[Part] = [(one_line(step.priority), _priority_look(step.priority))] if step.priority != "medium" else []
    if known is None:
        tags.append((one_line(step.status), "odd"))
    if stopped and known == IN_PROGRESS:
        (sign, sign_look, look) = _STOPPED
        tags.append(("stopped", "stopped"))
    if run:
        tags.append((f"{MARK} to run", "waiting"))
    if fresh:
        tags.append(("●", "fresh"))
    indent = sign_column(step)
    room = max(width - indent - 3, 8)
    lines: list[tuple[Part, ...]] = []
    for number, text in enumerate(wrapped(one_line(step.content), room)):
        start: Part = (f"{sign} " if not number else "  ", sign_look)
        before: Part = (f"{MARK:<{indent}}", "mark") if marked and not number else (" " * indent, "")
        lines.append((before, start, (text, look)))
    for text, tag in tags:
        if sum(cell_len(each) for each, _ in lines[-1]) + cell_len(text) + 2 >= width:
            lines.append(((" " * (indent + 2), ""), (fitted(text, room), tag)))
        else:
            lines[-1] += (("  ", ""), (text, tag))
    for words in under:
        lines += _said_lines(words, indent + INDENT, width)
    row = step_row(plan_id, step.id)
    return tuple(Line(parts, "", row) for parts in lines)


def _ghost_lines(row: Row, depth: int, wished: WishedChange, whose: str, width: int) -> list[Line]:
    indent = INDENT + min(depth, DEEPEST) * INDENT
    words = _Under(WISH, "wish", one_line(wished.text), "ghost", f"new step, {whose}")
    return [Line(parts, "", row) for parts in _said_lines(words, indent, width)]


def _said_lines(words: _Under, indent: int, width: int) -> Iterator[tuple[Part, ...]]:
    room = max(width - indent - 3, 8)
    lines = wrapped(words.text, room)
    for number, text in enumerate(lines):
        start: Part = (f"{words.sign} " if not number else "  ", words.sign_look)
        parts: tuple[Part, ...] = ((" " * indent, ""), start, (text, words.look))
        if number < len(lines) - 1:
            yield parts
        elif cell_len(text) + cell_len(words.origin) + 3 <= room:
            yield (*parts, (f"   {words.origin}", "muted"))
        else:
            yield parts
            yield (" " * (indent + 2), ""), (fitted(words.origin, room), "muted")


def _priority_look(priority: str) -> str:
    return {"high": "high", "low": "low"}.get(priority, "odd")
