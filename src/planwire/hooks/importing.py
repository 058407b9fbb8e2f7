"""Past sessions, recorded in a journal: as the hooks would have recorded them, at the times of the transcript.

A session that the journal has stays as it is, however it was recorded. All events of one are written at once, so that
no reader finds half of it.
"""

from collections.abc import Callable
from typing import Final, NamedTuple

from msgspec.structs import replace

from planwire.errors import Conflict, JournalError, reason
from planwire.hooks.recording import HookedSession, record
from planwire.hooks.transcript_files import PastSession
from planwire.hooks.transcripts import Keep
from planwire.journal import Journal, Once, Stamped
from planwire.journal.thoughts import kept_why
from planwire.model.events import Event, PlanSet, SessionOpened
from planwire.model.records import SessionState
from planwire.session.origin import placed

_KNOWN: Final = "already in the journal"
_EMPTY: Final = "without a plan"


class Imported(NamedTuple):
    """A session that is in the journal now, or would be."""

    session: str
    agent: str
    title: str | None
    folder: str | None
    plans: int
    events: int
    at: int


class Skipped(NamedTuple):
    """A session that was left out, and why; `session` is None if its id is not known."""

    session: str | None
    place: str
    why: str


def import_session(
    journal: Journal | None, past: PastSession, keep: Keep, *, dry: bool = False, here: bool = False
) -> Imported | Skipped:
    """Add a past session to a journal; with `dry`, only find out what that would do. `here`: it was run on this
    machine."""
    if journal is not None and journal.last_seq(past.id):
        return Skipped(past.id, past.place, _KNOWN)
    thoughts = journal if keep.thoughts and not dry else None
    try:
        session, events = _recorded(past, keep, thoughts, placed if here else _unplaced)
    except OSError as error:
        return Skipped(past.id, past.place, f"it can't be read: {reason(error)}")
    if not session.state.plans:
        return Skipped(past.id, past.place, _EMPTY)
    if journal is not None and not dry:
        try:
            journal.append(past.id, events, 0, Once(f"import {past.agent}", 0))
        except Conflict:
            return Skipped(past.id, past.place, _KNOWN)
        except JournalError as error:
            return Skipped(past.id, past.place, str(error))
    opened, plans = session.state.opened, len(session.state.plans)
    title = opened.title if opened else None
    return Imported(past.id, past.agent, title, past.folder, plans, len(events), session.state.at)


def _unplaced(about: SessionOpened) -> SessionOpened:
    """What is known of a session that may come from anywhere."""
    return about


def _recorded(
    past: PastSession, keep: Keep, journal: Journal | None, place: Callable[[SessionOpened], SessionOpened]
) -> tuple[HookedSession, list[Stamped]]:
    """A session as its transcript leaves it, and its events. Its thoughts are put into the journal's store on the
    way."""
    session, events = HookedSession(SessionState(past.id)), list[Stamped]()
    for each in past.read(keep):
        at = max(each.at, session.state.at)
        session, written = record(session, each.heard, past.title, at, place)
        for by, event in written:
            events.append(Stamped(at, by, _with_why(event, past.id, each.thought, journal)))
    return session, events


def _with_why(event: Event, session: str, thought: str, journal: Journal | None) -> Event:
    if journal is None or not thought or not isinstance(event, PlanSet):
        return event
    return replace(event, why=kept_why(journal, session, thought))
