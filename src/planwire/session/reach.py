"""The reach of people to a session's agent, by whoever holds the session."""

from contextlib import suppress

from planwire.errors import JournalError
from planwire.journal.protocol import Journal
from planwire.readmodel.states import holds_of
from planwire.steering.reach import NOBODY, Reach

__all__ = ["NOBODY", "Reach", "session_reach"]


def session_reach(journal: Journal, session: str) -> Reach:
    """What the agent of a session can be given now. A journal that does not tell reaches nobody."""
    with suppress(JournalError):
        hold = holds_of(each for each in journal.leases() if each.session == session).get(session)
        return Reach(frozenset(hold.can), hold.is_working) if hold else NOBODY
    return NOBODY
