"""What changes in a journal while one looks: moments as they happen, and the sessions as they are by then."""

from collections.abc import Callable, Iterator

from msgspec import Struct

from planwire.journal.protocol import Journal
from planwire.journal.view import load_state, state_at
from planwire.model.fold import SessionState, fold
from planwire.readmodel.history import HistoryEntry, describe
from planwire.readmodel.overview import Overview, overview

__all__ = ["Watched", "Watcher"]


class Watched(Struct, frozen=True):
    """A session that is being watched: as it is, and when its first and its last event happened."""

    state: SessionState
    first_at: int
    last_at: int

    @property
    def overview(self) -> Overview:
        return overview(self.state, self.first_at, self.last_at)


class Watcher:
    """Follows the sessions that are `wanted`, from now on. `sessions` has them, the one that changed last at the end.

    `known` are those to begin with. Any other one is taken in when it changes and turns out to be wanted.
    """

    def __init__(self, journal: Journal, wanted: Callable[[SessionState], bool], known: tuple[str, ...] = ()) -> None:
        self._journal = journal
        self._wanted = wanted
        self._position = journal.last_position()
        self._all: dict[str, Watched] = {}
        times = {session.id: session for session in journal.sessions()}
        for session in known:
            if session in times:
                state = load_state(journal, session)
                self._all[session] = Watched(state, times[session].first_at, times[session].last_at)

    @property
    def sessions(self) -> list[Watched]:
        return [each for each in self._all.values() if self._wanted(each.state)]

    def news(self, timeout: float | None = None) -> Iterator[HistoryEntry]:
        """What happens, until nothing has happened for `timeout` seconds. Call it again to go on."""
        for position, recorded in (
            (each.position, each.recorded) for each in self._journal.follow(self._position, timeout=timeout)
        ):
            self._position = position
            known = self._all.pop(recorded.session, None)
            if known is not None and recorded.seq <= known.state.seq:
                if self._journal.last_seq(recorded.session) >= known.state.seq:  # it was in what we began with
                    self._all[recorded.session] = known
                    continue
                known = None  # it was forgotten, and began anew
            before = known.state if known else state_at(self._journal, recorded.session, recorded.seq - 1)
            after = fold(before, recorded)
            self._all[recorded.session] = Watched(after, known.first_at if known else recorded.at, recorded.at)
            if self._wanted(after):
                yield describe(recorded, before, after)
