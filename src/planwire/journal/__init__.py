"""Journals: where the events of sessions are kept, one file an engine.

A URL decides which: `with open_journal() as journal:` is the user's own, in a file. Engines are imported when they are
opened.
"""

from planwire.journal.engines import open_journal
from planwire.journal.protocol import Followed, Journal, KnownSession, Snapshot, Stamped, Stop
from planwire.journal.view import View, catch_up, load_state, state_at

__all__ = [
    "Followed",
    "Journal",
    "KnownSession",
    "Snapshot",
    "Stamped",
    "Stop",
    "View",
    "catch_up",
    "load_state",
    "open_journal",
    "state_at",
]
