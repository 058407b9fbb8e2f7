"""Writing to a session that others write to as well: prepare on the newest state, append, and if another writer was
faster, prepare again.

A decision holds for the state that it was made on. So `append_latest` never sends an event that was prepared for an
older state: the journal refuses it, and `prepare` decides anew, which may mean not to write at all. Preparing must
have no effects of its own, since it may happen several times.
"""

from collections.abc import Callable, Iterable, Sequence
from time import time_ns
from typing import Protocol, TypeVar

from msgspec.structs import replace

from planwire.errors import Conflict
from planwire.journal import Journal, Once, Stamped
from planwire.journal.view import Folded
from planwire.model.events import Event, Recorded, SessionOpened
from planwire.model.records import SessionState

__all__ = ["append_latest", "append_new", "check_session_id", "reopening", "stamped"]


class _Timed(Folded, Protocol):
    """A state that knows the latest time of its events."""

    @property
    def at(self) -> int: ...


_S = TypeVar("_S", bound=_Timed)


def append_latest(
    journal: Journal,
    latest: Callable[[], _S],
    prepare: Callable[[_S], Sequence[Stamped]],
    once: Once | None = None,
) -> tuple[Recorded, ...]:
    """Append what `prepare` makes of the newest state, which `latest` gives. Returns the events as they were written:
    none if `prepare` made none. Time never runs backwards in a session, whatever the clocks of its writers say.

    If the session has the key `once`, these are the events that were written with it. `append_latest` asks for the key
    before it prepares, and behind `latest`: so no `prepare` meets a state that has those events, and refuses to repeat
    them.
    """
    while True:
        state = latest()
        if once is not None and (written := journal.append(state.id, (), once=once)):
            return written
        events = _in_order(prepare(state), state.at)
        if not events:
            return ()
        try:
            return journal.append(state.id, events, state.seq, once)
        except Conflict:
            continue


def append_new(journal: Journal, session: str, events: Sequence[Stamped]) -> tuple[Recorded, ...]:
    """Append the first events of a session. One that has events already stays as it is: `Conflict`."""
    return journal.append(session, events, 0)


def reopening(state: SessionState, events: Sequence[Event], known: SessionOpened | None) -> tuple[SessionOpened, ...]:
    """What has to come before some events, so that everybody knows whose they are: a session that was forgotten while
    somebody worked in it begins anew with what that writer had `known` of it. Its past is none of the new one's."""
    if not events or known is None or state.opened is not None:
        return ()
    return (replace(known, forked=None, remarked=None),)


def stamped(events: Iterable[Event], by: str, earliest: int = 0) -> list[Stamped]:
    """Events that happen now, but not before `earliest`."""
    now = max(time_ns() // 1_000_000, earliest)
    return [Stamped(now, by, event) for event in events]


def _in_order(events: Sequence[Stamped], earliest: int) -> list[Stamped]:
    ordered: list[Stamped] = []
    for each in events:
        earliest = max(each.at, earliest)
        ordered.append(each if each.at == earliest else replace(each, at=earliest))
    return ordered


def check_session_id(session: object) -> None:
    """Refuse what is no text before any engine does, in its own words."""
    if not isinstance(session, str):
        raise TypeError(f"the id of a session is a text, and {session!r} is none: use {str(session)!r}")
