"""The markdown text of a plan in pieces: its steps, and the prose between them, each with its nesting."""

import re
from collections.abc import Iterator
from textwrap import dedent
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from planwire.model.changes import last_outermost
from planwire.model.markdown import BOX, Checkbox, parse
from planwire.model.text import unwrapped
from planwire.model.titles import plan_title
from planwire.readmodel.card import Ghost, PlanCard, StepRow

__all__ = [
    "TextPiece",
    "is_title",
    "neighbour_of",
    "steps_by_line",
    "text_pieces",
    "text_without_title",
    "without_box",
]

_NUMBER: Final = re.compile(r"\s*(\d+[.)])")
_BOX: Final = re.compile(rf"{BOX}\s*")


class TextPiece(Struct, frozen=True):
    """Some prose. `depth` is 0 outside lists; inside, it is one more than that of the step that it belongs to."""

    text: str
    depth: int = 0


def text_without_title(card: PlanCard) -> str:
    """The text of a plan, without the heading that is its title if it begins with that."""
    first, _, rest = card.text.lstrip().partition("\n")
    return rest.lstrip("\n") if first.startswith("#") and is_title(first.lstrip("#"), card) else card.text


def is_title(heading: str, card: PlanCard) -> bool:
    """Whether a heading is the title of its plan, and all of it: a long one is cut there."""
    return unwrapped(heading) == plan_title(card.state.plan)


def text_pieces(card: PlanCard, *, whole: bool = False) -> Iterator[StepRow | TextPiece]:
    """The text of a plan, in order, with its steps in place of its tasks; the `whole` one, or without its title."""
    text = card.text if whole else text_without_title(card)
    by_line = steps_by_line(text, card)
    chunk: list[str] = []
    inside: list[Checkbox] = []
    depth = behind = 0
    for number, line in enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n")):
        inside = [task for task in inside if number < task.item[1]]
        here = by_line.get(number)
        deep = depth if not line.strip() else inside[-1].depth + 1 if inside else 0
        if chunk and (here or deep != depth):
            yield TextPiece(dedent("\n".join(chunk)), depth)
            chunk = []
        depth = deep
        if here:
            inside.append(here[0])
            behind = here[0].words[1]
            numbered = None if here[1].status else _NUMBER.match(line)
            yield replace(here[1], sign=numbered[1]) if numbered else here[1]
        elif number >= behind:
            chunk.append(line)
    if chunk:
        yield TextPiece(dedent("\n".join(chunk)), depth)


def steps_by_line(text: str, card: PlanCard) -> dict[int, tuple[Checkbox, StepRow]]:
    """The steps in the text of a plan, or in its beginning, by the lines on which their words begin."""
    return {step.words[0]: (step, row) for step, row in zip(parse(text).steps, card.rows, strict=False)}


def without_box(item: str) -> str:
    """The text of a list item after its box."""
    return _BOX.sub("", item, count=1)


def neighbour_of(ghost: Ghost, card: PlanCard) -> StepRow | None:
    """The step of a text that a suggested step follows in the same list; None at the beginning. At the end of the text
    it is the last step on the outermost level with steps: all boxes may be nested in items that are not tasks."""
    if ghost.after is not None:
        return card.row(ghost.after)
    place = last_outermost(card.state.steps)
    return None if place is None else card.rows[place]
