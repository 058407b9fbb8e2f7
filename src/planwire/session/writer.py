"""Writing to a session that others write to as well: prepare on the newest state, append, and if another writer was
faster, prepare again.

A decision holds for the state that it was made on. So `append_latest` never writes an event that was prepared for an
older state: the journal refuses it, and `prepare` decides again, perhaps to write nothing. `prepare` must have no
effects of its own, since it may be called several times.

What events leave open, above all which step is which, is decided here (`model.decide`), on that same state.
"""

from collections.abc import Callable, Iterable, Sequence
from time import time_ns
from typing import Protocol, TypeVar

from msgspec.structs import replace

from planwire.errors import Conflict
from planwire.journal import Journal, Once, Stamped
from planwire.journal.view import Folded
from planwire.journal.waiting import id_suffix
from planwire.model.authors import name_and_way
from planwire.model.clocks import time_after
from planwire.model.decide import decided
from planwire.model.events import Event, Recorded, SessionOpened, with_way
from planwire.model.fold import fold
from planwire.model.records import SessionState


class _Timed(Folded, Protocol):
    """A state that knows the time of its last event."""

    @property
    def at(self) -> int: ...


_S = TypeVar("_S", bound=_Timed)


def append_latest(
    journal: Journal,
    latest: Callable[[], _S],
    prepare: Callable[[_S], Sequence[Stamped]],
    once: Once | None = None,
) -> tuple[Recorded, ...]:
    """Append the events that `prepare` makes from the newest state, which `latest` returns. Returns the events as they
    were written: none if `prepare` made none. Time never runs backwards in a session (`model.clocks`).

    If the session already has the key `once`, the result is the events that were written with it. The key is looked up
    after `latest` and before `prepare`. Otherwise `prepare` could meet a state with those events and refuse to repeat
    them.
    """
    while True:
        state = latest()
        if once is not None and (written := journal.append(state.id, (), once=once)):
            return written
        events = _in_order(prepare(state), state.at, time_ns() // 1_000_000)
        if isinstance(state, SessionState):
            events = _decided(state, events, id_suffix(journal))
        if not events:
            return ()
        try:
            return journal.append(state.id, events, state.seq, once)
        except Conflict:
            continue


def _decided(state: SessionState, events: Sequence[Stamped], suffix: str = "") -> list[Stamped]:
    """The events with all that their writer decides, each on the state after those before it."""
    ready: list[Stamped] = []
    for each in events:
        if ready:
            state = fold(state, Recorded(state.id, state.seq + 1, ready[-1].at, ready[-1].by, ready[-1].event))
        ready.append(replace(each, event=decided(state, each.event, each.by, suffix)))
    return ready


def append_new(journal: Journal, session: str, events: Sequence[Stamped]) -> tuple[Recorded, ...]:
    """Append the first events of a session. Raises `Conflict` if it already has events."""
    return journal.append(session, events, 0)


def reopening(state: SessionState, events: Sequence[Event], known: SessionOpened | None) -> tuple[SessionOpened, ...]:
    """The opening to write before these events if the session was forgotten while in use: it begins anew with what its
    writer had `known` about it, so that readers know what it is. It inherits neither fork nor remarks."""
    if not events or known is None or state.opened is not None:
        return ()
    return (replace(known, forked=None, remarked=None),)


def stamped(
    events: Iterable[Event], by: str, earliest: int = 0, waits: Callable[[Event], bool] = lambda _: True
) -> list[Stamped]:
    """The events stamped with the current time, but not before `earliest`, and with their author: the name beside them,
    and in people's acts the way. `waits` says which of them may wait."""
    now = time_ns() // 1_000_000
    at = time_after(earliest, now, now)
    name, way = name_and_way(by)
    return [Stamped(at, name, with_way(event, way), waits(event)) for event in events]


def _in_order(events: Sequence[Stamped], before: int, now: int) -> list[Stamped]:
    ordered: list[Stamped] = []
    for each in events:
        before = time_after(before, each.at, now)
        ordered.append(each if each.at == before else replace(each, at=before))
    return ordered


def check_session_id(session: object) -> None:
    """Raise `TypeError` for an id that is not a text, before an engine refuses it in its own words."""
    if not isinstance(session, str):
        raise TypeError(f"a session id must be a text, not {session!r}: use {str(session)!r}")
