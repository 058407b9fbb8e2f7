"""Plans below plans: the lines of a plan that works for a step stand right behind that step, indented."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, TypeAlias

from planwire.readmodel.card import PlanCard
from planwire.readmodel.plain_text import one_line
from planwire.readmodel.plan_tree import PlanNode
from planwire.terminal.lines import Line, Part, cut, text_look
from planwire.terminal.rows import FOLD, PLAN, STEP

__all__ = ["Below", "folded_line", "nested_lines", "nesting", "way_line", "woven"]

#: Cells by which a plan is indented in the one that it works for.
NEST: Final = 4
#: The least width of a plan: deeper ones are not indented any more.
NARROWEST: Final = 40

#: The lines that stand behind a step of a plan, by the step.
Below: TypeAlias = dict[str, list[Line]]
#: Draws a plan in a width, with the lines that stand behind its steps.
Draw: TypeAlias = Callable[[PlanCard, int, Below], Iterable[Line]]


def nesting(card: PlanCard, width: int) -> int:
    """The cells by which a plan is indented on a screen that has all plans of its session."""
    return NEST * min(card.level, max(0, (width - NARROWEST) // NEST))


def nested_lines(node: PlanNode, width: int, draw: Draw, frame: int = 0) -> list[Line]:
    """The lines of a plan and of all below it. `frame` is what the frame around a plan takes of its width."""
    indent = NEST if width - NEST >= NARROWEST else 0
    below: Below = {}
    for each in node.below:
        step = each.card.parent.step if each.card.parent else ""
        for line in nested_lines(each, width - indent - frame, draw, frame):
            fill = "" if line.fill == "head" else line.fill  # the head that stays in sight is that of the whole tree
            below.setdefault(step, []).append(Line(((" " * indent, ""), *line.parts), fill, line.row))
    return [*draw(node.card, width, below)]


def woven(lines: Sequence[Line], card: PlanCard, below: Below) -> Iterator[Line]:
    """The lines of a plan, with those that stand behind its steps. The lines of a step that is not in sight come last,
    unless they are about plans that are over: these are folded with it."""
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


def way_line(card: PlanCard, width: int) -> Line:
    """The steps that a plan works for, where it does not stand below them."""
    return Line(cut((("  for ", "muted"), (card.works_for, "emphasis")), width))
