"""Bringing the catalogue of a journal up to date: its rows, and the words of each session (`journal.catalogue_file`).

No event announces that a session was forgotten. So for each answer the positions of the last events of all sessions are
asked for. A session without one was forgotten; one with another position than its row has more events, or was begun
anew: it goes on from its row if the journal still has the link that the row ends with. After a backup was restored, a
position may belong to another event. Then the latest row ends with a link that its session does not have, and all rows
are compared with the journal by their links.

Any number of processes do this at once. Each writes for a fraction of a second at a time; so several that make a
catalogue share the work.
"""

from collections.abc import Iterator
from contextlib import suppress
from math import inf
from time import monotonic, time_ns
from typing import Final

from msgspec.structs import replace

from planwire.errors import JournalError, JournalUnavailable
from planwire.journal import Journal, state_at
from planwire.journal.catalogue_file import CatalogueError, CatalogueFile, CatalogueRow, catalogue_path
from planwire.journal.view import STATE
from planwire.model.clocks import is_plausible
from planwire.model.event_words import Word, words_of
from planwire.model.fold import fold
from planwire.model.records import SessionState
from planwire.readmodel.catalogue import Heard, decode_entry, encode_entry, entry_of, troubled, unheard
from planwire.readmodel.dated import dated

#: The version of the rows and words. Another one, or other rules of folding, make older files useless.
VERSION: Final = 1_000 + STATE.rules
#: Seconds for which one process writes before another one has its turn.
TURN: Final = 0.2
#: Sessions to take in from which on a person is told how far that is.
MANY: Final = 200


def rows_of(journal: Journal, heard: Heard, until: float) -> Iterator[bytes]:
    """The entries of the sessions that the journal has now, the latest first."""
    with CatalogueFile(catalogue_path(journal), VERSION) as file:
        while True:
            try:
                rows = _CatchUp(journal, file, heard, until).rows()
                break
            except CatalogueError as error:
                file.recover(error)
    now = time_ns() // 1_000_000
    known = [row if is_plausible(row.last_at, now) else _dated(journal, row, now) for row in rows]
    return (row.data for row in sorted(known, key=lambda row: row.last_at, reverse=True))


def _dated(journal: Journal, row: CatalogueRow, now: int) -> CatalogueRow:
    """A row with times that the reader's clock can believe."""
    entry = decode_entry(row.data)
    known = dated(journal, entry.glance.known, now)
    glance = replace(entry.glance, first_at=known.first_at, last_at=known.last_at)
    return row._replace(last_at=known.last_at, data=encode_entry(replace(entry, glance=glance)))


def scrub_catalogue(journal: Journal) -> None:
    """Remove what the journal forgot from its catalogue, if it has one, without a trace. If that fails, the next answer
    does it."""
    with suppress(JournalError):
        path = catalogue_path(journal)
        if path is not None and path.exists():
            rows_of(journal, unheard, inf)


class _CatchUp:
    """Brings a catalogue up to date."""

    def __init__(self, journal: Journal, file: CatalogueFile, heard: Heard, until: float) -> None:
        self._journal = journal
        self._file = file
        self._heard = heard
        self._until = until
        self._rows = {row.id: row for row in file.rows()}
        self._last = journal.last_positions()

    def rows(self) -> list[CatalogueRow]:
        """The rows of the sessions that the journal has now, in the order in which they began."""
        gone = self._rows.keys() - self._last.keys()
        if not self._is_continued():
            links = {each.id: each.link for each in self._journal.sessions()}
            rows = (self._rows[each] for each, last in self._last.items() if self._has(each, last))
            gone |= {each.id for each in rows if each.link != links.get(each.id)}
        if gone:
            with self._file.writing():
                self._file.remove(gone)
            for each in gone:
                self._rows.pop(each, None)
        self._take_in([each for each, last in self._last.items() if not self._has(each, last)])
        self._file.scrub()
        return [self._rows[each] for each in self._last if each in self._rows]

    def _is_continued(self) -> bool:
        """Whether the journal still is what the rows were made of."""
        latest = max(self._rows.values(), key=lambda row: row.position, default=None)
        if latest is None or not latest.position:  # there are no rows, or none of a session that can be read
            return True
        return latest.link is not None and latest.link == self._link(latest.id, latest.seq)

    def _has(self, session: str, last: int) -> bool:
        row = self._rows.get(session)
        return row is not None and row.position == last

    def _take_in(self, stale: list[str]) -> None:
        """Take in sessions, the latest first, as long as there is time."""
        stale.sort(key=lambda session: self._last[session])
        count = len(stale)
        while stale and monotonic() < self._until:
            with self._file.writing():
                end = monotonic() + TURN
                self._refresh(stale.pop())
                while stale and monotonic() < end:
                    self._refresh(stale.pop())
            if count > MANY:
                self._heard(count - len(stale), count)

    def _refresh(self, session: str) -> None:
        """Take in what a session has now, unless another process has been faster."""
        before = next(iter(self._file.rows(session)), None)
        if before is not None and before.position == self._last[session]:
            self._rows[session] = before
            return
        self._rows.pop(session, None)
        is_proven = before is not None and before.link is not None and before.link == self._link(session, before.seq)
        row = before if is_proven else None
        words: dict[tuple[object, ...], Word] = {}
        try:
            made = self._made(session, row, words)
        except JournalUnavailable:
            raise
        except JournalError as error:
            row, words = None, {}
            made = CatalogueRow(session, 0, 0, 0, None, encode_entry(troubled(session, error)))
        if made is None:
            return
        self._rows[session] = made
        if before is None or made[:-1] != before[:-1]:
            if row is not before:
                self._file.remove((session,))
            self._file.put(made, words.values())

    def _made(
        self, session: str, row: CatalogueRow | None, words: dict[tuple[object, ...], Word]
    ) -> CatalogueRow | None:
        """The row of a session now, and the words that it has beyond those of an earlier row; None if it was forgotten
        just now."""
        state = state_at(self._journal, session, row.seq) if row else SessionState(session)
        first_at = decode_entry(row.data).glance.first_at if row else None
        last_at = row.last_at if row else 0
        for recorded in self._journal.read(session, state.seq):
            state = fold(state, recorded)
            first_at, last_at = recorded.at if first_at is None else first_at, recorded.at
            for word in words_of(recorded):
                words.setdefault(word[:-1], word)
        if first_at is None:
            return None
        data = encode_entry(entry_of(state, first_at, last_at))
        return CatalogueRow(session, self._last[session], state.seq, last_at, self._link(session, state.seq), data)

    def _link(self, session: str, seq: int) -> bytes | None:
        """The link of an event in the chain of its session; None if there is no such event."""
        appends = self._journal.stored(session, seq - 1) if seq else ()
        return next((event.link for append in appends for event in append.events if event.seq == seq), None)
