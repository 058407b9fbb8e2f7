"""The kinds of rows that lines of plans are about, and who said what a line shows."""

from typing import Final

from planwire.readmodel.authors import author
from planwire.readmodel.plain_text import ago

__all__ = ["CLOSED", "DRAFT", "FOLD", "MINUTE", "PLAN", "REMARK", "STEP", "TEXT", "ago", "origin"]

MINUTE: Final = 60_000

#: The kinds of rows of a plan: its head, a step, a passage of its text, a remark with rows of its own, or a fold. After
#: the kind come the plan's id, then the id of the step or the remark or the words of the passage, and a number that
#: tells apart several rows of one suggestion, or several passages of the same words. A fold names its first step, or
#: what it holds: the whole plan, or the closed remarks. An unsent comment has a number instead of an id.
CLOSED: Final = "closed"
DRAFT: Final = "draft"
FOLD: Final = "fold"
PLAN: Final = "plan"
REMARK: Final = "remark"
STEP: Final = "step"
TEXT: Final = "text"


def origin(by: str, at: int, now: int) -> str:
    """Who said it, and when."""
    return f"{author(by)}, {ago(at, now)}"
