"""The result of a check: whether something works, and what to do if it does not."""

from typing import NamedTuple

from planwire.readmodel.plain_text import one_line


class Condition(NamedTuple):
    """`what` was checked, whether it is `ok`, and in `words` what was seen or what to do. `is_choice`: only a person's
    own decision is missing, which no command can make for them."""

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
