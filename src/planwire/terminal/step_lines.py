"""Steps as lines: sign and words, then suggestions for the step and remarks on it; and new steps that people suggest.

A suggestion never looks as if the agent had said it: it has a sign of its own, and says whose it is.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from rich.cells import cell_len

from planwire.model.events import COMMENTED
from planwire.model.fold import PlanRecord
from planwire.model.plan import MEDIUM, PlanId
from planwire.model.steps import Step
from planwire.readmodel.annotations import Annotations, SuggestedChange, annotations
from planwire.readmodel.plain_text import one_line
from planwire.terminal.lines import Line, Part, fitted, hanging, text_look, wrapped
from planwire.terminal.plan_card import STEP, SUGGESTION, Card, origin
from planwire.terminal.prose import INDENT

__all__ = ["StepLines", "sign_column", "step_parts"]

#: The sign before a step chosen to run, and the one of a suggestion.
MARK: Final = "▸"
STAR: Final = "☆"
#: Nesting beyond this depth has no deeper indent.
DEEPEST: Final = 8

#: Sign and look of a step in progress whose agent stopped, and of a step with an unknown status.
_STOPPED: Final = ("■", "stopped")
_UNKNOWN: Final = ("?", "odd")
_SUGGESTED: Final = {"reword": "→ ", "status": "→ ", "move": "↕ ", "remove": "✗ "}


def step_parts(step: Step, *, stopped: bool = False) -> tuple[Part, Part, list[Part]]:
    """A step's sign, its words, and tags for everything out of the ordinary."""
    known = step.known
    sign, look = (known.sign, known.look) if known else _UNKNOWN
    tags: list[Part] = []
    if step.priority != MEDIUM:
        tags.append((one_line(step.priority), step.priority if step.priority in ("high", "low") else "odd"))
    if known is None:
        tags.append((one_line(step.status), "odd"))
    if stopped and step.is_current:
        sign, look = _STOPPED
        tags.append(("stopped", "stopped"))
    return (f"{sign} ", look), (one_line(step.content), text_look(look)), tags


class _Said(NamedTuple):
    """A suggestion for a step or a remark on it: its sign, its text, the look of both, and whose it is."""

    sign: str
    look: str
    text: str
    text_look: str
    origin: str

    def lines(self, indent: int, width: int) -> Iterator[tuple[Part, ...]]:
        return hanging((f"{' ' * indent}{self.sign} ", self.look), self.text, self.text_look, self.origin, width)


@dataclass
class StepLines:
    """The lines of every step of a plan, each with the suggested steps behind it. `fresh` are steps to point at,
    `marked` the chosen ones."""

    card: Card
    width: int
    now: int
    fresh: frozenset[str] = frozenset()
    marked: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        record = self.card.record
        self._over = annotations(record) if record and (record.suggestions or record.reviews) else Annotations()
        self._to_run = frozenset(_to_run(record))
        self._notes = (
            {suggestion.seq: (suggestion.note, suggestion.at) for suggestion in record.suggestions} if record else {}
        )
        self._ghosts = self._places()

    def of(self, step: Step) -> tuple[Line, ...]:
        """The lines of a step, and of the suggested steps before and behind it."""
        more: tuple[Part, ...] = ((f"{MARK} to run", "waiting"),) if step.id in self._to_run and step.is_open else ()
        more += (("●", "fresh"),) if step.id in self.fresh else ()
        marked, under = step.id in self.marked, tuple(self._under(step.id))
        lines = _step_lines(self.card.id, step, self.width, self.card.stopped, marked, more, under)
        if not self._ghosts:
            return lines
        first = self._ghosts.get("", ()) if step is self.card.state.steps[0] else ()
        return (*first, *lines, *self._ghosts.get(step.id, ()))

    def of_none(self) -> tuple[Line, ...]:
        """The suggested steps of a plan that has none."""
        return tuple(line for lines in self._ghosts.values() for line in lines)

    def _under(self, step: str) -> Iterator[_Said]:
        for suggested in self._over.steps.get(step, ()):
            text = f"{_SUGGESTED.get(suggested.kind, '')}{one_line(suggested.text)}"
            yield _Said(STAR, "wish", text, "wish", self._whose(suggested))
        for remark in self._over.remarks.get(step, ()):
            yield _Said("›", "odd", one_line(remark.text), "", origin(remark.by, remark.at, self.now))

    def _whose(self, suggested: SuggestedChange) -> str:
        note, at = self._notes[suggested.suggestion]
        whose = origin(suggested.by, at, self.now)
        return f"“{one_line(note)}” {whose}" if note else whose

    def _places(self) -> dict[str, tuple[Line, ...]]:
        """The lines of suggested steps, by the step that they follow; "" is the beginning."""
        steps = self.card.state.steps
        places = {step.id: place for place, step in enumerate(steps)} if self._over.added else {}
        ghosts: dict[str, tuple[Line, ...]] = {}
        for after, suggested in self._over.added:
            at = len(steps) - 1 if after is None else places[after] if after else -1
            depth = steps[at].depth if after else 0
            while after and at + 1 < len(steps) and steps[at + 1].depth > depth:  # behind all that is nested in it
                at += 1
            row = (SUGGESTION, self.card.id, suggested.suggestion, suggested.number)
            words = _Said(STAR, "wish", one_line(suggested.text), "ghost", f"new step, {self._whose(suggested)}")
            lines = (Line(parts, "", row) for parts in words.lines(_column(depth), self.width))
            key = steps[at].id if at >= 0 else ""
            ghosts[key] = (*ghosts.get(key, ()), *lines)
        return ghosts


def sign_column(step: Step) -> int:
    """The column of a step's sign."""
    return _column(step.depth)


def _column(depth: int) -> int:
    return INDENT + min(depth, DEEPEST) * INDENT


def _to_run(record: PlanRecord | None) -> tuple[str, ...]:
    """The steps that the last verdict chose."""
    verdicts = [each for each in record.reviews if each.verdict != COMMENTED] if record else []
    return (verdicts[-1].selected or ()) if verdicts else ()


@lru_cache(maxsize=16_384)
def _step_lines(
    plan_id: PlanId,
    step: Step,
    width: int,
    stopped: bool,
    marked: bool,
    more: tuple[Part, ...],
    under: tuple[_Said, ...],
) -> tuple[Line, ...]:
    sign, words, tags = step_parts(step, stopped=stopped)
    indent = sign_column(step)
    room = max(width - indent - 3, 8)
    lines: list[tuple[Part, ...]] = []
    for number, text in enumerate(wrapped(words[0], room)):
        before: Part = (f"{MARK:<{indent}}", "mark") if marked and not number else (" " * indent, "")
        lines.append((before, sign if not number else ("  ", ""), (text, words[1])))
    for text, tag in (*tags, *more):
        if sum(cell_len(each) for each, _ in lines[-1]) + cell_len(text) + 2 >= width:
            lines.append(((" " * (indent + 2), ""), (fitted(text, room), tag)))
        else:
            lines[-1] += (("  ", ""), (text, tag))
    for remark in under:
        lines += remark.lines(indent + INDENT, width)
    row = (STEP, plan_id, step.id)
    return tuple(Line(parts, "", row) for parts in lines)
