"""Journals: where the events of sessions are kept, one file an engine.

A URL decides which: `with open_journal() as journal:` is the user's own, in a file. Engines are imported when they are
opened.
"""

from planwire.journal.protocol import Followed, Journal, KnownSession, Snapshot, Stamped, Stop
from planwire.journal.state import View, catch_up, load_state, state_at
from planwire.journal.urls import open_journal

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
