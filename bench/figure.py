"""What a benchmark yields: numbers with a name, some with a target."""

import operator
from dataclasses import dataclass
from typing import Literal, NamedTuple

__all__ = ["Cell", "Figure", "Target", "at_least", "at_most"]

_COMPARE = {">=": operator.ge, "<=": operator.le}


@dataclass(frozen=True)
class Target:
    """The bound that a figure is held to."""

    sign: Literal[">=", "<="]
    bound: float

    def met_by(self, value: float) -> bool:
        return bool(_COMPARE[self.sign](value, self.bound))

    def __str__(self) -> str:
        return f"{self.sign} {self.bound:g}"


def at_least(bound: float) -> Target:
    return Target(">=", bound)


def at_most(bound: float) -> Target:
    return Target("<=", bound)


class Cell(NamedTuple):
    """Where a figure stands in its benchmark's table, by the titles of its row and its column."""

    row: str
    column: str


@dataclass(frozen=True)
class Figure:
    """One number, under the name that it has in `results.json`. Without a cell it gets a row of its own."""

    name: str
    value: float
    unit: str
    target: Target | None = None
    cell: Cell | None = None

    @property
    def missed(self) -> bool:
        return self.target is not None and not self.target.met_by(self.value)
