"""A step as people name it on the command line: by its id, its line in `planwire show`, or some of its words."""

from collections.abc import Sequence
from typing import Final

from planwire.errors import InputError, NotFound
from planwire.readmodel.plain_text import one_line

#: The most steps that an error message lists, and the characters of each.
LISTED: Final = 8
TEXT_LENGTH: Final = 60


def choose_step(steps: Sequence[tuple[str, str]], name: str) -> str:
    """The id of the step that `name` means among `steps`, each an id and a text in the order of `planwire show`.

    An id wins over a number, and a number (1 is the first step) over words. Words match anywhere in the text, in any
    case; a step whose whole text matches wins over one that merely contains the words.
    """
    if any(name == step_id for step_id, _ in steps):
        return name
    if name.isascii() and name.isdigit() and 1 <= int(name) <= len(steps):
        return steps[int(name) - 1][0]
    words = one_line(name).casefold()
    texts = [(step_id, text, one_line(text).casefold()) for step_id, text in steps] if words else []
    found = [each for each in texts if words == each[2]] or [each for each in texts if words in each[2]]
    if len(found) == 1:
        return found[0][0]
    if found:
        matches = [(step_id, text) for step_id, text, _ in found]
        raise InputError(f"{len(found)} steps match {name!r}: use more words, or an id\n{_listed(matches)}")
    if not steps:
        raise NotFound(f"no step matches {name!r}: the plan has no steps")
    raise NotFound(f"no step matches {name!r}. The steps are:\n{_listed(steps)}")


def _listed(steps: Sequence[tuple[str, str]]) -> str:
    width = max(len(one_line(step_id)) for step_id, _ in steps[:LISTED])
    lines = [f"  {one_line(step_id):<{width}}  {one_line(text, TEXT_LENGTH)}" for step_id, text in steps[:LISTED]]
    if len(steps) > LISTED:
        lines.append(f"  and {len(steps) - LISTED} more")
    return "\n".join(lines)
