"""Checks whether a journal is as it was written: recomputes every session's chain of hashes, and asks the engine.

A link that does not fit shows a change, a hole or a swap (`chain`). The chain does not show that its end was cut off,
or that a whole session is gone. To find that, keep a `JournalNote` of where each session ended in some other place. A
session of the note that is no longer in the journal was either forgotten or lost: planwire can't tell, so it lists the
session and reports no damage. Thoughts lie beside the journal, and are not checked.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Final, Literal

import msgspec
from msgspec import Struct

from planwire.errors import DamagedJournal
from planwire.journal.chain import NO_LINK, link
from planwire.journal.checked import Checked, Trouble
from planwire.journal.codec import decode
from planwire.journal.format import FORMAT
from planwire.journal.protocol import Journal, StoredEvent

#: The most problems of a session that are named; the others are only counted.
_MOST: Final = 20
#: What else may be the reason: a session that is forgotten while its agent works begins anew under its name.
_ANEW: Final = "or the session was forgotten and begun anew"


class NotedEnd(Struct, frozen=True):
    """Where a session ended: the number of its last event, and its link."""

    seq: int
    link: str


class JournalNote(Struct, frozen=True):
    """Where all sessions of a journal ended at some time."""

    ends: dict[str, NotedEnd]
    kind: Literal["planwire.note"] = "planwire.note"
    format: int = FORMAT


class SessionCheck(Struct):
    """What was found in a session: how many events it has, where it ends, and what is wrong."""

    session: str
    events: int = 0
    end: NotedEnd | None = None
    troubles: list[Trouble] = msgspec.field(default_factory=list)
    unnamed: int = 0
    wrong: int | None = None  # the last event that something is wrong with

    def add(self, words: str, seq: int | None = None) -> None:
        self.wrong = seq
        if len(self.troubles) < _MOST:
            self.troubles.append(Trouble(words, self.session, seq))
        else:
            self.unnamed += 1

    def add_missing(self, first: int, last: int) -> None:
        events, are = (f"event {first}", "is") if first == last else (f"events {first} to {last}", "are")
        self.add(f"{events} of session {self.session!r} {are} missing", first)


class Verified(Struct):
    """What was found in a journal: its sessions, what the engine said, and which sessions of a note are gone."""

    sessions: list[SessionCheck]
    engine: list[Trouble]
    gone: list[str]

    @property
    def troubles(self) -> list[Trouble]:
        """All that is wrong, each event once."""
        found = [trouble for each in self.sessions for trouble in each.troubles]
        named = {(each.session, each.seq) for each in found}
        return found + [each for each in self.engine if each.seq is None or (each.session, each.seq) not in named]

    def note(self) -> JournalNote:
        return JournalNote({each.session: each.end for each in self.sessions if each.end})


def verify(
    journal: Journal,
    sessions: Iterable[str] | None = None,
    note: JournalNote | None = None,
    heard: Callable[[SessionCheck], None] = lambda _: None,
) -> Verified:
    """Check some sessions, or all of them and the engine's storage. `heard` gets a session's progress now and then."""
    known = [each.id for each in journal.sessions()]
    chosen = known if sessions is None else list(sessions)
    noted = note.ends if note else {}
    checks = [check_session(journal, session, noted.get(session), heard) for session in chosen]
    engine = list(_engine_troubles(journal)) if sessions is None else []
    gone = [session for session in noted if session not in known] if sessions is None else []
    return Verified(checks, engine, gone)


def check_session(
    journal: Journal,
    session: str,
    noted: NotedEnd | None = None,
    heard: Callable[[SessionCheck], None] = lambda _: None,
) -> SessionCheck:
    """Follow the chain of a session, a page of events at a time."""
    check = SessionCheck(session)
    before: StoredEvent | None = None
    here = 0
    try:
        here = journal.last_seq(session)
        for append in journal.stored(session):
            for event in append.events:
                _check_event(check, before, event, noted)
                before = event
            heard(check)
    except DamagedJournal as error:
        check.add(str(error))
    if before is not None:
        check.end = NotedEnd(before.seq, (before.link or NO_LINK).hex())
    last = before.seq if before else 0
    if not check.troubles and last < here <= journal.last_seq(session):  # it was not forgotten meanwhile
        check.add_missing(last + 1, here)
    if noted is not None and last < noted.seq and not check.troubles:
        cut = f"ends with event {last}, but had {noted.seq} events when the note was made"
        check.add(f"session {session!r} {cut}: its end is missing, {_ANEW}")
    return check


def _check_event(check: SessionCheck, before: StoredEvent | None, event: StoredEvent, noted: NotedEnd | None) -> None:
    session, seq = check.session, event.seq
    check.events += 1
    expected = before.seq + 1 if before else 1
    is_next = seq == expected
    if seq < expected:
        check.add(f"event {seq} of session {session!r} is there twice, or after a later one", seq)
    elif not is_next:
        check.add_missing(expected, seq - 1)
    fits = link((before.link if before else None) or NO_LINK, session, seq, event.at, event.by, event.text)
    if is_next and event.link not in (None, fits):
        check.add(f"event {seq} of session {session!r} was changed or swapped: its link does not fit", seq)
    if not event.is_sound and check.wrong != seq:
        check.add(f"event {seq} of session {session!r} is not as it was written", seq)
    if noted is not None and seq == noted.seq and (event.link or NO_LINK).hex() != noted.link:
        other = f"event {seq} of session {session!r} is not the one that was there when the note was made"
        check.add(f"{other}: it was changed, {_ANEW}", seq)
    try:
        decode(session, seq, event.at, event.by, event.text)
    except DamagedJournal as error:
        check.add(str(error), seq)
    if event.link is None and check.wrong != seq:
        check.add(f"event {seq} of session {session!r} has no link: another program wrote or changed it", seq)


def _engine_troubles(journal: Journal) -> Iterator[Trouble]:
    if isinstance(journal, Checked):
        try:
            yield from journal.troubles()
        except DamagedJournal as error:
            yield Trouble(str(error))
