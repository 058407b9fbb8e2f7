"""A journal whose server can be away: this process goes on working, and its records wait on this machine.

While the server answers, every call goes to it, at hardly any extra cost. While it doesn't, appends that may wait are
kept on this machine, and all others raise `EngineAway` (`ahead_writer`). This process can still read what it knows,
which is at least the end of each session it has met (`reading`). A thread looks every second whether the server is
back, and delivers what waits (`delivery`). Until everything is delivered, new appends wait as well, so a session keeps
its order.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from secrets import choice
from threading import Thread
from time import monotonic
from typing import Final, Self
from weakref import ref

from planwire.errors import CannotWait, EngineAway, JournalUnavailable, NotWritable, reason
from planwire.journal.away.ahead_writer import NO_WAITING, AheadWriter
from planwire.journal.away.delivery import AwayFolder
from planwire.journal.away.leases import AwayLeases
from planwire.journal.away.reading import GLANCE, AwayReader
from planwire.journal.away.server import AwayServer
from planwire.journal.checked import Checked, Trouble
from planwire.journal.codec import encode_terms
from planwire.journal.may_wait import can_wait
from planwire.journal.protocol import (
    Followed,
    Journal,
    JournalFacts,
    KnownLease,
    Lease,
    Once,
    Stamped,
    Stop,
    StoredAppend,
    Terms,
    Thoughts,
)
from planwire.journal.waiting import WaitingRecords, is_waiting
from planwire.model.events import Recorded
from planwire.model.records import SessionState

#: What the ends of ids are made of: no letter that looks like another, or like a digit.
_LETTERS: Final = "abcdefghjkmnpqrstuvwxyz23456789"
#: Seconds between two attempts to reach a server that is away.
TRY: Final = 1.0
#: Seconds between two deliveries while the server answers and records wait.
SOON: Final = 0.05
#: The longest that one delivery by the background thread may take, in seconds.
LOOK_PATIENCE: Final = 30.0
#: Seconds that an append which may wait gives a delivery to finish, so that no writer outruns the delivery.
MAKE_WAY: Final = 0.2
#: Seconds that an append which may not wait gives a delivery to finish, before it is refused.
PATIENCE: Final = 2.0
#: Seconds between two writes of the last known states, for processes that start while the server is away.
KEEP: Final = 5.0

_log = logging.getLogger("planwire")


class AwayJournal(AwayReader):
    """A `Journal` around one that a server keeps. Appends wait in `folder`. Until the server has been reached once, it
    is not known where the journal's thoughts are kept, so what is recorded until then has none."""

    def __init__(self, open_engine: Callable[[], Journal], folder: Path, patience: float | None = None) -> None:
        kept = AwayFolder(folder)
        super().__init__(AwayServer(open_engine, kept, in_haste=patience is not None), kept)
        self._leases = AwayLeases(self._server.ask)
        self._ahead = AheadWriter(self._server, kept, self._known, self._lock)
        self._written_at = monotonic()
        self._clear_until = 0.0
        self._suffix = "".join(choice(_LETTERS) for _ in range(5))
        thread = Thread(target=_tend_on, args=(ref(self), self._server), name="planwire-away", daemon=True)
        try:
            self._server.begin(patience, thread.start)
        except BaseException:
            self._server.closing.set()
            raise
        if not self._server.is_away and not self._folder.is_empty():
            self.tend(PATIENCE if patience is None else min(patience, PATIENCE))

    # -- what waits

    @property
    def is_away(self) -> bool:
        """Whether what is appended now would wait."""
        return not self._server.takes_events or bool(self._known.ahead)

    @property
    def id_suffix(self) -> str:
        """The end of the ids that are given while the server is away."""
        return self._suffix if self.is_away else ""

    def waiting(self) -> WaitingRecords:
        """What waits here, and whether the server is away."""
        return self._server.waiting()

    def is_lost(self, session: str, once: Once) -> bool:
        """Whether it is unknown if the server has what was appended with a key and could not wait."""
        return self._ahead.is_lost(session, once)

    @property
    def refusal(self) -> str | None:
        """Why the server refuses the login, if it does."""
        return self._server.refusal

    def note_state(self, state: SessionState) -> None:
        """Remember the newest state of a session, for when the server is away."""
        self._last_known.note(state)

    def tend(self, patience: float = LOOK_PATIENCE) -> bool:
        """Look whether the server is back, and deliver what waits, for at most `patience` seconds. Whether nothing
        waits any more. A thread calls this again and again."""
        if not self._server.deliver(patience):
            return False
        with self._lock:
            self._server.note_back()
            if is_empty := self._folder.is_empty():
                self._known.return_to_server()
        self._leases.settle_all()
        return is_empty

    def _must_queue(self) -> bool:
        """Whether an append must queue: records of this process wait, or the server takes none. The records of other
        processes have no order relative to this one's, so an occasional look at those is enough."""
        if not self._server.takes_events or self._known.ahead:
            return True
        now = monotonic()
        if now < self._clear_until:
            return False
        if not self._folder.is_empty():
            return True
        self._clear_until = now + GLANCE
        return False

    def _is_delivered(self, patience: float) -> bool:
        """Help deliver for about `patience` seconds. Whether nothing waits any more."""
        until = monotonic() + patience
        while self._server.takes_events:
            if self.tend(patience):
                return True
            if monotonic() > until:
                break
            self._server.closing.wait(GLANCE)
        return False

    # -- events

    def append(
        self, session: str, events: Sequence[Stamped], expected_seq: int | None = None, once: Once | None = None
    ) -> tuple[Recorded, ...]:
        if self._must_queue() and not self._is_delivered(MAKE_WAY if can_wait(events) else PATIENCE):
            return self._ahead.append(session, events, expected_seq, once)
        engine = self._server.engine
        if engine is None:
            raise self._server.absence()
        try:
            written = engine.append(session, events, expected_seq, once)
        except EngineAway as error:
            self._server.note_away(error)
            return self._ahead.append(session, events, expected_seq, once, is_lost=not isinstance(error, NotWritable))
        for each in written:
            self._known.note(each, is_new=once is None)
        if expected_seq is not None:  # this writer, at least, goes by the server again
            self._known.resting.pop(session, None)
        return written

    def stored(self, session: str, after: int = 0) -> Iterator[StoredAppend]:
        return self._server.each(self._server.ask(lambda engine: engine.stored(session, after)))

    def store(self, session: str, appends: Sequence[StoredAppend]) -> None:
        self._require_delivered()
        self._server.ask(lambda engine: engine.store(session, appends))

    def last_position(self) -> int:
        return self._server.ask(lambda engine: engine.last_position())

    def facts(self) -> JournalFacts:
        return self._server.ask(lambda engine: engine.facts())

    def troubles(self) -> Iterator[Trouble]:
        """See `checked`."""
        ask = self._server.ask
        return self._server.each(ask(lambda engine: engine.troubles() if isinstance(engine, Checked) else iter(())))

    def follow(
        self,
        after: int | None = None,
        *,
        session: str | None = None,
        stop: Stop | None = None,
        timeout: float | None = None,
    ) -> Iterator[Followed]:
        ask = self._server.ask
        followed = ask(lambda engine: engine.follow(after, session=session, stop=stop, timeout=timeout))
        return self._followed(followed, stop)

    def forget(self, *sessions: str) -> None:
        self._require_delivered()
        self._server.ask(lambda engine: engine.forget(*sessions))
        self._known.forget(*sessions)
        try:
            self._last_known.forget(*sessions)
            self._folder.forget(*sessions)
        except OSError as error:
            where = error.filename or self._folder.path
            raise JournalUnavailable(
                f"the server has forgotten it, but {where} stays on this machine ({reason(error)}): remove that file"
            ) from error

    # -- beside the events

    @property
    def thoughts(self) -> Thoughts:
        if self._server.engine is None:
            raise self._server.absence()
        return self._server.engine.thoughts

    def keep_snapshot(self, session: str, seq: int, data: bytes, name: str = "state") -> None:
        if not is_waiting(seq) and not self._server.is_away:
            self._server.ask(lambda engine: engine.keep_snapshot(session, seq, data, name))

    def lease(self, session: str, terms: Terms = Terms()) -> Lease:
        encode_terms(session, terms)
        return self._leases.lease(session, terms)

    def end_lease(self, known: KnownLease, events: Sequence[Stamped] = (), expected_seq: int | None = None) -> None:
        self._server.ask(lambda engine: engine.end_lease(known, events, expected_seq))

    def close(self) -> None:
        if self._server.closing.is_set():
            return
        try:
            if self._server.answers and not self._folder.is_empty():
                self.tend(PATIENCE)
            self._last_known.write()
        finally:
            self._server.close(PATIENCE)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # -- delivery

    def _require_delivered(self) -> None:
        """Raise `CannotWait` while records wait. Delivered later, they would land in a session that was forgotten, or
        in the middle of one that is being copied."""
        if not self._folder.is_empty() and not self._is_delivered(PATIENCE):
            raise self._server.absence(NO_WAITING, CannotWait)

    def _look(self) -> None:
        is_late = self._server.is_away or monotonic() - self._written_at > KEEP
        if is_late and self._last_known.is_behind:
            self._last_known.write()
            self._written_at = monotonic()
        if self._server.is_away or self._known.ahead or not self._folder.is_empty():
            self.tend()


def _tend_on(journal: "ref[AwayJournal]", server: AwayServer) -> None:
    """Look after a journal until it is closed or garbage-collected."""
    server.try_first()
    wait = SOON if server.is_away and server.engine is not None else TRY
    while not server.closing.wait(wait):
        found = journal()
        if found is None:
            return
        try:
            found._look()
        except Exception:
            if not server.closing.is_set():  # if it is, nothing is wrong: the journal was closed in the middle
                _log.exception("what waits for a journal's server could not be delivered")
        wait = SOON if found._known.ahead and server.takes_events else TRY
        del found
