"""Errors as the command line prints them after `planwire:`."""

from planwire.errors import PlanError, PlanwireError


def error_words(error: PlanwireError) -> str:
    """An error in one style: without an initial capital, and on a single line without a full stop.

    Refusals of plans are whole sentences, since the board and the terminal show them without a prefix.
    """
    words = str(error)
    if isinstance(error, PlanError):
        words = f"{words[:1].lower()}{words[1:]}"
    return words if "\n" in words else words.removesuffix(".")
