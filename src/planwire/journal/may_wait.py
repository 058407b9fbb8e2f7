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
from planwire.model import events
from planwire.steering.reviews import VIA


class _Waits(Enum):
    """Whose events of a kind may wait."""

    ANYBODYS = "anybody's"
    RECORDINGS = "those that are not a person's act in planwire"
    NOBODYS = "nobody's"


def _reviewed(event: events.Event) -> _Waits:
    """A verdict that was given in the agent's own client, so that the agent has it already, is a recording."""
    return _Waits.NOBODYS if isinstance(event, events.PlanReviewed) and event.via == VIA else _Waits.RECORDINGS


def _remarked(event: events.Event) -> _Waits:
    is_free = isinstance(event, events.Remarked) and event.kind in (events.COMMENT, events.SUGGESTION)
    return _Waits.ANYBODYS if is_free else _Waits.RECORDINGS


_TABLE: Final[dict[type, _Waits | Callable[[events.Event], _Waits]]] = {
    events.SessionOpened: _Waits.RECORDINGS,
    events.SessionForked: _Waits.RECORDINGS,
    events.PlanSet: _Waits.RECORDINGS,
    events.PlanChanged: _Waits.RECORDINGS,
    events.FileSeen: _Waits.RECORDINGS,
    events.PlanRemoved: _Waits.RECORDINGS,
    events.PlanReopened: _Waits.RECORDINGS,
    events.ReviewAsked: _Waits.RECORDINGS,
    events.PlanReviewed: _reviewed,
    events.ReviewPending: _Waits.NOBODYS,
    events.ReviewUndone: _Waits.NOBODYS,
    events.Remarked: _remarked,
    events.RemarkClosed: _Waits.ANYBODYS,
    events.RemarkAnswered: _Waits.ANYBODYS,
    events.RemarkReopened: _Waits.ANYBODYS,
    events.TellAsked: _Waits.NOBODYS,
    events.StopAsked: _Waits.NOBODYS,
    events.Told: _Waits.RECORDINGS,
    events.TurnEnded: _Waits.RECORDINGS,
    events.MessageAdded: _Waits.RECORDINGS,
    events.MessagePinned: _Waits.RECORDINGS,
    events.ContextCompacted: _Waits.RECORDINGS,
    events.Gap: _Waits.RECORDINGS,
    events.UnknownEvent: _Waits.RECORDINGS,
}

#: The fields that refer to events by number.
_NUMBERS: Final[dict[type, tuple[str, ...]]] = {
    events.Told: ("upto", "since"),
    events.Remarked: ("revision", "review"),
    events.PlanReviewed: ("revision",),
    events.ContextCompacted: ("written",),
}


def may_wait(event: events.Event, *, is_act: bool = False) -> bool:
    """Whether an event may wait. `is_act`: a person did it in planwire."""
    row = _TABLE[type(event)]
    waits = row if isinstance(row, _Waits) else row(event)
    return waits is _Waits.ANYBODYS or (waits is _Waits.RECORDINGS and not is_act)


def can_wait(stamped: Iterable[Stamped]) -> bool:
    """Whether events may wait, all of them."""
    return all(each.waits and may_wait(each.event) for each in stamped)


def within(event: events.Event, base: int) -> events.Event:
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
