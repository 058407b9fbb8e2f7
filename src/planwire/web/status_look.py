"""How a step looks: the word for its status, the mark before it, and its own words."""

import re
from typing import Final, NamedTuple

from planwire.model.statuses import CANCELLED, COMPLETED, IN_PROGRESS, PENDING, meaning
from planwire.web.html import Html, el, escaped

__all__ = ["Look", "look", "mark", "wording"]

_CODE: Final = re.compile(r"`([^`\n]{1,200})`")


class Look(NamedTuple):
    """`kind` is the class that the style sheet knows, `word` what is read out."""

    kind: str
    word: str


_LOOKS: Final = {
    PENDING: Look("pending", "to do"),
    IN_PROGRESS: Look("current", "in progress"),
    COMPLETED: Look("done", "done"),
    CANCELLED: Look("cancelled", "cancelled"),
}
_STOPPED: Final = Look("stopped", "stopped")


def look(status: str, stopped: bool = False) -> Look:
    """The look of a status. Work in progress of an agent that works no more has stopped; other words are kept."""
    known = meaning(status)
    if known == IN_PROGRESS and stopped:
        return _STOPPED
    return _LOOKS[known] if known else Look("other", status or "no status")


def mark(status: str, stopped: bool = False) -> Html:
    """The mark before a step, with the word for those who can't see it."""
    shown = look(status, stopped)
    return el("span", el("span", f"{shown.word}: ", class_="unseen"), class_="mark")


def wording(text: str) -> Html:
    """The words of a step, with code as code. Agents write names between backticks, wherever they write."""
    pieces = _CODE.split(text)
    shown = [el("code", piece) if at % 2 else escaped(piece) for at, piece in enumerate(pieces)]
    return Html("".join(shown))
