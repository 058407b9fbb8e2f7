"""Journals keep the events of sessions. `with open_journal() as journal:` opens the user's own, in a file.

A URL decides which engine keeps a journal. `follower_of` reports what anyone writes, and a `View` folds it.
"""

from planwire.journal.engines import open_journal
from planwire.journal.follower import Follower, follower_of
from planwire.journal.protocol import (
    Followed,
    Journal,
    JournalFacts,
    KnownLease,
    KnownSession,
    Lease,
    Once,
    Snapshot,
    Stamped,
    Stop,
    StoredAppend,
    StoredEvent,
    Terms,
    Thought,
    Thoughts,
)
from planwire.journal.view import View, catch_up, load_state, read_on, state_at

__all__ = [
    "Followed",
    "Follower",
    "Journal",
    "JournalFacts",
    "KnownLease",
    "KnownSession",
    "Lease",
    "Once",
    "Snapshot",
    "Stamped",
    "Stop",
    "StoredAppend",
    "StoredEvent",
    "Terms",
    "Thought",
    "Thoughts",
    "View",
    "catch_up",
    "follower_of",
    "load_state",
    "open_journal",
    "read_on",
    "state_at",
]
