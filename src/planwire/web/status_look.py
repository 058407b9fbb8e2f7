"""The look of a step: the mark before it, and its own words."""

import re
from typing import Final

from planwire.readmodel.card import StepRow
from planwire.web.html import Html, el, escaped, joined

_CODE: Final = re.compile(r"`([^`\n]{1,200})`")
#: The state of a checkbox for each look that is not unchecked, and the looks that a checkbox alone can tell.
_CHECKED: Final = {"done": "true", "current": "mixed", "stopped": "mixed"}
_TOLD_BY_BOX: Final = ("pending", "current", "done")


def mark(row: StepRow) -> Html:
    """The mark before a step that is only shown, with the word for people who can't see it."""
    return el("i", class_="mark", role="img", aria_label=row.word)


def checkbox(row: StepRow, name_id: str, *, usable: bool) -> Html:
    """The mark before a step, as a checkbox that the element `name_id` names. A state that no checkbox has follows it
    in words. An item of a numbered list has none, but can be chosen."""
    if not row.status:
        return el("i", class_="mark listed", aria_hidden="true")
    box = el(
        "i",
        class_="mark",
        role="checkbox",
        aria_checked=_CHECKED.get(row.look, "false"),
        aria_labelledby=name_id,
        aria_disabled=None if usable else "true",
    )
    return box if row.look in _TOLD_BY_BOX else joined(box, el("span", f"{row.word}: ", class_="unseen"))


def wording(text: str) -> Html:
    """The words of a step, with code as code. Agents write names between backticks, wherever they write."""
    pieces = _CODE.split(text)
    shown = [el("code", piece) if at % 2 else escaped(piece) for at, piece in enumerate(pieces)]
    return Html("".join(shown))
