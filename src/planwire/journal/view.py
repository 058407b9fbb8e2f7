"""States folded from a journal, with snapshots: opening a long session costs its live state, not its history.

A snapshot is a cache. A view ignores one that it can't read or that other rules made, and does without one that the
journal can't keep.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Final, Generic, Protocol, TypeVar

import msgspec

from planwire.errors import EngineAway, JournalUnavailable
from planwire.journal.protocol import Journal, Snapshot, require_journal
from planwire.journal.waiting import is_away, is_waiting, note_state
from planwire.model.events import Recorded
from planwire.model.fold import fold
from planwire.model.records import SessionState

#: A view keeps a snapshot whenever it has folded this many more events.
EVENTS_PER_SNAPSHOT: Final = 256
#: The errors of a journal that can't keep a snapshot, and of a state that a snapshot can't hold (a huge number, say).
UNKEEPABLE: Final = (JournalUnavailable, msgspec.MsgspecError, OverflowError, TypeError, ValueError, RecursionError)


class Folded(Protocol):
    """Anything folded from a session's events: it knows its session, and the number of the last event in it."""

    @property
    def id(self) -> str: ...

    @property
    def seq(self) -> int: ...


_S = TypeVar("_S", bound=Folded)


def read_on(journal: Journal, folded: _S, begin: Callable[[], _S], take: Callable[[_S, Iterator[Recorded]], _S]) -> _S:
    """Bring anything folded up to date: `take` folds the events after it.

    A session that has fewer events than went into `folded` was forgotten and began anew. Then the fold begins anew,
    too, with what `begin` gives. It does the same once what waited for the journal's server is delivered. If the server
    is away again by then, it goes on as it is: a `take` that changes what it folds reads all events first. Everything
    that keeps up with a session does it here.
    """
    has_waited = is_waiting(folded.seq)
    if journal.last_seq(folded.id) < folded.seq and not (has_waited and is_away(journal)):
        try:
            begun = begin()
            return take(begun, journal.read(folded.id, begun.seq))
        except EngineAway:
            if not has_waited:
                raise
    return take(folded, journal.read(folded.id, folded.seq))


class View(Generic[_S]):
    """A fold of a session's events, one by one. The journal keeps its snapshots under a name of its own.

    msgspec must be able to write and read `kind`. `rules` is the version of `kind` and `fold`: raise it whenever either
    gives another answer than before, and the view ignores older snapshots. `note` gets every state that is the newest.
    """

    def __init__(
        self,
        name: str,
        kind: type[_S],
        begin: Callable[[str], _S],
        fold: Callable[[_S, Recorded], _S],
        rules: int,
        note: Callable[[Journal, _S], None] = lambda *_: None,
    ) -> None:
        self.name = name
        self._note = note
        self._begin = begin
        self._fold = fold
        self._rules = rules
        form: type[tuple[int, _S]] = tuple[int, kind]  # type: ignore[valid-type]
        self._decoder = msgspec.msgpack.Decoder(form)

    def load(self, journal: Journal, session: str) -> _S:
        """The state of a session now, whether it has one event or a hundred thousand."""
        require_journal(journal, f"open_journal({journal!r})")
        begun = self._loaded(journal, session)
        return self._advance(journal, begun, journal.read(session, begun.seq))

    def catch_up(self, journal: Journal, state: _S) -> _S:
        """The state of a session now, from an earlier state of it."""
        return read_on(
            journal,
            state,
            lambda: self._loaded(journal, state.id),
            lambda known, events: self._advance(journal, known, events),
        )

    def at(self, journal: Journal, session: str, seq: int) -> _S:
        """The state after the event with that number, or after the last one if there are fewer."""
        require_journal(journal, f"open_journal({journal!r})")
        kept = self._kept(journal, session)
        state = kept if kept and kept.seq <= seq else self._begin(session)
        for recorded in journal.read(session, state.seq, seq):
            state = self._fold(state, recorded)
        return state

    def written(self, state: _S) -> bytes:
        """A state as a snapshot of this view."""
        return msgspec.msgpack.encode((self._rules, state))

    def read(self, kept: Snapshot, session: str) -> _S | None:
        """The state in a snapshot; None if it is another session's, or other rules made it."""
        state = self.decoded(kept.data)
        return state if state is not None and (state.id, state.seq) == (session, kept.seq) else None

    def decoded(self, data: bytes) -> _S | None:
        """The state that `written` wrote; None if other rules made it."""
        with suppress(msgspec.MsgspecError, ValueError, RecursionError):
            rules, state = self._decoder.decode(data)
            return state if rules == self._rules else None
        return None

    def _loaded(self, journal: Journal, session: str) -> _S:
        return self._kept(journal, session) or self._begin(session)

    def _advance(self, journal: Journal, state: _S, events: Iterator[Recorded]) -> _S:
        before = state.seq
        for recorded in events:
            state = self._fold(state, recorded)
        if state.seq // EVENTS_PER_SNAPSHOT > before // EVENTS_PER_SNAPSHOT:
            self._keep(journal, state)
        self._note(journal, state)
        return state

    def _kept(self, journal: Journal, session: str) -> _S | None:
        kept = journal.snapshot(session, self.name)
        return self.read(kept, session) if kept is not None else None

    def _keep(self, journal: Journal, state: _S) -> None:
        with suppress(*UNKEEPABLE):
            journal.keep_snapshot(state.id, state.seq, self.written(state), self.name)


#: All that `fold` knows of a session's plans.
STATE: Final = View("state", SessionState, SessionState, fold, rules=13, note=note_state)

load_state = STATE.load
catch_up = STATE.catch_up
state_at = STATE.at
