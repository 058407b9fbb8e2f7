"""Nested plans: the lines of a plan that works for a step come right after that step, indented."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, TypeAlias

from planwire.readmodel.card import PlanCard
from planwire.readmodel.plain_text import one_line
from planwire.readmodel.plan_tree import PlanNode
from planwire.terminal.lines import Line, Part, cut, folded, text_look
from planwire.terminal.rows import FOLD, PLAN, STEP

#: Cells by which a plan is indented in the one that it works for.
NEST: Final = 4
#: The least width of a plan: where an indent would make it narrower, there is none.
NARROWEST: Final = 40

#: The lines that come after the steps of a plan, by step.
Below: TypeAlias = dict[str, list[Line]]
#: Draws a plan in a width, with the lines that come after its steps.
Draw: TypeAlias = Callable[[PlanCard, int, Below], Iterable[Line]]


def nesting(card: PlanCard, width: int) -> int:
    """How many cells a plan is indented by on a screen with all plans of its session."""
    return NEST * min(card.level, max(0, (width - NARROWEST) // NEST))


def nested_lines(node: PlanNode, width: int, draw: Draw, frame: int = 0) -> list[Line]:
    """The lines of a plan and of all below it. `frame` is what the frame around a plan takes of its width."""
    indent = NEST if width - NEST >= NARROWEST else 0
    below: Below = {}
    for each in node.below:
        step = each.card.parent.step if each.card.parent else ""
        for line in nested_lines(each, width - indent - frame, draw, frame):
            fill = "" if line.fill == "head" else line.fill  # the head that stays in sight is that of the whole tree
            below.setdefault(step, []).append(Line(((" " * indent, ""), *line.parts), fill, line.row, line.words))
    return [*draw(node.card, width, below)]


def woven(lines: Sequence[Line], card: PlanCard, below: Below) -> Iterator[Line]:
    """The lines of a plan, with those that come after its steps. Where a step is not in sight, its lines come last,
    unless all are about plans that are over: these are folded with the step."""
    left = dict(below)
    for number, line in enumerate(lines):
        yield line
        row = line.row
        behind = lines[number + 1].row if number + 1 < len(lines) else None
        if left and row and row[:2] == (STEP, card.id) and behind != row:
            yield from left.pop(str(row[2]), ())
    for rest in left.values():
        yield from () if all(line.row and line.row[0] == FOLD for line in rest) else rest


def folded_line(card: PlanCard, width: int, hint: str) -> Line:
    """A plan that worked for a step and is over, in one line."""
    last = card.rows[-1]
    words: tuple[Part, ...] = (
        (f"  {last.sign} ", last.look),
        (f"{one_line(card.title)}: {card.progress}", text_look(last.look)),
        (f"   {hint}" if hint else "", "muted"),
    )
    return Line(cut(words, width), "", (FOLD, card.id, PLAN))


def way_lines(card: PlanCard, width: int) -> list[Line]:
    """Say which step a plan works for, where it is not drawn below that step."""
    return folded(Line((("  for ", "muted"), (card.works_for, "emphasis"))), width)
