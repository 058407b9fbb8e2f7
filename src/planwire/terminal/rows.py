"""The rows of plans that lines are about, and whose words a line has."""

from typing import Final

from planwire.readmodel.plain_text import ago, one_line

__all__ = ["MINUTE", "PLAN", "STEP", "SUGGESTION", "ago", "origin"]

MINUTE: Final = 60_000

#: The rows of a plan: its head, a step, or a suggestion that stands alone. The plan's id comes second, then that of
#: the step or the number of the suggestion, and a number that tells several rows of one suggestion apart.
PLAN: Final = "plan"
STEP: Final = "step"
SUGGESTION: Final = "suggestion"


def origin(by: str, at: int, now: int) -> str:
    """Who said it, and when."""
    return f"{one_line(by)}, {ago(at, now)}"
