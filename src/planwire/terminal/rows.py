"""The rows of plans that lines are about, and whose words a line has."""

from typing import Final

from planwire.readmodel.authors import author
from planwire.readmodel.plain_text import ago

__all__ = ["FOLD", "MINUTE", "PLAN", "STEP", "SUGGESTION", "ago", "origin"]

MINUTE: Final = 60_000

#: The rows of a plan: its head, a step, a suggestion that stands alone, or a run of folded steps. The plan's id comes
#: second, then that of the (first) step or the number of the suggestion, and a number that tells several rows of one
#: suggestion apart.
FOLD: Final = "fold"
PLAN: Final = "plan"
STEP: Final = "step"
SUGGESTION: Final = "suggestion"


def origin(by: str, at: int, now: int) -> str:
    """Who said it, and when."""
    return f"{author(by)}, {ago(at, now)}"
