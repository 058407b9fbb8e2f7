"""What is shown of a plan, as a value, and what its lines are about."""

from typing import Final, TypeAlias

from msgspec import Struct

from planwire.model.fold import PlanRecord
from planwire.model.plan import PlanId
from planwire.model.steps import PlanState
from planwire.readmodel.plain_text import age, one_line

__all__ = ["MINUTE", "PLAN", "STEP", "WISH", "Card", "Row", "ago", "origin", "plan_row", "step_row", "wish_row"]

MINUTE: Final = 60_000

#: What a line is about: a plan, one of its steps, or a wish for a new one. Its plan's id comes second.
Row: TypeAlias = tuple[object, ...]
PLAN: Final = "plan"
STEP: Final = "step"
WISH: Final = "wish"


class Card(Struct, frozen=True):
    """A plan that is to be shown. `record` is what a journal knows of it, `said` what its author was thinking then,
    `problem` why its file can't be read; `stopped` says that nobody works on it, `client` where people talk to it."""

    state: PlanState
    record: PlanRecord | None = None
    stopped: bool = False
    said: str | None = None
    problem: str | None = None
    uri: str | None = None
    client: str | None = None

    @property
    def id(self) -> PlanId:
        return self.state.plan.id


def plan_row(plan_id: PlanId) -> Row:
    """What the head of a plan is about."""
    return PLAN, plan_id


def step_row(plan_id: PlanId, step: str) -> Row:
    """What the lines of a step are about."""
    return STEP, plan_id, step


def wish_row(plan_id: PlanId, wish: int, number: int) -> Row:
    """What the lines of a wish are about that stands alone. `number` tells several of one wish apart."""
    return WISH, plan_id, wish, number


def ago(then: int, now: int) -> str:
    """When it was, without seconds: they would only fidget."""
    return "just now" if now - then < MINUTE else f"{age(then, now)} ago"


def origin(by: str, at: int, now: int) -> str:
    """Who said it, and when."""
    return f"{one_line(by)}, {ago(at, now)}"
