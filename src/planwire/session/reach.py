"""The reach of people to a session's agent, by whoever holds the session."""

from contextlib import suppress

from planwire.errors import JournalError
from planwire.journal.protocol import Journal
from planwire.steering.reach import NOBODY, Reach, reach_of

__all__ = ["NOBODY", "Reach", "session_reach"]


def session_reach(journal: Journal, session: str) -> Reach:
    """What the agent of a session can be given now. A journal that does not tell reaches nobody."""
    with suppress(JournalError):
        held = [each.terms for each in journal.leases() if each.session == session and each.is_held]
        return reach_of((terms.can, terms.is_working) for terms in held)
    return NOBODY
