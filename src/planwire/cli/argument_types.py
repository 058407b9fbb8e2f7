"""Numbers as arguments, with an error that says which number a command expects."""

from argparse import ArgumentTypeError
from collections.abc import Callable
from typing import TypeVar

_N = TypeVar("_N", int, float)


def number(expected: str, read: Callable[[str], _N], fits: Callable[[_N], bool]) -> Callable[[str], _N]:
    """A type for argparse: the number that `read` makes of a text, if it `fits`."""

    def parse(text: str) -> _N:
        try:
            value = read(text)
        except ValueError:
            pass
        else:
            if fits(value):
                return value
        raise ArgumentTypeError(f"expected {expected}, found {text!r}")

    return parse


def digits(text: str) -> int:
    """A whole number without a sign, an underscore or a foreign digit."""
    if not (text.isascii() and text.isdigit()):
        raise ValueError(text)
    return int(text)


count = number("a number above 0", digits, lambda value: value > 0)
seconds = number("a number of seconds", float, lambda value: 0 <= value < float("inf"))
revision = number("the number of an event (1, 2, 3 …: see planwire log)", digits, lambda value: value > 0)
