"""States folded from a journal, with snapshots: opening a long session costs its live state, not its history.

A snapshot is a cache. One that can't be read, or that was folded by other rules, is as good as none, and one that can't
be kept is done without.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Final, Generic, Protocol, TypeVar

import msgspec

from planwire.errors import JournalUnavailable
from planwire.journal.protocol import Journal
from planwire.model.events import Recorded
from planwire.model.fold import SessionState, fold

__all__ = ["STATE", "View", "catch_up", "load_state", "state_at"]

#: A snapshot is kept whenever this many events more have been folded.
EVENTS_PER_SNAPSHOT: Final = 256


class Folded(Protocol):
    """A state that knows its session, and the number of the last event in it."""

    @property
    def id(self) -> str: ...

    @property
    def seq(self) -> int: ...


_S = TypeVar("_S", bound=Folded)


class View(Generic[_S]):
    """Something that is folded from a session's events, one by one, and kept under a name of its own.

    `kind` is made of what msgspec can write and read again. `rules` counts the versions of `kind` and `fold`: raise it
    whenever either gives another answer than before, and the snapshots that there are will be ignored.
    """

    def __init__(
        self, name: str, kind: type[_S], begin: Callable[[str], _S], fold: Callable[[_S, Recorded], _S], rules: int
    ) -> None:
        self._name = name
        self._begin = begin
        self._fold = fold
        self._rules = rules
        form: type[tuple[int, _S]] = tuple[int, kind]  # type: ignore[valid-type]
        self._decoder = msgspec.msgpack.Decoder(form)

    def load(self, journal: Journal, session: str) -> _S:
        """The state now."""
        return self._advance(journal, self._kept(journal, session) or self._begin(session))

    def catch_up(self, journal: Journal, state: _S) -> _S:
        """The state now, from an earlier one; from the beginning, if the session was forgotten and began anew."""
        if journal.last_seq(state.id) < state.seq:
            return self.load(journal, state.id)
        return self._advance(journal, state)

    def at(self, journal: Journal, session: str, seq: int) -> _S:
        """The state after the event with that number, or after the last one, if there are not as many."""
        kept = self._kept(journal, session)
        state = kept if kept and kept.seq <= seq else self._begin(session)
        for recorded in journal.read(session, state.seq, seq):
            state = self._fold(state, recorded)
        return state

    def _advance(self, journal: Journal, state: _S) -> _S:
        before = state.seq
        for recorded in journal.read(state.id, before):
            state = self._fold(state, recorded)
        if state.seq // EVENTS_PER_SNAPSHOT > before // EVENTS_PER_SNAPSHOT:
            self._keep(journal, state)
        return state

    def _kept(self, journal: Journal, session: str) -> _S | None:
        kept = journal.snapshot(session, self._name)
        if kept is not None:
            with suppress(msgspec.MsgspecError, ValueError, RecursionError):
                rules, state = self._decoder.decode(kept.data)
                if (rules, state.id, state.seq) == (self._rules, session, kept.seq):
                    return state
        return None

    def _keep(self, journal: Journal, state: _S) -> None:
        with suppress(JournalUnavailable, msgspec.MsgspecError, OverflowError, TypeError, ValueError, RecursionError):
            data = msgspec.msgpack.encode((self._rules, state))
            journal.keep_snapshot(state.id, state.seq, data, self._name)


#: What is true of a session's plans: all that `fold` knows.
STATE: Final = View("state", SessionState, SessionState, fold, rules=2)


def load_state(journal: Journal, session: str) -> SessionState:
    """The state of a session now, whether it has one event or a hundred thousand."""
    return STATE.load(journal, session)


def catch_up(journal: Journal, state: SessionState) -> SessionState:
    """The state of a session now, from an earlier state of it."""
    return STATE.catch_up(journal, state)


def state_at(journal: Journal, session: str, seq: int) -> SessionState:
    """The state of a session as it was after its event number `seq`."""
    return STATE.at(journal, session, seq)
