"""What may wait on this machine while the journal's server is away, and what it refers to: a table, a row per event.

A recording may wait, whoever made it: it states what already happened. So may a person's comment and suggestion, which
never conflict with anything. A verdict, an answer, a person's change of a plan, and what is to happen *now* may not:
nobody knows what the plan will be when they arrive, so to accept them would promise too much.
"""

from collections.abc import Callable, Iterable
from enum import Enum
from typing import Any, Final

from msgspec.structs import replace

from planwire.journal.protocol import Stamped
from planwire.journal.waiting import is_waiting
from planwire.model.events import (
    COMMENT,
    SUGGESTION,
    ContextCompacted,
    Event,
    FileSeen,
    Gap,
    MessageAdded,
    MessagePinned,
    PlanChanged,
    PlanRemoved,
    PlanReopened,
    PlanReviewed,
    PlanSet,
    RemarkAnswered,
    RemarkClosed,
    Remarked,
    RemarkReopened,
    ReviewAsked,
    ReviewPending,
    ReviewUndone,
    SessionForked,
    SessionOpened,
    StopAsked,
    TellAsked,
    Told,
    TurnEnded,
    UnknownEvent,
)
from planwire.steering.reviews import VIA


class _Waits(Enum):
    """Whose events of a kind may wait."""

    ANYBODYS = "anybody's"
    RECORDINGS = "those that are not a person's act in planwire"
    NOBODYS = "nobody's"


def _reviewed(event: Event) -> _Waits:
    """A verdict that was given in the agent's own client, so that the agent has it already, is a recording."""
    return _Waits.NOBODYS if isinstance(event, PlanReviewed) and event.via == VIA else _Waits.RECORDINGS


def _remarked(event: Event) -> _Waits:
    is_free = isinstance(event, Remarked) and event.kind in (COMMENT, SUGGESTION)
    return _Waits.ANYBODYS if is_free else _Waits.RECORDINGS


_TABLE: Final[dict[type, _Waits | Callable[[Event], _Waits]]] = {
    SessionOpened: _Waits.RECORDINGS,
    SessionForked: _Waits.RECORDINGS,
    PlanSet: _Waits.RECORDINGS,
    PlanChanged: _Waits.RECORDINGS,
    FileSeen: _Waits.RECORDINGS,
    PlanRemoved: _Waits.RECORDINGS,
    PlanReopened: _Waits.RECORDINGS,
    ReviewAsked: _Waits.RECORDINGS,
    PlanReviewed: _reviewed,
    ReviewPending: _Waits.NOBODYS,
    ReviewUndone: _Waits.NOBODYS,
    Remarked: _remarked,
    RemarkClosed: _Waits.ANYBODYS,
    RemarkAnswered: _Waits.ANYBODYS,
    RemarkReopened: _Waits.ANYBODYS,
    TellAsked: _Waits.NOBODYS,
    StopAsked: _Waits.NOBODYS,
    Told: _Waits.RECORDINGS,
    TurnEnded: _Waits.RECORDINGS,
    MessageAdded: _Waits.RECORDINGS,
    MessagePinned: _Waits.RECORDINGS,
    ContextCompacted: _Waits.RECORDINGS,
    Gap: _Waits.RECORDINGS,
    UnknownEvent: _Waits.RECORDINGS,
}

#: The fields that refer to events by number.
_NUMBERS: Final[dict[type, tuple[str, ...]]] = {
    Told: ("upto", "since"),
    Remarked: ("revision", "review"),
    PlanReviewed: ("revision",),
    ContextCompacted: ("written",),
}


def may_wait(event: Event, *, is_act: bool = False) -> bool:
    """Whether an event may wait. `is_act`: a person did it in planwire."""
    row = _TABLE[type(event)]
    waits = row if isinstance(row, _Waits) else row(event)
    return waits is _Waits.ANYBODYS or (waits is _Waits.RECORDINGS and not is_act)


def can_wait(events: Iterable[Stamped]) -> bool:
    """Whether events may wait, all of them."""
    return all(each.waits and may_wait(each.event) for each in events)


def within(event: Event, base: int) -> Event:
    """An event that refers to no number of an event that waits, but to the last one that its writer had from the
    server: `base`. So what others say meanwhile never counts as told, and at worst the agent is told something again.
    """
    return replace(event, **{each: _clamped(getattr(event, each), base) for each in _NUMBERS.get(type(event), ())})


def _clamped(value: Any, base: int) -> Any:
    match value:
        case int():
            return base if is_waiting(value) else value
        case list() | tuple():
            return type(value)(_clamped(each, base) for each in value)
        case dict():
            return {key: _clamped(each, base) for key, each in value.items()}
    return value
