"""What people can reach of a session's agent, which depends on the program that holds the session."""

from contextlib import suppress

from planwire.errors import JournalError
from planwire.journal.protocol import Journal
from planwire.readmodel.states import holds_of
from planwire.steering.reach import NOBODY, Reach

__all__ = ["NOBODY", "Reach", "session_reach"]


def session_reach(journal: Journal, session: str) -> Reach:
    """What the agent of a session can be given now; nothing if the journal's leases can't be read."""
    with suppress(JournalError):
        hold = holds_of(each for each in journal.leases() if each.session == session).get(session)
        return Reach(frozenset(hold.can), hold.is_working) if hold else NOBODY
    return NOBODY
