"""The rows of a store as events, checked: none is missing, and each is as it was written."""

from collections.abc import Iterator
from typing import Final

from planwire.errors import DamagedJournal
from planwire.journal.codec import decode
from planwire.journal.protocol import StoredEvent
from planwire.journal.store import SessionEnd, Store, StoredPage
from planwire.model.events import Recorded

_ADVICE: Final = "Nothing was changed: restore a backup, or forget the session"


class EventReader:
    """Reads the events of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def pages(self, end: SessionEnd, after: int, upto: int, *, keys: bool = False) -> Iterator[StoredPage]:
        """Pages of a session, unchecked, ending early if it is forgotten meanwhile."""
        while after < upto:
            page = self._store.read(end, after, upto, keys=keys)
            if not page.events:
                return
            yield page
            after = page.events[-1].seq

    def events(self, end: SessionEnd, after: int, upto: int) -> Iterator[Recorded]:
        """The events of a session after one number up to another."""
        for page in self.pages(end, after, upto):
            for event in page.events:
                after += 1
                if event.seq != after:
                    raise self._damaged(f"event {after} of session {end.session!r} is missing")
                yield self.recorded(end.session, event)
        if after < upto and [each.number for each in self._store.ends(end.session)] == [end.number]:
            raise self._damaged(f"event {after + 1} of session {end.session!r} is missing")

    def recorded(self, session: str, event: StoredEvent) -> Recorded:
        if not event.is_sound:
            raise self._damaged(f"event {event.seq} of session {session!r} is not as it was written")
        return decode(session, event.seq, event.at, event.by, event.text)

    def _damaged(self, why: str) -> DamagedJournal:
        return DamagedJournal(f"the journal {self._store.where} is damaged ({why}). {_ADVICE}")
