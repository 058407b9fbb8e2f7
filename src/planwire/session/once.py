"""Notes of acts that are about to be written, so that an act that is sent twice is written once, even if the process
ends between the writing and the answer.

An act and its note can't be written together. So the note comes first and says where the act is going to stand: the
act was written if, and only if, it stands there.
"""

from typing import Final, NamedTuple

import msgspec

from planwire.journal import Journal

__all__ = ["Place", "note", "noted"]

#: The name of the notes among the snapshots of a session.
_SNAPSHOT: Final = "acts"
#: The newest notes that a session keeps: a person sends an act again at once, or never.
MOST: Final = 64


class Place(NamedTuple):
    """The number and the time that the event of an act gets."""

    seq: int
    at: int


def note(journal: Journal, session: str, key: str, place: Place) -> None:
    """Note where the act with a key is going to stand."""
    notes = _notes(journal, session)
    notes.pop(key, None)
    kept = dict([*notes.items(), (key, place)][-MOST:])
    journal.keep_snapshot(session, place.seq - 1, msgspec.json.encode(kept), _SNAPSHOT)


def noted(journal: Journal, session: str, key: str) -> Place | None:
    """Where the act with a key was going to stand; None if it never came so far."""
    return _notes(journal, session).get(key)


def _notes(journal: Journal, session: str) -> dict[str, Place]:
    kept = journal.snapshot(session, _SNAPSHOT)
    try:
        return msgspec.json.decode(kept.data, type=dict[str, Place]) if kept else {}
    except msgspec.MsgspecError:
        return {}  # a snapshot is a cache: one that can't be read is none
