"""In what condition a thing is that was checked: it works, or it does not, and what to do about it."""

from typing import NamedTuple

from planwire.readmodel.plain_text import one_line

__all__ = ["Condition", "good", "trouble"]


class Condition(NamedTuple):
    """`what` was looked at, whether it works, and what was seen or is to be done. `is_choice`: what is missing is a
    person's own decision, which no command can make for them."""

    what: str
    ok: bool
    words: str
    is_choice: bool = False

    def line(self) -> str:
        """One line for a person."""
        return f"{'ok    ' if self.ok else 'to do '} {one_line(self.what)}: {one_line(self.words)}"


def good(what: str, words: str) -> Condition:
    return Condition(what, True, words)


def trouble(what: str, words: str, *, is_choice: bool = False) -> Condition:
    return Condition(what, False, words, is_choice)
