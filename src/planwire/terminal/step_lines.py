"""Steps as lines: sign and words, with suggestions drawn in place, then the remarks on the step; and ghosts: steps that
people suggest, at the places where they are to go.

A suggestion never looks as if the agent had said it: it has signs of its own, and says whose it is. A suggested status
is a hollow sign, a suggested wording stands below the agent's, which is struck through.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, NamedTuple

from msgspec import Struct
from rich.cells import cell_len

from planwire.readmodel.annotations import SuggestedChange
from planwire.readmodel.card import STATUS_WORDS, Ghost, PlanCard, PlanId, Step, StepRow, status_look
from planwire.readmodel.in_sight import fold_words, in_runs
from planwire.readmodel.plain_text import one_line
from planwire.steering.wanted import Comment
from planwire.terminal.lines import GUTTER, Line, Part, Row, cut, hanging, text_look, wrapped
from planwire.terminal.prose import INDENT
from planwire.terminal.remark_words import remark_parts, suggestion_whose
from planwire.terminal.rows import FOLD, REMARK, STEP

#: The sign before a step chosen to run, the one of a suggestion, and the one of a comment that is not sent yet.
MARK: Final = "▸"
STAR: Final = "☆"
DRAFT: Final = "✎"
#: The sign before a step that was just removed.
GONE: Final = "✗"
#: Nesting beyond this depth has no deeper indent.
DEEPEST: Final = 8
#: The most characters of a tag for a suggestion.
TAG: Final = 48

_LOOKS: Final = [status_look(word) for word in STATUS_WORDS]
#: The hollow sign for each suggested status, by its look, and the looks by the words that people read.
_HOLLOW: Final = {"pending": "◌", "current": "▷", "done": "✓", "cancelled": "×"}
_BY_WORD: Final = {each.word: each.look for each in _LOOKS}
_SIGNS: Final = {"move": "↕ ", "remove": "✗ "}
_UNSENT: Final = "in your review, not sent yet"


class Shown(Struct, frozen=True):
    """What stands out in a plan on a screen, and what is in sight at all.

    `fresh` are steps to point at, `marked` the chosen ones. Runs of finished steps fold, except those to `unfold`; None
    means that nothing folds, as there is no cursor to unfold it with. `drafts` are comments that go with a review.
    `closed`: show the closed remarks; `whole`: show all of a plan that has ended. `gone` are steps that were just
    removed, each with the step that it stood behind.
    """

    fresh: frozenset[str] = frozenset()
    marked: frozenset[str] = frozenset()
    unfold: frozenset[str] | None = None
    drafts: tuple[Comment, ...] = ()
    closed: bool = False
    whole: bool = False
    gone: tuple[tuple[str, Step], ...] = ()


def step_parts(row: StepRow) -> tuple[Part, Part, list[Part]]:
    """A step's sign, its words, and tags for everything out of the ordinary."""
    tags = [
        (f"{MARK} {tag.text}" if tag.kind == "to_run" else one_line(tag.text), tag.kind if row.is_open else "muted")
        for tag in row.tags
    ]
    return (f"{row.sign} ", row.look), (one_line(row.text), text_look(row.look)), tags


def draft_parts(draft: Comment, indent: int, width: int) -> Iterator[tuple[Part, ...]]:
    """A comment that waits to be sent with its review."""
    return hanging((f"{' ' * indent}{DRAFT} ", "mark"), one_line(draft.text), "ghost", _UNSENT, width)


class _Over(NamedTuple):
    """What people suggest for a step, drawn over it: another sign, another look of its words, tags after them, and
    lines below them."""

    sign: Part | None = None
    look: str = ""
    tags: tuple[Part, ...] = ()
    below: tuple[tuple[Part, ...], ...] = ()


@dataclass
class StepLines:
    """The lines of every step of a plan, each with the steps suggested after it. In print, `named` adds the numbers and
    ids that commands take; `bare` leaves out suggestions and remarks."""

    card: PlanCard
    width: int
    now: int
    shown: Shown = field(default_factory=Shown)
    named: bool = False
    bare: bool = False

    def __post_init__(self) -> None:
        rows = self.card.rows
        wide = len(str(len(rows)))
        ids = max((len(row.id) for row in rows), default=0)
        self._names = {row.id: f" {at:>{wide}} {row.id:<{ids}}" for at, row in enumerate(rows, 1)}
        self._names = self._names if self.named else {}
        self._margin = wide + ids + 2 if self.named and rows else 0
        self._ghosts: dict[str, tuple[Line, ...]] = {}
        for ghost in () if self.bare else (*self.card.ghosts, *self.card.moved):
            self._ghosts[ghost.behind] = (*self._ghosts.get(ghost.behind, ()), *self._ghost(ghost))
        for behind, step in self.shown.gone:
            start = (f"{' ' * (self._margin + _column(step.depth))}{GONE} ", "removed")
            lines = hanging(start, one_line(step.content), "struck muted", "removed", self.width)
            self._ghosts[behind] = (*self._ghosts.get(behind, ()), *map(Line, lines))

    def _ghost(self, ghost: Ghost) -> Iterator[Line]:
        row: Row = (REMARK, self.card.id, ghost.change.suggestion, ghost.change.number)
        moved = self.card.row(ghost.step)
        text, what = (moved.text, "moves here") if moved else (ghost.change.text, "new step")
        start = (f"{' ' * (self._margin + _column(ghost.depth))}{STAR} ", "suggestion")
        whose = f"{what} · {suggestion_whose(ghost.change, self.now, named=self.named)}"
        return (Line(parts, "", row) for parts in hanging(start, one_line(text), "ghost", whose, self.width))

    def of_all(self) -> Iterator[Line]:
        """The lines of all steps."""
        rows = self.card.rows
        drafts = {each.step for each in self.shown.drafts if each.step}
        apart = {*(self.shown.unfold or ()), *self.shown.fresh, *self.shown.marked, *self._ghosts, *drafts}
        apart |= {row.id for row in rows[:1] if "" in self._ghosts}
        for is_folded, places in in_runs([None if row.id in apart else row for row in rows]):
            run = rows[places.start : places.stop]
            if is_folded and self.shown.unfold is not None:
                yield self._fold(run)
            else:
                yield from (line for row in run for line in self.of(row))

    def _fold(self, rows: Sequence[StepRow]) -> Line:
        first = rows[0]
        sign, words = (f"{' ' * INDENT}{first.sign} ", first.look), (fold_words(rows), text_look(first.look))
        parts = cut((sign, words, ("   Enter shows them", "muted")), self.width)
        return Line(parts, "", (FOLD, self.card.id, first.id))

    def of(self, row: StepRow) -> tuple[Line, ...]:
        """The lines of a step, and of the suggested steps before and after it."""
        more: tuple[Part, ...] = (("●", "fresh"),) if row.id in self.shown.fresh else ()
        name = self._names.get(row.id, "")
        over = _Over() if self.bare else self._over(row, len(name) + sign_column(row) + INDENT)
        lines = _step_lines(self.card.id, row, self.width, name, row.id in self.shown.marked, more, over)
        if not self._ghosts:
            return lines
        first = self._ghosts.get("", ()) if row.id == self.card.rows[0].id else ()
        return (*first, *lines, *self._ghosts.get(row.id, ()))

    def of_none(self) -> tuple[Line, ...]:
        """The suggested steps of a plan that has none."""
        return tuple(line for lines in self._ghosts.values() for line in lines)

    def _over(self, row: StepRow, indent: int) -> _Over:
        sign, look, margin = None, "", " " * indent
        tags: list[Part] = []
        below: list[tuple[Part, ...]] = []
        for change in row.suggestions:
            whose = suggestion_whose(change, self.now, named=self.named)
            match change.kind:
                case "reword":
                    look = "struck muted"
                    below += hanging(
                        (f"{margin}{STAR} → ", "suggestion"), one_line(change.text), "ghost", whose, self.width
                    )
                    continue
                case "remove":
                    look = "struck muted"
                case "move":
                    look = look or "muted"
                case "status" if not self.named:  # print may have no colours: there the agent's own sign stays
                    sign = _hollow(change, row)
            tags = tags[:-1] if tags and tags[-1][0] == whose else tags  # once for both
            tags += [(f"{STAR} {self._suggested(change, row)}", "suggestion"), (whose, "muted")]
        for remark in row.remarks:
            start = (f"{margin}› ", "note")
            below += remark_parts(start, remark, self.now, self.width, quotes=False, named=self.named)
        for draft in (each for each in self.shown.drafts if each.step == row.id):
            below += draft_parts(draft, indent, self.width)
        return _Over(sign, look, tuple(tags), tuple(below))

    def _suggested(self, change: SuggestedChange, row: StepRow) -> str:
        """A change in a word or two. A step that moves has a ghost at its new place."""
        ghosts = (each for each in self.card.moved if each.step == row.id and each.change == change)
        ghost = next(ghosts, None)
        if ghost is not None:
            ids = [each.id for each in self.card.rows]
            is_up = not ghost.behind or ids.index(ghost.behind) < ids.index(row.id)
            return f"{'↑' if is_up else '↓'} moves"
        return f"{_SIGNS.get(change.kind, '')}{one_line(change.text, TAG)}"


def _hollow(change: SuggestedChange, row: StepRow) -> Part:
    return f"{_HOLLOW.get(_BY_WORD.get(change.text, ''), row.sign)} ", "suggestion"


def sign_column(row: StepRow) -> int:
    """The column of a step's sign on a screen."""
    return _column(row.depth)


def _column(depth: int) -> int:
    return INDENT + min(depth, DEEPEST) * INDENT


@lru_cache(maxsize=16_384)
def _step_lines(
    plan_id: PlanId, row: StepRow, width: int, name: str, marked: bool, more: tuple[Part, ...], over: _Over
) -> tuple[Line, ...]:
    sign, words, tags = step_parts(row)
    look = over.look or words[1]
    column = sign_column(row)
    margin = len(name) + column
    room = max(width - margin - 3, 8)
    lines: list[tuple[Part, ...]] = []
    texts = wrapped(words[0], room)
    for number, text in enumerate(texts):
        mark: Part = (f"{MARK:<{column}}", "mark") if marked else (" " * column, "")
        before: tuple[Part, ...] = ((" " * margin, ""),) if number else (*(((name, "muted"),) if name else ()), mark)
        lines.append((*before, GUTTER if number else over.sign or sign, (text, look)))
    for text, tag in (*tags, *more, *over.tags):
        if sum(cell_len(each) for each, _ in lines[-1]) + cell_len(text) + 2 >= width:
            rest = enumerate(wrapped(text, room))
            lines += [((" " * margin, ""), GUTTER if number else ("  ", ""), (line, tag)) for number, line in rest]
        else:
            lines[-1] += (("  ", ""), (text, tag))
    key = (STEP, plan_id, row.id)
    shown = enumerate((*lines, *over.below))
    return tuple(Line(parts, "", key, texts[at] if at < len(texts) else "") for at, parts in shown)
