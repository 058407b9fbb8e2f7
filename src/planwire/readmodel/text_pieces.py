"""The markdown text of a plan in pieces: its steps, and the prose between them, each with its nesting."""

from collections.abc import Iterator
from textwrap import dedent

from msgspec import Struct

from planwire.model.markdown import Checkbox, parse
from planwire.model.text import unwrapped
from planwire.readmodel.card import PlanCard, StepRow

__all__ = ["TextPiece", "text_pieces", "text_without_title"]


class TextPiece(Struct, frozen=True):
    """Some prose. `depth` is 0 outside of lists, and one more than that of the step that it belongs to inside."""

    text: str
    depth: int = 0


def text_without_title(card: PlanCard) -> str:
    """The text of a plan without the heading that is its title, if it begins with that."""
    first, _, rest = card.text.lstrip().partition("\n")
    is_title = first.startswith("#") and unwrapped(first.lstrip("#")) == card.title
    return rest.lstrip("\n") if is_title else card.text


def text_pieces(card: PlanCard) -> Iterator[StepRow | TextPiece]:
    """The text of a plan, in order, with its steps in place of its tasks."""
    text = text_without_title(card)
    by_line = {task.words[0]: (task, row) for task, row in zip(parse(text).tasks, card.rows, strict=True)}
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
            yield here[1]
        elif number >= behind:
            chunk.append(line)
    if chunk:
        yield TextPiece(dedent("\n".join(chunk)), depth)
