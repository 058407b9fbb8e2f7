"""The rows of plans that lines are about, and whose words a line has."""

from typing import Final

from planwire.readmodel.authors import author
from planwire.readmodel.plain_text import ago

__all__ = ["CLOSED", "DRAFT", "FOLD", "MINUTE", "PLAN", "REMARK", "STEP", "TEXT", "ago", "origin"]

MINUTE: Final = 60_000

#: The rows of a plan: its head, a step, a passage of its text, a remark that stands alone, or a fold. The plan's id
#: comes second, then the id of the step or the remark or the words of the passage, and a number that tells several rows
#: of one suggestion, or several passages of the same words, apart. A fold names its first step, or what it holds: the
#: whole plan, or the remarks that are closed. A comment that is not sent yet has no id, but its number.
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
