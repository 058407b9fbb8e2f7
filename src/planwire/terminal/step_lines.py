"""Steps as lines: sign and words, then suggestions for the step and remarks on it; and new steps that people suggest.

A suggestion never looks as if the agent had said it: it has a sign of its own, and says whose it is.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from rich.cells import cell_len

from planwire.readmodel.annotations import SuggestedChange
from planwire.readmodel.card import PlanCard, PlanId, StepRow
from planwire.readmodel.in_sight import fold_words, in_runs
from planwire.readmodel.plain_text import one_line
from planwire.terminal.lines import Line, Part, cut, fitted, hanging, text_look, wrapped
from planwire.terminal.prose import INDENT
from planwire.terminal.rows import FOLD, STEP, SUGGESTION, origin

__all__ = ["StepLines", "sign_column", "step_parts"]

#: The sign before a step chosen to run, and the one of a suggestion.
MARK: Final = "▸"
STAR: Final = "☆"
#: Nesting beyond this depth has no deeper indent.
DEEPEST: Final = 8

_SUGGESTED: Final = {"reword": "→ ", "status": "→ ", "priority": "→ ", "move": "↕ ", "remove": "✗ "}


def step_parts(row: StepRow) -> tuple[Part, Part, list[Part]]:
    """A step's sign, its words, and tags for everything out of the ordinary."""
    tags = [
        (f"{MARK} {tag.text}" if tag.kind == "to_run" else one_line(tag.text), tag.kind if row.is_open else "muted")
        for tag in row.tags
    ]
    return (f"{row.sign} ", row.look), (one_line(row.text), text_look(row.look)), tags


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
    `marked` the chosen ones. Runs of finished steps fold, but for those to `unfold`; where that is None, none does. In
    print, steps and suggestions are `numbered`, for commands to name; `bare` steps have only themselves."""

    card: PlanCard
    width: int
    now: int
    fresh: frozenset[str] = frozenset()
    marked: frozenset[str] = frozenset()
    unfold: frozenset[str] | None = None
    numbered: bool = False
    bare: bool = False

    def __post_init__(self) -> None:
        rows = self.card.rows
        wide = len(str(len(rows)))
        ids = max((len(row.id) for row in rows), default=0)
        self._names = {row.id: f" {at:>{wide}} {row.id:<{ids}}" for at, row in enumerate(rows, 1)}
        self._names = self._names if self.numbered else {}
        self._margin = wide + ids + 2 if self.numbered and rows else 0
        self._ghosts: dict[str, tuple[Line, ...]] = {}
        for ghost in () if self.bare else self.card.ghosts:
            key = (SUGGESTION, self.card.id, ghost.change.suggestion, ghost.change.number)
            whose = f"new step, {self._whose(ghost.change)}"
            said = _Said(STAR, "suggestion", one_line(ghost.change.text), "ghost", whose)
            lines = (Line(parts, "", key) for parts in said.lines(self._margin + _column(ghost.depth), self.width))
            self._ghosts[ghost.behind] = (*self._ghosts.get(ghost.behind, ()), *lines)

    def of_all(self) -> Iterator[Line]:
        """The lines of all steps."""
        rows = self.card.rows
        apart = {*(self.unfold or ()), *self.fresh, *self.marked, *self._ghosts}
        apart |= {row.id for row in rows[:1] if "" in self._ghosts}
        for is_folded, places in in_runs([None if row.id in apart else row for row in rows]):
            run = rows[places.start : places.stop]
            if is_folded and self.unfold is not None:
                yield self._fold(run)
            else:
                yield from (line for row in run for line in self.of(row))

    def _fold(self, rows: Sequence[StepRow]) -> Line:
        first = rows[0]
        sign, words = (f"{' ' * INDENT}{first.sign} ", first.look), (fold_words(rows), text_look(first.look))
        parts = cut((sign, words, ("   Enter shows them", "muted")), self.width)
        return Line(parts, "", (FOLD, self.card.id, first.id))

    def of(self, row: StepRow) -> tuple[Line, ...]:
        """The lines of a step, and of the suggested steps before and behind it."""
        more: tuple[Part, ...] = (("●", "fresh"),) if row.id in self.fresh else ()
        under = () if self.bare else tuple(self._under(row))
        name = self._names.get(row.id, "")
        lines = _step_lines(self.card.id, row, self.width, name, row.id in self.marked, more, under)
        if not self._ghosts:
            return lines
        first = self._ghosts.get("", ()) if row is self.card.rows[0] else ()
        return (*first, *lines, *self._ghosts.get(row.id, ()))

    def of_none(self) -> tuple[Line, ...]:
        """The suggested steps of a plan that has none."""
        return tuple(line for lines in self._ghosts.values() for line in lines)

    def _under(self, row: StepRow) -> Iterator[_Said]:
        for suggested in row.suggestions:
            text = f"{_SUGGESTED.get(suggested.kind, '')}{one_line(suggested.text)}"
            yield _Said(STAR, "suggestion", text, "suggestion", self._whose(suggested))
        for remark in row.remarks:
            yield _Said("›", "note", one_line(remark.text), "", origin(remark.by, remark.at, self.now))

    def _whose(self, suggested: SuggestedChange) -> str:
        whose = origin(suggested.by, suggested.at, self.now)
        number = f"suggestion {suggested.suggestion}, " if self.numbered else ""
        return f"{number}“{one_line(suggested.note)}” {whose}" if suggested.note else f"{number}{whose}"


def sign_column(row: StepRow) -> int:
    """The column of a step's sign on a screen."""
    return _column(row.depth)


def _column(depth: int) -> int:
    return INDENT + min(depth, DEEPEST) * INDENT


@lru_cache(maxsize=16_384)
def _step_lines(
    plan_id: PlanId,
    row: StepRow,
    width: int,
    name: str,
    marked: bool,
    more: tuple[Part, ...],
    under: tuple[_Said, ...],
) -> tuple[Line, ...]:
    sign, words, tags = step_parts(row)
    column = sign_column(row)
    margin = len(name) + column
    room = max(width - margin - 3, 8)
    lines: list[tuple[Part, ...]] = []
    for number, text in enumerate(wrapped(words[0], room)):
        mark: Part = (f"{MARK:<{column}}", "mark") if marked else (" " * column, "")
        before: tuple[Part, ...] = ((" " * margin, ""),) if number else (*(((name, "muted"),) if name else ()), mark)
        lines.append((*before, sign if not number else ("  ", ""), (text, words[1])))
    for text, tag in (*tags, *more):
        if sum(cell_len(each) for each, _ in lines[-1]) + cell_len(text) + 2 >= width:
            lines.append(((" " * (margin + 2), ""), (fitted(text, room), tag)))
        else:
            lines[-1] += (("  ", ""), (text, tag))
    for remark in under:
        lines += remark.lines(margin + INDENT, width)
    key = (STEP, plan_id, row.id)
    return tuple(Line(parts, "", key) for parts in lines)
