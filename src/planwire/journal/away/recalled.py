"""Sessions as this machine last knew them, with what waits here: all that a process started during an outage can
know."""

from time import time_ns

from planwire.journal.away.folder import AwayFolder
from planwire.journal.away.known_here import KnownHere
from planwire.journal.away.last_known import LastKnown
from planwire.journal.away.records import WaitingAppend, read_waiting
from planwire.journal.codec import decode
from planwire.journal.protocol import KnownSession

__all__ = ["RecalledSessions"]


class RecalledSessions:
    """Recalls sessions into what the process knows (`known`). Callers hold the lock of that."""

    def __init__(self, folder: AwayFolder, last_known: LastKnown, known: KnownHere) -> None:
        self._folder = folder
        self._last_known = last_known
        self._known = known
        self._read: tuple[object, dict[str, list[WaitingAppend]]] = ((), {})

    def sessions(self) -> list[KnownSession]:
        """The sessions that were seen on this machine, in the order in which they began."""
        found = {each.id: each for each in self._last_known.sessions()}
        for session, waiting in self._waiting().items():
            kept, times = found.get(session), [at for each in waiting for at, _, _ in each.rows]
            if kept is not None or not waiting[0].base:
                last = max(times) if kept is None else max(*times, kept.last_at)
                first = min(times) if kept is None else kept.first_at
                found[session] = KnownSession(session, kept.last_seq if kept else len(times), first, last)
        return sorted(found.values(), key=lambda each: each.first_at)

    def recall(self, session: str, at: int | None = None) -> None:
        """Add what this machine last knew of a session to what the process knows, unless the process has met it. `at`
        is when the process meets it, in milliseconds, if that was before now."""
        if self._known.last(session) is not None:
            return
        kept, waiting = self._last_known.snapshot(session), self._waiting().get(session, [])
        if kept is not None or (waiting and not waiting[0].base):
            now = time_ns() // 1_000_000 if at is None else at
            ahead = self._known.go_ahead(session, kept.seq if kept else 0, now)
            for each in waiting:
                ahead.add([decode(session, 0, *row) for row in each.rows], each.once)

    def _waiting(self) -> dict[str, list[WaitingAppend]]:
        """What waits, by session. Read for all sessions at once, and again only when something changes."""
        sizes = self._folder.sizes()
        if sizes != self._read[0]:
            self._read = (sizes, self._read_all())
        return self._read[1]

    def _read_all(self) -> dict[str, list[WaitingAppend]]:
        found: dict[str, list[WaitingAppend]] = {}
        for each in self._folder.spool.waiting():
            try:
                waiting = read_waiting(each.body)
            except ValueError:  # delivery will set it aside
                continue
            found.setdefault(waiting.session, []).append(waiting)
        return found
